#include "sim/forest/split.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace noteg::forest {
template <int N>
SplitFinder<N>::SplitFinder(const BinnedColumns& columns, const std::vector<FeatureBins>& features,
                            const std::vector<std::uint32_t>& distinct, std::size_t targets,
                            const SplitOptions& options)
    : columns_(columns),
      features_(features),
      targets_(targets),
      options_(options),
      order_(distinct),
      histogram_(most_bins + 1, Cell::Zero()),
      bins_(columns.rows) {
  for (std::vector<float>& takes : takes_) takes.resize(options.random_cuts ? columns.rows : 0);
}

template <int N>
Split SplitFinder<N>::find(std::span<const std::uint32_t> node, std::span<const Cell> cells, Random& random) {
  total_weight_ = 0;
  for (const Cell& cell : cells) total_weight_ += cell[weight];
  total_rows_ = static_cast<float>(node.size());
  Split best;
  std::size_t tried = 0;
  for (std::uint32_t i = 0; i < order_.size() && tried < options_.features_per_split; ++i) {
    std::swap(order_[i], order_[i + random.below(static_cast<std::uint32_t>(order_.size()) - i)]);
    const std::size_t feature = order_[i];
    const bool category = features_[feature].kind == FeatureKind::category;
    if (options_.random_cuts && !category) {
      tried += draw_cut(feature, node, random) ? 1 : 0;
      if (drawn_count_ == at_once) try_drawn_cuts(cells, best);
      continue;
    }
    const std::uint8_t* column = columns_.column(feature);
    if (is_constant(column, node)) continue;
    ++tried;
    if (category) try_drawn_cuts(cells, best);  // of equal gains the first one is taken
    fill_histogram(column, node, cells);
    category ? try_categories(feature, best) : try_best_cut(feature, best);
  }
  try_drawn_cuts(cells, best);
  return best;
}

template <int N>
bool SplitFinder<N>::is_constant(const std::uint8_t* column, std::span<const std::uint32_t> node) const {
  const std::uint8_t first = column[node.front()];
  return std::ranges::all_of(node, [&](std::uint32_t row) { return column[row] == first; });
}

template <int N>
void SplitFinder<N>::fill_histogram(const std::uint8_t* column, std::span<const std::uint32_t> node,
                                    std::span<const Cell> cells) {
  Cell* const histogram = histogram_.data();
  Bits occupied{};
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::uint8_t bin = column[node[i]];
    histogram[bin] += cells[i];
    occupied[bin >> 6] |= std::uint64_t{1} << (bin & 63);
  }
  occupied_ = occupied;
}

// visit(bin, cell) of each occupied bin in ascending order; the cell is zero afterwards.
template <int N>
template <class Visit>
[[gnu::always_inline]] inline void SplitFinder<N>::empty_histogram(const Visit& visit) {
  for (std::size_t word = 0; word < occupied_.size(); ++word)
    for (std::uint64_t bits = occupied_[word]; bits != 0; bits &= bits - 1) {
      const std::size_t bin = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      visit(static_cast<int>(bin), histogram_[bin]);
      histogram_[bin].setZero();
    }
}

template <int N>
bool SplitFinder<N>::keeps_direction(const Cell& left, std::size_t feature) const {
  const float right_weight = total_weight_ - left[weight];
  return std::ranges::all_of(options_.monotone, [&](const Monotone& rule) {
    if (rule.feature != feature) return true;
    const float sum = left[static_cast<Eigen::Index>(rule.target)];
    const float rise = -sum / right_weight - sum / left[weight];  // mean on the right minus mean on the left
    return rise * static_cast<float>(rule.direction) >= 0;
  });
}

// Of both sides' sums, centred on the node: |L|^2 / wL + |R|^2 / wR with R = -L.
template <int N>
inline float SplitFinder<N>::gain(const Cell& left, std::size_t feature) const {
  const float right_rows = total_rows_ - left[rows], right_weight = total_weight_ - left[weight];
  const auto fewest = static_cast<float>(options_.min_leaf_rows);
  if (std::min(left[rows], right_rows) < fewest || right_weight <= 0 || left[weight] <= 0) return 0;
  if (!options_.monotone.empty() && !keeps_direction(left, feature)) return 0;
  return left.template head<N>().square().sum() * (total_weight_ / (left[weight] * right_weight));
}

template <int N>
void SplitFinder<N>::try_best_cut(std::size_t feature, Split& best) {
  const bool has_missing = (occupied_[3] >> 63) != 0;
  const Cell missing = histogram_[missing_bin];
  Cell left = Cell::Zero();
  int last = -1;
  float most = best.gain;  // here and not in best, which sums might alias
  const auto take = [&](const Cell& side, int cut, bool missing_left) {
    const float found = gain(side, feature);
    if (found <= most) return;
    most = best.gain = found;
    best.node = {static_cast<std::uint16_t>(feature), static_cast<std::uint8_t>(cut), missing_left, -1};
  };
  empty_histogram([&](int bin, const Cell& cell) {
    if (last >= 0) {
      take(left, bin == missing_bin ? last : (last + bin - 1) / 2, has_missing ? false : left_is_larger(left));
      if (has_missing && bin != missing_bin) take(left + missing, (last + bin - 1) / 2, true);
    }
    left += cell;
    last = bin;
  });
}

