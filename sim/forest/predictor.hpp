// A forest laid out for prediction. A value becomes its bin once per row, and a set of categories that trees cut by a
// column of its own, 0 left and 1 right; trees are arrays of small nodes (walk.hpp); trees meet blocks of rows, so that
// both stay in the near caches.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/forest/forest.hpp"
#include "sim/forest/walk.hpp"

namespace noteg::forest {

class Predictor {
 public:
  explicit Predictor(const Forest& forest);  // which must outlive it

  // A row per row of x, a column per target: means over the trees, in units of the targets as trained.
  [[nodiscard]] Eigen::MatrixXd predict(const Eigen::MatrixXd& x, unsigned threads) const;

  // Bins of one row, a byte per feature; then the leaf that it falls into, per tree.
  [[nodiscard]] std::vector<std::uint8_t> bins_of(const Eigen::Ref<const Eigen::RowVectorXd>& x) const;
  [[nodiscard]] std::vector<std::uint32_t> leaves_of(std::span<const std::uint8_t> bins) const;

  // Of the row that falls into these leaves: what predict() says of it.
  [[nodiscard]] Eigen::RowVectorXd mean_of(std::span<const std::uint32_t> leaves) const;

 private:
  // Of a packed row: what a cut sees for each bin of a feature.
  struct Column {
    std::size_t feature = 0;
    std::array<std::uint8_t, 256> seen{};
  };
  struct PackedTree {
    const Tree* tree = nullptr;
    std::vector<SmallNode> small;  // one of the three
    std::vector<WideNode> wide;
    std::vector<std::uint32_t> children;  // where trees cut more sets than columns are good for
    std::vector<std::uint32_t> leaf;      // per node, where it is one
    std::vector<float> values;            // per leaf in order of ranks: the targets, and zeros up to width_
    TopLevels top;
    std::uint32_t usual = 0;  // steps below the top after which a quarter of the rows have ended
    LeafRanks ranks;
  };

  void take_plain_columns();
  std::size_t column_of(const Tree& tree, const TreeNode& node);
  [[nodiscard]] std::vector<std::size_t> find_columns(const Tree& tree);
  [[nodiscard]] PackedTree pack(const Tree& tree, const std::vector<std::size_t>& columns) const;
  // Rows of a block: bytes by row for the walks and by column for the uppermost levels.
  struct Block {
    std::size_t rows = 0, apart = 0;  // apart: bytes from column to column
    std::vector<std::uint8_t> by_row, by_column;
    std::vector<std::uint32_t> list;  // for walk_down()
  };
  [[nodiscard]] Block make_block(const Eigen::MatrixXd& x, Eigen::Index first, std::size_t rows) const;
  [[nodiscard]] std::size_t rank_of(const PackedTree& tree, std::uint32_t place) const;
  void ranks_in(const PackedTree& tree, Block& block, std::uint32_t* ends) const;
  template <int N>
  void predict_block(const Eigen::MatrixXd& x, Eigen::Index first, std::size_t rows, Eigen::MatrixXd& out) const;

  const Forest& forest_;
  std::size_t stride_ = 0;  // bytes of a packed row
  std::size_t width_ = 4;   // values of a leaf, whole vector registers
  bool is_small_ = false;   // nodes of four bytes
  bool is_plain_ = false;   // columns are the features, and trees are walked as they were grown
  std::vector<BinSearch> search_;
  std::map<std::pair<std::uint16_t, CategorySet>, std::size_t> places_;  // of a feature's cuts by what goes left
  std::vector<Column> columns_;
  std::vector<std::size_t> fill_order_;  // of columns, so that those of a feature follow each other
  std::vector<PackedTree> trees_;
  std::vector<const SmallNode*> small_;  // of the trees
  std::vector<const WideNode*> wide_;
};

}  // namespace noteg::forest
