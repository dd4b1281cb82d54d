#include "sim/forest/split.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace noteg::forest {
namespace {

constexpr std::size_t few_rows = 40;  // below, sorting the rows is cheaper than a histogram

}  // namespace

template <int N>
SplitFinder<N>::SplitFinder(const BinnedColumns& columns, const std::vector<FeatureBins>& features,
                            const std::vector<std::uint32_t>& distinct, std::size_t targets,
                            const SplitOptions& options)
    : columns_(columns),
      features_(features),
      targets_(targets),
      options_(options),
      order_(distinct),
      bins_(columns.rows),
      histogram_(most_bins + 1) {
  groups_.reserve(most_bins + 1);
}

template <int N>
Split SplitFinder<N>::find(std::span<const std::uint32_t> rows, std::span<const Cell> cells, Random& random) {
  total_ = {};
  for (const Cell& cell : cells) total_.weight += cell.weight;
  total_.rows = static_cast<std::uint32_t>(rows.size());
  Split best;
  std::size_t tried = 0;
  for (std::uint32_t i = 0; i < order_.size() && tried < options_.features_per_split; ++i) {
    std::swap(order_[i], order_[i + random.below(static_cast<std::uint32_t>(order_.size()) - i)]);
    const std::size_t feature = order_[i];
    const bool category = features_[feature].kind == FeatureKind::category;
    const std::uint8_t* column = columns_.column(feature);
    if (options_.random_cuts && !category) {
      tried += try_random_cut(feature, rows, cells, random, best) ? 1 : 0;
      continue;
    }
    if (is_constant(column, rows)) continue;
    ++tried;
    groups_.clear();
    rows.size() < few_rows ? group_few(column, rows, cells) : group_many(column, rows, cells);
    category ? try_categories(feature, best) : try_best_cut(feature, best);
  }
  return best;
}

template <int N>
bool SplitFinder<N>::is_constant(const std::uint8_t* column, std::span<const std::uint32_t> rows) const {
  const std::uint8_t first = column[rows.front()];
  return std::ranges::all_of(rows, [&](std::uint32_t row) { return column[row] == first; });
}

template <int N>
void SplitFinder<N>::group_few(const std::uint8_t* column, std::span<const std::uint32_t> rows,
                               std::span<const Cell> cells) {
  std::array<std::uint16_t, few_rows> keys{};  // bin, then place in the node
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto key = static_cast<std::uint16_t>((column[rows[i]] << 8) | static_cast<int>(i));
    std::size_t at = i;
    for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
    keys[at] = key;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto bin = static_cast<std::uint8_t>(keys[i] >> 8);
    const Cell& cell = cells[keys[i] & 0xff];
    if (groups_.empty() || groups_.back().bin != bin)
      groups_.push_back({cell, bin});
    else
      groups_.back().cell.add(cell);
  }
}

template <int N>
void SplitFinder<N>::group_many(const std::uint8_t* column, std::span<const std::uint32_t> rows,
                                std::span<const Cell> cells) {
  std::uint8_t low = 255, high = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint8_t bin = column[rows[i]];
    histogram_[bin].add(cells[i]);
    low = std::min(low, bin);
    high = std::max(high, bin);
  }
  for (std::size_t bin = low; bin <= high; ++bin) {
    if (histogram_[bin].rows == 0) continue;
    groups_.push_back({histogram_[bin], static_cast<std::uint8_t>(bin)});
    histogram_[bin] = {};
  }
}

template <int N>
bool SplitFinder<N>::keeps_direction(const Cell& left, std::size_t feature) const {
  const float right_weight = total_.weight - left.weight;
  return std::ranges::all_of(options_.monotone, [&](const Monotone& rule) {
    if (rule.feature != feature) return true;
    const float sum = left.sum[static_cast<Eigen::Index>(rule.target)];
    const float rise = -sum / right_weight - sum / left.weight;  // mean on the right minus mean on the left
    return rise * static_cast<float>(rule.direction) >= 0;
  });
}