// The range of the bins. One above the bin, in a byte, is 0 for what is missing.
template <int N>
bool SplitFinder<N>::draw_cut(std::size_t feature, std::span<const std::uint32_t> node, Random& random) {
  const std::uint8_t* column = columns_.column(feature);
  const std::size_t count = node.size();
  for (std::size_t i = 0; i < count; ++i) bins_[i] = column[node[i]];
  std::uint8_t low = 255, above = 0, least = 255;
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = static_cast<std::uint8_t>(bins_[i] + 1);
    low = std::min(low, bins_[i]);
    least = std::min(least, next);
    above = std::max(above, next);
  }
  const bool has_missing = least == 0, only_missing_differs = low + 1 >= above;
  if (only_missing_differs && (!has_missing || above == 0)) return false;  // all alike
  RandomCut& drawn = drawn_[drawn_count_];
  drawn = {feature, low, has_missing, false};
  if (!only_missing_differs) drawn.cut += static_cast<int>(random.below(static_cast<std::uint32_t>(above - 1 - low)));
  drawn.missing_left = has_missing && !only_missing_differs && random.below(2) == 1;
  // What is missing comes below all bins, or stays above them.
  const auto shift = static_cast<std::uint8_t>(drawn.missing_left ? 1 : 0);
  const auto last = static_cast<std::uint8_t>(drawn.cut + shift);
  float* takes = takes_[drawn_count_++].data();
  for (std::size_t i = 0; i < count; ++i)
    takes[i] = static_cast<float>(static_cast<std::uint8_t>(bins_[i] + shift) <= last);
  return true;
}

// Sums on the left of several cuts in one pass and without a jump: which side a row takes cannot be guessed.
template <int N>
void SplitFinder<N>::try_drawn_cuts(std::span<const Cell> cells, Split& best) {
  if (drawn_count_ == 0) return;
  for (std::size_t c = drawn_count_; c < at_once; ++c) std::fill_n(takes_[c].begin(), cells.size(), 0.0F);
  std::array<Cell, at_once> left;
  left.fill(Cell::Zero());
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t c = 0; c < at_once; ++c) left[c] += takes_[c][i] * cells[i];
  for (std::size_t c = 0; c < drawn_count_; ++c) {
    const RandomCut& drawn = drawn_[c];
    const float found = gain(left[c], drawn.feature);
    if (found <= best.gain) continue;
    best.gain = found;
    best.node = {static_cast<std::uint16_t>(drawn.feature), static_cast<std::uint8_t>(drawn.cut),
                 drawn.has_missing ? drawn.missing_left : left_is_larger(left[c]), -1};
  }
  drawn_count_ = 0;
}

// Categories in the order of their means of one target, cut like numbers: for a single target no subset is better.
template <int N>
void SplitFinder<N>::try_categories(std::size_t feature, Split& best) {
  groups_.clear();
  empty_histogram([&](int bin, const Cell& cell) { groups_.push_back({cell, static_cast<std::uint8_t>(bin)}); });
  by_mean_.resize(groups_.size());
  for (std::size_t target = 0; target < targets_; ++target) {
    std::iota(by_mean_.begin(), by_mean_.end(), std::size_t{0});
    std::ranges::stable_sort(by_mean_, {}, [&](std::size_t g) {
      return groups_[g].cell[static_cast<Eigen::Index>(target)] / groups_[g].cell[weight];
    });
    Cell left = Cell::Zero();
    for (std::size_t i = 0; i + 1 < by_mean_.size(); ++i) {
      left += groups_[by_mean_[i]].cell;
      const float found = gain(left, feature);
      if (found <= best.gain) continue;
      best.gain = found;
      const bool absent_left = left_is_larger(left);  // categories that the node does not have
      best.node = {static_cast<std::uint16_t>(feature), 0, absent_left, 0};
      best.set.fill(absent_left ? ~std::uint64_t{0} : 0);
      for (std::size_t g = 0; g < by_mean_.size(); ++g) {
        const std::uint8_t bin = groups_[by_mean_[g]].bin;
        const std::uint64_t bit = std::uint64_t{1} << (bin & 63);
        if (bin == missing_bin) best.node.missing_left = g <= i;
        g <= i ? best.set[bin >> 6] |= bit : best.set[bin >> 6] &= ~bit;
      }
    }
  }
}

template class SplitFinder<4>;
template class SplitFinder<8>;
template class SplitFinder<16>;

}  // namespace noteg::forest
