#include "sim/forest/tree.hpp"

namespace noteg::forest {

std::vector<std::uint32_t> first_children(const Tree& tree) {
  std::vector<std::uint32_t> children(tree.nodes.size(), 0);
  std::uint32_t splits = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (!tree.nodes[i].is_leaf()) children[i] = 2 * splits++ + 1;
  return children;
}

std::vector<std::int32_t> leaf_numbers(const Tree& tree) {
  std::vector<std::int32_t> numbers(tree.nodes.size(), -1);
  std::int32_t leaves = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].is_leaf()) numbers[i] = leaves++;
  return numbers;
}

}  // namespace noteg::forest
