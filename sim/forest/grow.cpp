#include "sim/forest/grow.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace noteg::forest {
namespace {

struct Range {
  std::uint32_t begin = 0, end = 0, depth = 0;
};

template <int N>
class Grower {
 public:
  using Finder = SplitFinder<N>;
  using Cell = typename Finder::Cell;
  using Targets = Eigen::Array<float, N, 1>;

  Grower(const GrowthData& data, const GrowthOptions& options, std::uint64_t seed, std::uint64_t stream)
      : data_(data),
        options_(options),
        random_(seed, stream),
        finder_(data.columns, data.features, data.distinct, data.targets, options.split),
        draws_(draw_rows(data.columns.rows, options.sample, random_)) {
    grown_.importance.assign(data.features.size(), 0);
    for (std::uint32_t row = 0; row < draws_.size(); ++row)
      if (draws_[row] > 0) rows_.push_back(row);
    scratch_.resize(rows_.size());
    cells_.resize(rows_.size());
  }

  Grown run() {
    open_.push_back({0, static_cast<std::uint32_t>(rows_.size()), 0});
    for (std::size_t i = 0; i < open_.size(); ++i) grow(open_[i]);
    tree().leaf_begin.push_back(static_cast<std::uint32_t>(tree().rows.size()));
    fill_values(tree(), data_, options_.split.monotone);
    return std::move(grown_);
  }

 private:
  Tree& tree() { return grown_.tree; }

  void grow(Range range) {
    Split split;
    const bool may_split = range.end - range.begin >= options_.min_split_rows && range.depth < options_.max_depth;
    if (may_split && centre(range))
      split = finder_.find({rows_.data() + range.begin, range.end - range.begin},
                           {cells_.data(), range.end - range.begin}, random_);
    if (split.gain <= 0) {
      make_leaf(range);
      return;
    }
    if (split.node.set >= 0) {
      split.node.set = static_cast<std::int32_t>(tree().sets.size());
      tree().sets.push_back(split.set);
    }
    grown_.importance[split.node.feature] += static_cast<double>(split.gain);
    tree().nodes.push_back(split.node);
    const std::uint32_t middle = partition(range, split.node);
    open_.push_back({range.begin, middle, range.depth + 1});
    open_.push_back({middle, range.end, range.depth + 1});
  }

  // The node's targets without their mean, times the weights. False where they do not differ.
  bool centre(const Range& range) {
    const std::uint32_t count = range.end - range.begin;
    std::array<double, N> sum{};
    double weight = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t row = rows_[range.begin + i];
      const double w = draws_[row] * data_.weights[row];
      const float* const targets = data_.y.data() + std::size_t{row} * N;
      Cell& cell = cells_[i];
      cell.template head<N>() = Eigen::Map<const Targets>(targets);
      cell.template tail<4>() = Eigen::Array4f(static_cast<float>(w), 1, 0, 0);
      for (std::size_t k = 0; k < N; ++k) sum[k] += w * static_cast<double>(targets[k]);
      weight += w;
    }
    Targets mean;
    for (std::size_t k = 0; k < N; ++k) mean[static_cast<Eigen::Index>(k)] = static_cast<float>(sum[k] / weight);
    Targets spread = Targets::Zero();
    for (std::uint32_t i = 0; i < count; ++i) {
      auto targets = cells_[i].template head<N>();
      targets -= mean;
      spread = spread.max(targets.abs());
      targets *= cells_[i][Finder::weight];
    }
    return spread.maxCoeff() > 1e-6F;  // standardised targets in single precision: below, they are the same
  }

  // Rows that go left first, each side in its order before.
  std::uint32_t partition(const Range& range, const TreeNode& node) {
    const std::uint8_t* column = data_.columns.column(node.feature);
    std::uint32_t left = range.begin, right = 0;
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
      const std::uint32_t row = rows_[i];
      const bool goes = goes_left(node, tree().sets, column[row]);
      rows_[left] = row;
      scratch_[right] = row;
      left += goes ? 1 : 0;
      right += goes ? 0 : 1;
    }
    std::copy_n(scratch_.begin(), right, rows_.begin() + left);
    return left;
  }

  void make_leaf(const Range& range) {
    tree().nodes.push_back({});
    tree().leaf_begin.push_back(static_cast<std::uint32_t>(tree().rows.size()));
    for (std::uint32_t i = range.begin; i < range.end; ++i)
      tree().rows.insert(tree().rows.end(), draws_[rows_[i]], rows_[i]);
  }

  const GrowthData& data_;
  const GrowthOptions& options_;
  Random random_;
  Finder finder_;
  std::vector<std::uint16_t> draws_;
  std::vector<std::uint32_t> rows_, scratch_;
  std::vector<Cell> cells_;
  std::vector<Range> open_;  // nodes in order; those not reached yet are to be split
  Grown grown_;
};

