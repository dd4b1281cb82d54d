// The best cut of one node: over a random choice of features, the bin boundary that takes most of the variance of all
// targets together out of the node. Sums are those of targets centred on the node's mean, so that the other side's
// are the same with the sign turned and single precision is enough.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/forest/bins.hpp"
#include "sim/forest/random.hpp"
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
  // What falls into one bin, or on one side: sums of the targets, then weight and rows, so that whole vector registers
  // are added. Rows count exactly up to most_rows.
  using Cell = Eigen::Array<float, N + 4, 1>;
  static constexpr Eigen::Index weight = N, rows = N + 1;

  // distinct: the features to choose from.
  SplitFinder(const BinnedColumns& columns, const std::vector<FeatureBins>& features,
              const std::vector<std::uint32_t>& distinct, std::size_t targets, const SplitOptions& options);

  // rows: of the node; cells: for each of them the centred targets times the weight. Uses up random numbers.
  [[nodiscard]] Split find(std::span<const std::uint32_t> node, std::span<const Cell> cells, Random& random);

 private:
  using Bits = std::array<std::uint64_t, 4>;  // bit b: a row fell into bin b
  struct Group {
    Cell cell = Cell::Zero();
    std::uint8_t bin = 0;
  };
  struct RandomCut {
    std::size_t feature = 0;
    int cut = 0;
    bool has_missing = false, missing_left = false;
  };
  static constexpr std::size_t at_once = 4;  // random cuts whose sums are made in one pass

  [[nodiscard]] bool is_constant(const std::uint8_t* column, std::span<const std::uint32_t> node) const;
  void fill_histogram(const std::uint8_t* column, std::span<const std::uint32_t> node, std::span<const Cell> cells);
  template <class Visit>
  void empty_histogram(const Visit& visit);
  void try_best_cut(std::size_t feature, Split& best);
  bool draw_cut(  // false: nothing to cut
      std::size_t feature, std::span<const std::uint32_t> node, Random& random);
  void try_drawn_cuts(std::span<const Cell> cells, Split& best);
  void try_categories(std::size_t feature, Split& best);
  [[nodiscard]] float gain(const Cell& left, std::size_t feature) const;
  [[nodiscard]] bool keeps_direction(const Cell& left, std::size_t feature) const;
  [[nodiscard]] bool left_is_larger(const Cell& left) const { return 2 * left[weight] >= total_weight_; }

  const BinnedColumns& columns_;
  const std::vector<FeatureBins>& features_;
  std::size_t targets_;
  const SplitOptions& options_;
  std::vector<std::uint32_t> order_;  // of features, shuffled further at every node
  std::vector<Cell> histogram_;       // per bin; zero outside of a search
  Bits occupied_{};                   // of the last histogram
  std::vector<Group> groups_;         // occupied bins of a category
  std::vector<std::size_t> by_mean_;
  std::vector<std::uint8_t> bins_;                   // of the node's rows, of one feature
  std::array<std::vector<float>, at_once> takes_{};  // per cut and row: 1 where the row goes left, 0 where right
  std::array<RandomCut, at_once> drawn_{};
  std::size_t drawn_count_ = 0;
  float total_weight_ = 0, total_rows_ = 0;
};

extern template class SplitFinder<4>;
extern template class SplitFinder<8>;
extern template class SplitFinder<16>;

}  // namespace noteg::forest
