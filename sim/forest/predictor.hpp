// A forest laid out for prediction. A value becomes its bin once per row; trees are arrays of small nodes (walk.hpp);
// trees meet blocks of rows, so that both stay in the near caches.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/forest/bin_search.hpp"
#include "sim/forest/forest.hpp"
#include "sim/forest/walk.hpp"

namespace noteg::forest {

class Predictor {
 public:
  explicit Predictor(const Forest& forest);  // which must outlive it

  // A row per row of x, a column per target: means over the trees, in units of the targets as trained.
  [[nodiscard]] Eigen::MatrixXd predict(const Eigen::MatrixXd& x, unsigned threads) const;

  // Bins of one row as the trees see it; then the leaf that it falls into, per tree.
  [[nodiscard]] std::vector<std::uint8_t> bins_of(const Eigen::Ref<const Eigen::RowVectorXd>& x) const;
  [[nodiscard]] std::vector<std::uint32_t> leaves_of(std::span<const std::uint8_t> bins) const;

 private:
  struct PackedTree {
    std::vector<SmallNode> small;  // one of the two; neither where the tree cuts categories
    std::vector<WideNode> wide;
    std::vector<std::uint32_t> children;
    std::vector<std::uint32_t> leaf;  // per node, where it is one
    std::vector<float> values;        // per leaf: the targets, filled up with zeros to width_
    const Tree* tree = nullptr;
  };

  [[nodiscard]] PackedTree pack(const Tree& tree) const;
  void fill_bins(const Eigen::MatrixXd& x, Eigen::Index first, Eigen::Index rows, std::uint8_t* bins) const;
  void walk(const PackedTree& tree, const std::uint8_t* bins, std::size_t rows, std::uint32_t* nodes) const;
  void walk_categories(const PackedTree& tree, const std::uint8_t* bins, std::size_t rows, std::uint32_t* nodes) const;
  template <int N>
  void predict_block(const Eigen::MatrixXd& x, Eigen::Index first, Eigen::Index rows, Eigen::MatrixXd& out) const;

  const Forest& forest_;
  std::size_t stride_ = 0;  // bytes of a row's bins: all features, then all again with missing as bin 0
  std::size_t width_ = 4;   // values of a leaf, whole vector registers
  std::vector<BinSearch> search_;
  std::vector<PackedTree> trees_;
};

}  // namespace noteg::forest
