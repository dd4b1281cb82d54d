#include "sim/forest/predictor.hpp"

#include <algorithm>

#include "sim/forest/parallel.hpp"

namespace noteg::forest {
namespace {

constexpr Eigen::Index block_rows = 4096;  // a tree is fetched once for all of them

// Whole cache lines where rows are short, so that the usual strides are known to the compiler.
std::size_t stride_of(std::size_t columns) {
  for (const std::size_t usual : {64U, 128U, 256U})
    if (columns <= usual) return usual;
  return columns;
}

template <class Node>
std::vector<Node> nodes_of(const Tree& tree, const std::vector<std::uint32_t>& children, std::size_t features) {
  std::vector<Node> nodes;
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& from = tree.nodes[i];
    const std::size_t column = from.feature + (from.missing_left ? features : 0);
    nodes.push_back(from.is_leaf() ? Node::make(0, leaf_bin, 0) : Node::make(column, from.bin, children[i] - i));
  }
  return nodes;
}

}  // namespace

Predictor::Predictor(const Forest& forest)
    : forest_(forest), stride_(stride_of(2 * forest.features.size())), width_(stride_for(forest.targets())) {
  for (const FeatureBins& feature : forest.features) search_.emplace_back(feature);
  for (const Tree& tree : forest.trees) trees_.push_back(pack(tree));
}

Predictor::PackedTree Predictor::pack(const Tree& tree) const {
  PackedTree packed;
  packed.tree = &tree;
  packed.children = first_children(tree);
  packed.leaf.assign(tree.nodes.size(), 0);
  const std::vector<std::int32_t> leaves = leaf_numbers(tree);
  std::uint64_t most_ahead = 0;
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    packed.leaf[i] = static_cast<std::uint32_t>(std::max(0, leaves[i]));
    if (!tree.nodes[i].is_leaf()) most_ahead = std::max<std::uint64_t>(most_ahead, packed.children[i] - i);
  }
  const std::size_t features = forest_.features.size();
  if (tree.sets.empty()) {
    if (2 * features <= SmallNode::most_columns && most_ahead <= SmallNode::most_ahead)
      packed.small = nodes_of<SmallNode>(tree, packed.children, features);
    else
      packed.wide = nodes_of<WideNode>(tree, packed.children, features);
  }
  packed.values.assign(tree.leaves() * width_, 0);
  for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf)
    for (std::size_t t = 0; t < forest_.targets(); ++t)
      packed.values[leaf * width_ + t] = tree.values[leaf * forest_.targets() + t];
  return packed;
}

void Predictor::fill_bins(const Eigen::MatrixXd& x, Eigen::Index first, Eigen::Index rows, std::uint8_t* bins) const {
  const std::size_t features = forest_.features.size();
  for (std::size_t f = 0; f < features; ++f) {
    const double* column = x.col(static_cast<Eigen::Index>(f)).data() + first;
    std::uint8_t* to = bins + f;
    for (Eigen::Index row = 0; row < rows; ++row, to += stride_) {
      const std::uint8_t bin = search_[f].bin_of(column[row]);
      to[0] = bin;
      to[features] = bin == missing_bin ? std::uint8_t{0} : bin;
    }
  }
}

void Predictor::walk_categories(const PackedTree& tree, const std::uint8_t* bins, std::size_t rows,
                                std::uint32_t* nodes) const {
  const std::vector<TreeNode>& all = tree.tree->nodes;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint8_t* const own = bins + row * stride_;
    std::uint32_t at = 0;
    while (!all[at].is_leaf())
      at = tree.children[at] + (goes_left(all[at], tree.tree->sets, own[all[at].feature]) ? 0 : 1);
    nodes[row] = at;
  }
}

void Predictor::walk(const PackedTree& tree, const std::uint8_t* bins, std::size_t rows, std::uint32_t* nodes) const {
  if (!tree.tree->sets.empty()) return walk_categories(tree, bins, rows, nodes);
  if (!tree.wide.empty()) return walk_rows<0>(tree.wide.data(), bins, stride_, rows, nodes);
  switch (stride_) {
    case 64: return walk_rows<64>(tree.small.data(), bins, stride_, rows, nodes);
    case 128: return walk_rows<128>(tree.small.data(), bins, stride_, rows, nodes);
    default: return walk_rows<0>(tree.small.data(), bins, stride_, rows, nodes);
  }
}

template <int N>
void Predictor::predict_block(const Eigen::MatrixXd& x, Eigen::Index first, Eigen::Index rows,
                              Eigen::MatrixXd& out) const {
  using Sums = Eigen::Array<float, N, 1>;
  std::vector<std::uint8_t> bins(static_cast<std::size_t>(rows) * stride_);
  fill_bins(x, first, rows, bins.data());
  std::vector<Sums> sums(static_cast<std::size_t>(rows), Sums::Zero());
  std::vector<std::uint32_t> nodes(static_cast<std::size_t>(rows));
  for (const PackedTree& tree : trees_) {
    walk(tree, bins.data(), static_cast<std::size_t>(rows), nodes.data());
    for (std::size_t row = 0; row < sums.size(); ++row)
      sums[row] += Eigen::Map<const Sums>(tree.values.data() + std::size_t{tree.leaf[nodes[row]]} * N);
  }
  for (std::size_t t = 0; t < forest_.targets(); ++t) {
    const double factor = forest_.scales[t].deviation / static_cast<double>(trees_.size());
    for (Eigen::Index row = 0; row < rows; ++row)
      out(first + row, static_cast<Eigen::Index>(t)) =
          forest_.scales[t].mean +
          factor * static_cast<double>(sums[static_cast<std::size_t>(row)][static_cast<Eigen::Index>(t)]);
  }
}

Eigen::MatrixXd Predictor::predict(const Eigen::MatrixXd& x, unsigned threads) const {
  Eigen::MatrixXd out(x.rows(), static_cast<Eigen::Index>(forest_.targets()));
  const auto blocks = static_cast<std::size_t>((x.rows() + block_rows - 1) / block_rows);
  share(blocks, threads, [&](std::size_t block) {
    const Eigen::Index first = static_cast<Eigen::Index>(block) * block_rows;
    const Eigen::Index rows = std::min(block_rows, x.rows() - first);
    if (width_ == 4)
      predict_block<4>(x, first, rows, out);
    else if (width_ == 8)
      predict_block<8>(x, first, rows, out);
    else
      predict_block<16>(x, first, rows, out);
  });
  return out;
}

std::vector<std::uint8_t> Predictor::bins_of(const Eigen::Ref<const Eigen::RowVectorXd>& x) const {
  std::vector<std::uint8_t> bins(stride_);
  fill_bins(x, 0, 1, bins.data());
  return bins;
}

std::vector<std::uint32_t> Predictor::leaves_of(std::span<const std::uint8_t> bins) const {
  std::vector<std::uint32_t> leaves;
  for (const PackedTree& tree : trees_) {
    std::uint32_t node = 0;
    walk(tree, bins.data(), 1, &node);
    leaves.push_back(tree.leaf[node]);
  }
  return leaves;
}

}  // namespace noteg::forest
