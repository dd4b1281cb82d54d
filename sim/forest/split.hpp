// The best cut of one node: over a random choice of features, the bin boundary that takes most of the variance of all
// targets together out of the node. Sums are those of targets centred on the node's mean, so that the other side's
// are the same with the sign turned and single precision is enough.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/forest/bins.hpp"
#include "sim/forest/parallel.hpp"
#include "sim/forest/tree.hpp"

namespace noteg::forest {

struct SplitOptions {
  std::size_t features_per_split = 1;  // that differ within the node; constant ones do not count
  std::size_t min_leaf_rows = 1;
  bool random_cuts = false;  // one random cut per number feature instead of the best of all: extra-trees
  std::vector<Monotone> monotone;
};

struct Split {
  float gain = 0;  // weighted sum of squares taken out of the node; 0: none found
  TreeNode node;
  CategorySet set{};
};

// N: targets, rounded up to whole vector registers.
template <int N>
class SplitFinder {
 public:
  using Sums = Eigen::Array<float, N, 1>;

  // What falls into one bin, or on one side.
  struct Cell {
    Sums sum = Sums::Zero();
    float weight = 0;
    std::uint32_t rows = 0;

    void add(const Cell& other) {
      sum += other.sum;
      weight += other.weight;
      rows += other.rows;
    }
  };

  // distinct: the features to choose from.
  SplitFinder(const BinnedColumns& columns, const std::vector<FeatureBins>& features,
              const std::vector<std::uint32_t>& distinct, std::size_t targets, const SplitOptions& options);

  // rows: of the node; cells: for each of them the centred targets times the weight. Uses up random numbers.
  [[nodiscard]] Split find(std::span<const std::uint32_t> rows, std::span<const Cell> cells, Random& random);

 private:
  struct Group {
    Cell cell;
    std::uint8_t bin = 0;
  };

  [[nodiscard]] bool is_constant(const std::uint8_t* column, std::span<const std::uint32_t> rows) const;
  void group_few(const std::uint8_t* column, std::span<const std::uint32_t> rows, std::span<const Cell> cells);
  void group_many(const std::uint8_t* column, std::span<const std::uint32_t> rows, std::span<const Cell> cells);
  void try_best_cut(std::size_t feature, Split& best);
  bool try_random_cut(  // false: nothing to cut
      std::size_t feature, std::span<const std::uint32_t> rows, std::span<const Cell> cells, Random& random,
      Split& best);
  void try_categories(std::size_t feature, Split& best);
  [[nodiscard]] float gain(const Cell& left, std::size_t feature) const;
  [[nodiscard]] bool keeps_direction(const Cell& left, std::size_t feature) const;
  [[nodiscard]] bool left_is_larger(const Cell& left) const { return 2 * left.weight >= total_.weight; }

  const BinnedColumns& columns_;
  const std::vector<FeatureBins>& features_;
  std::size_t targets_;
  const SplitOptions& options_;
  std::vector<std::uint32_t> order_;  // of features, shuffled further at every node
  std::vector<std::uint8_t> bins_;    // of the node's rows, of one feature
  std::vector<Cell> histogram_;
  std::vector<Group> groups_;  // occupied bins of one feature in ascending order, missing last
  std::vector<std::size_t> by_mean_;
  Cell total_;
};

extern template class SplitFinder<4>;
extern template class SplitFinder<8>;
extern template class SplitFinder<16>;

}  // namespace noteg::forest
