#include "sim/forest/out_of_bag.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/support/work_sharing.hpp"

namespace noteg::forest {
namespace {

constexpr std::size_t block_rows = 256;

// Trees with what is needed to walk them row by row.
struct Walkable {
  const Tree* tree;
  std::vector<std::uint32_t> children;
  std::vector<std::int32_t> leaves;
};

std::vector<Walkable> walkable(const Forest& forest) {
  std::vector<Walkable> all;
  for (const Tree& tree : forest.trees) all.push_back({&tree, first_children(tree), leaf_numbers(tree)});
  return all;
}

// Bin of a feature in a row; the row to ask for some features may be another one.
struct Rows {
  const BinnedColumns& columns;
  const std::vector<bool>* swapped = nullptr;  // per feature
  const std::vector<std::uint32_t>* places = nullptr;

  [[nodiscard]] std::uint8_t bin(std::size_t feature, std::size_t row) const {
    return columns.column(feature)[swapped != nullptr && (*swapped)[feature] ? (*places)[row] : row];
  }
};

std::size_t leaf_of(const Walkable& w, const Rows& rows, std::size_t row) {
  std::size_t at = 0;
  while (w.leaves[at] < 0) {
    const TreeNode& node = w.tree->nodes[at];
    at = w.children[at] + (goes_left(node, w.tree->sets, rows.bin(node.feature, row)) ? 0 : 1);
  }
  return static_cast<std::size_t>(w.leaves[at]);
}

// Mean of the standardised targets over the trees that did not see the row; false where there is none.
bool mean_of(const std::vector<Walkable>& trees, const Bags& bags, const Rows& rows, std::size_t row,
             std::vector<double>& mean) {
  std::ranges::fill(mean, 0.0);
  double used = 0;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (bags.holds(t, row)) continue;
    const float* values = trees[t].tree->values.data() + leaf_of(trees[t], rows, row) * mean.size();
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += static_cast<double>(values[k]);
    ++used;
  }
  for (double& value : mean) value /= used;
  return used > 0;
}

double mean_error(const Forest& forest, const std::vector<Walkable>& trees, const Bags& bags, const Rows& rows,
                  const std::vector<std::size_t>& asked) {
  double sum = 0, count = 0;
  std::vector<double> mean(forest.targets());
  for (const std::size_t row : asked) {
    if (!mean_of(trees, bags, rows, row, mean)) continue;
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const double miss = mean[k] - static_cast<double>(forest.y[row * mean.size() + k]);
      sum += miss * miss;
    }
    count += static_cast<double>(mean.size());
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

Bags::Bags(const Forest& forest) : drawn_(forest.trees.size(), std::vector<bool>(forest.rows, false)) {
  for (std::size_t t = 0; t < drawn_.size(); ++t)
    for (const std::uint32_t row : forest.trees[t].rows) drawn_[t][row] = true;
}

Eigen::MatrixXd out_of_bag(const Forest& forest, const Eigen::MatrixXd& x, unsigned threads) {
  const BinnedColumns columns = bin_columns(x, forest.features);
  const std::vector<Walkable> trees = walkable(forest);
  const Bags bags(forest);
  Eigen::MatrixXd out(x.rows(), static_cast<Eigen::Index>(forest.targets()));
  const auto rows = static_cast<std::size_t>(x.rows());
  share_work((rows + block_rows - 1) / block_rows, threads, {}, [&](std::size_t block) {
    std::vector<double> mean(forest.targets());
    for (std::size_t row = block * block_rows; row < std::min(rows, (block + 1) * block_rows); ++row) {
      const bool any = mean_of(trees, bags, {columns}, row, mean);
      for (std::size_t k = 0; k < mean.size(); ++k)
        out(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(k)) =
            any ? forest.scales[k].mean + forest.scales[k].deviation * mean[k]
                : std::numeric_limits<double>::quiet_NaN();
    }
  });
  return out;
}

std::vector<double> permutation_importance(const Forest& forest, const Eigen::MatrixXd& x,
                                           const std::vector<std::vector<std::size_t>>& together,
                                           std::size_t sample_rows, std::uint64_t seed, unsigned threads) {
  const BinnedColumns columns = bin_columns(x, forest.features);
  const std::vector<Walkable> trees = walkable(forest);
  const Bags bags(forest);
  std::vector<std::size_t> asked;
  const std::size_t step = std::max<std::size_t>(1, forest.rows / std::max<std::size_t>(1, sample_rows));
  for (std::size_t row = 0; row < forest.rows; row += step) asked.push_back(row);
  const double whole = mean_error(forest, trees, bags, {columns}, asked);
  std::vector<double> growth(together.size(), 0);
  share_work(growth.size(), threads, {}, [&](std::size_t group) {
    std::vector<bool> swapped(forest.features.size(), false);
    bool is_looked_at = false;  // by any tree
    for (const std::size_t feature : together[group]) {
      swapped[feature] = true;
      is_looked_at = is_looked_at || forest.importance[feature] > 0;
    }
    if (!is_looked_at) return;
    std::vector<std::uint32_t> places(forest.rows);
    std::iota(places.begin(), places.end(), 0U);
    Random random(seed, group);
    shuffle(places, random);
    growth[group] = mean_error(forest, trees, bags, {columns, &swapped, &places}, asked) - whole;
  });
  return growth;
}

std::vector<double> permutation_importance(const Forest& forest, const Eigen::MatrixXd& x, std::size_t sample_rows,
                                           std::uint64_t seed, unsigned threads) {
  std::vector<std::vector<std::size_t>> each;
  for (std::size_t feature = 0; feature < forest.features.size(); ++feature) each.push_back({feature});
  return permutation_importance(forest, x, each, sample_rows, seed, threads);
}

}  // namespace noteg::forest
