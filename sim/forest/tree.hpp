// One tree as arrays in breadth-first order: the children of the k-th node that splits are nodes 2k+1 and 2k+2, so that
// no index needs to be stored and no array can describe a loop. Leaves keep the training rows that fell into them:
// means and quantiles both come from those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace noteg::forest {

inline constexpr std::uint16_t no_feature = 0xffff;

using CategorySet = std::array<std::uint64_t, 4>;  // bit b: category b goes left

struct TreeNode {
  std::uint16_t feature = no_feature;  // no_feature: a leaf
  std::uint8_t bin = 0;                // a number goes left where its bin is not above this one
  bool missing_left = false;
  std::int32_t set = -1;  // of a category: index into sets; -1 for numbers

  [[nodiscard]] bool is_leaf() const { return feature == no_feature; }
};

struct Tree {
  std::vector<TreeNode> nodes;
  std::vector<CategorySet> sets;
  std::vector<std::uint32_t> leaf_begin;  // per leaf in order of nodes, and the end of the last: into rows
  std::vector<std::uint32_t> rows;        // training rows, as often as they were drawn; ascending in a leaf
  std::vector<float> values;              // per leaf and target: weighted mean of the standardised targets

  [[nodiscard]] std::size_t leaves() const { return leaf_begin.size() - 1; }
};

[[nodiscard]] inline bool goes_left(const TreeNode& node, const std::vector<CategorySet>& sets, std::uint8_t bin) {
  if (bin == 255) return node.missing_left;
  if (node.set < 0) return bin <= node.bin;
  const CategorySet& set = sets[static_cast<std::size_t>(node.set)];
  return ((set[bin >> 6] >> (bin & 63)) & 1) != 0;
}

// Per node: the first child, 0 for a leaf.
[[nodiscard]] inline std::vector<std::uint32_t> first_children(const Tree& tree) {
  std::vector<std::uint32_t> children(tree.nodes.size(), 0);
  std::uint32_t splits = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (!tree.nodes[i].is_leaf()) children[i] = 2 * splits++ + 1;
  return children;
}

// Per node: which leaf it is, counted in order of nodes; -1 where it splits.
[[nodiscard]] inline std::vector<std::int32_t> leaf_numbers(const Tree& tree) {
  std::vector<std::int32_t> numbers(tree.nodes.size(), -1);
  std::int32_t leaves = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].is_leaf()) numbers[i] = leaves++;
  return numbers;
}

}  // namespace noteg::forest