struct Bounds {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

// Mean of the target over the rows of each node, leaves first.
std::vector<double> node_means(const Tree& tree, const GrowthData& data, std::size_t target) {
  const std::vector<std::uint32_t> children = first_children(tree);
  const std::vector<std::int32_t> leaves = leaf_numbers(tree);
  std::vector<double> sums(tree.nodes.size()), weights(tree.nodes.size());
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    if (leaves[i] < 0) {
      sums[i] = sums[children[i]] + sums[children[i] + 1];
      weights[i] = weights[children[i]] + weights[children[i] + 1];
      continue;
    }
    const auto leaf = static_cast<std::size_t>(leaves[i]);
    for (std::uint32_t r = tree.leaf_begin[leaf]; r < tree.leaf_begin[leaf + 1]; ++r) {
      const std::uint32_t row = tree.rows[r];
      sums[i] += data.weights[row] * static_cast<double>(data.y[row * data.stride + target]);
      weights[i] += data.weights[row];
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= weights[i];
  return sums;
}

void keep_direction(Tree& tree, const GrowthData& data, const std::vector<Monotone>& monotone, std::size_t target) {
  const std::vector<double> means = node_means(tree, data, target);
  const std::vector<std::uint32_t> children = first_children(tree);
  const std::vector<std::int32_t> leaves = leaf_numbers(tree);
  std::vector<Bounds> bounds(tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Bounds here = bounds[i];
    if (leaves[i] >= 0) {
      float& value = tree.values[static_cast<std::size_t>(leaves[i]) * data.targets + target];
      value = std::clamp(value, here.low, here.high);
      continue;
    }
    Bounds left = here, right = here;
    const auto middle =
        std::clamp(static_cast<float>(0.5 * (means[children[i]] + means[children[i] + 1])), here.low, here.high);
    for (const Monotone& rule : monotone) {
      if (rule.target != target || rule.feature != tree.nodes[i].feature) continue;
      (rule.direction > 0 ? left : right).high = middle;
      (rule.direction > 0 ? right : left).low = middle;
    }
    bounds[children[i]] = left;
    bounds[children[i] + 1] = right;
  }
}

}  // namespace

std::vector<std::uint16_t> draw_rows(std::size_t rows, Sample sample, Random& random) {
  std::vector<std::uint16_t> draws(rows, sample == Sample::bootstrap ? 0 : 1);
  const auto any = [&] { return random.below(static_cast<std::uint32_t>(rows)); };
  switch (sample) {
    case Sample::bootstrap:
      for (std::size_t i = 0; i < rows; ++i) ++draws[any()];
      break;
    case Sample::all_but_tenth:
      for (std::size_t left_out = 0; left_out < rows / 10;) {
        std::uint16_t& draw = draws[any()];
        left_out += draw;
        draw = 0;
      }
      break;
    case Sample::all: break;
  }
  return draws;
}

void fill_values(Tree& tree, const GrowthData& data, const std::vector<Monotone>& monotone) {
  tree.values.assign(tree.leaves() * data.targets, 0);
  std::vector<double> sums(data.targets);
  for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    std::ranges::fill(sums, 0.0);
    double weight = 0;
    for (std::uint32_t r = tree.leaf_begin[leaf]; r < tree.leaf_begin[leaf + 1]; ++r) {
      const std::uint32_t row = tree.rows[r];
      weight += data.weights[row];
      for (std::size_t t = 0; t < data.targets; ++t)
        sums[t] += data.weights[row] * static_cast<double>(data.y[row * data.stride + t]);
    }
    for (std::size_t t = 0; t < data.targets; ++t)
      tree.values[leaf * data.targets + t] = static_cast<float>(sums[t] / weight);
  }
  if (monotone.empty()) return;
  for (std::size_t target = 0; target < data.targets; ++target) keep_direction(tree, data, monotone, target);
}

Grown grow_tree(const GrowthData& data, const GrowthOptions& options, std::uint64_t seed, std::uint64_t stream) {
  if (data.stride == 4) return Grower<4>(data, options, seed, stream).run();
  if (data.stride == 8) return Grower<8>(data, options, seed, stream).run();
  return Grower<16>(data, options, seed, stream).run();
}

}  // namespace noteg::forest