// Of both sides' sums, centred on the node: |L|^2 / wL + |R|^2 / wR with R = -L.
template <int N>
float SplitFinder<N>::gain(const Cell& left, std::size_t feature) const {
  const std::uint32_t right_rows = total_.rows - left.rows;
  const float right_weight = total_.weight - left.weight;
  if (std::min(left.rows, right_rows) < options_.min_leaf_rows || right_weight <= 0 || left.weight <= 0) return 0;
  if (!options_.monotone.empty() && !keeps_direction(left, feature)) return 0;
  return left.sum.square().sum() * (total_.weight / (left.weight * right_weight));
}

template <int N>
void SplitFinder<N>::try_best_cut(std::size_t feature, Split& best) {
  const bool has_missing = groups_.back().bin == missing_bin;
  const Cell missing = has_missing ? groups_.back().cell : Cell{};
  Cell left;
  for (std::size_t g = 0; g + 1 < groups_.size(); ++g) {
    left.add(groups_[g].cell);
    const auto take = [&](const Cell& side, bool missing_left) {
      const float found = gain(side, feature);
      if (found <= best.gain) return;
      const std::uint8_t next = groups_[g + 1].bin;
      const int cut = next == missing_bin ? groups_[g].bin : (groups_[g].bin + next - 1) / 2;
      best.gain = found;
      best.node = {static_cast<std::uint16_t>(feature), static_cast<std::uint8_t>(cut), missing_left, -1};
    };
    take(left, has_missing ? false : left_is_larger(left));
    if (!has_missing || g + 2 == groups_.size()) continue;
    Cell with_missing = left;
    with_missing.add(missing);
    take(with_missing, true);
  }
}

// One pass finds the range of the bins, a second one the sums on the left, without a jump in either: which side a row
// takes cannot be guessed. One above the bin, in a byte, is 0 for what is missing.
template <int N>
bool SplitFinder<N>::try_random_cut(std::size_t feature, std::span<const std::uint32_t> rows,
                                    std::span<const Cell> cells, Random& random, Split& best) {
  const std::uint8_t* column = columns_.column(feature);
  std::uint8_t low = 255, above = 0, least = 255;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint8_t bin = column[rows[i]];
    bins_[i] = bin;
    low = std::min(low, bin);
    least = std::min(least, static_cast<std::uint8_t>(bin + 1));
    above = std::max(above, static_cast<std::uint8_t>(bin + 1));
  }
  const bool has_missing = least == 0, only_missing_differs = low + 1 >= above;
  if (only_missing_differs && (!has_missing || above == 0)) return false;  // all alike
  const int cut =
      only_missing_differs ? low : low + static_cast<int>(random.below(static_cast<std::uint32_t>(above - 1 - low)));
  const bool missing_left = has_missing && !only_missing_differs && random.below(2) == 1;
  const std::uint8_t shift = missing_left ? 1 : 0;  // what is missing comes below all bins, or stays above them
  const auto last = static_cast<std::uint8_t>(cut + shift);
  Cell left;
  float left_rows = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto takes = static_cast<float>(static_cast<std::uint8_t>(bins_[i] + shift) <= last);
    left.sum += takes * cells[i].sum;
    left.weight += takes * cells[i].weight;
    left_rows += takes;
  }
  left.rows = static_cast<std::uint32_t>(left_rows);
  const float found = gain(left, feature);
  if (found <= best.gain) return true;
  best.gain = found;
  best.node = {static_cast<std::uint16_t>(feature), static_cast<std::uint8_t>(cut),
               has_missing ? missing_left : left_is_larger(left), -1};
  return true;
}

// Categories in the order of their means of one target, cut like numbers: for a single target no subset is better.
template <int N>
void SplitFinder<N>::try_categories(std::size_t feature, Split& best) {
  by_mean_.resize(groups_.size());
  for (std::size_t target = 0; target < targets_; ++target) {
    std::iota(by_mean_.begin(), by_mean_.end(), std::size_t{0});
    std::ranges::stable_sort(by_mean_, {}, [&](std::size_t g) {
      return groups_[g].cell.sum[static_cast<Eigen::Index>(target)] / groups_[g].cell.weight;
    });
    Cell left;
    for (std::size_t i = 0; i + 1 < by_mean_.size(); ++i) {
      left.add(groups_[by_mean_[i]].cell);
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
