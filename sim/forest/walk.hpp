// Rows going down one tree in step. Nodes are four bytes where the tree and the number of columns allow it, eight
// otherwise; either way a node holds the column of the row's bytes to look at, the byte above which to turn right, and
// how far ahead the left child lies. A leaf lies 0 ahead of itself and no byte is above its own. Siblings lie side by
// side, three generations in a row, so that a cache line serves three steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace noteg::forest {

inline constexpr std::uint8_t leaf_bin = 255;

struct SmallNode {
  std::uint32_t bits = 0;  // ahead, bin, column: 16, 8, 8

  static constexpr std::uint64_t most_columns = 1 << 8, most_ahead = (1 << 16) - 1;
  static SmallNode make(std::uint64_t column, std::uint64_t bin, std::uint64_t ahead) {
    return {static_cast<std::uint32_t>(ahead << 16 | bin << 8 | column)};
  }
  [[nodiscard]] std::uint32_t column() const { return bits & 0xff; }
  [[nodiscard]] std::uint32_t bin() const { return (bits >> 8) & 0xff; }
  [[nodiscard]] std::uint32_t ahead() const { return bits >> 16; }
};

struct WideNode {
  std::uint64_t bits = 0;  // ahead, bin, column: 32, 16, 16

  static WideNode make(std::uint64_t column, std::uint64_t bin, std::uint64_t ahead) {
    return {ahead << 32 | bin << 16 | column};
  }
  [[nodiscard]] std::uint32_t column() const { return static_cast<std::uint32_t>(bits & 0xffff); }
  [[nodiscard]] std::uint32_t bin() const { return static_cast<std::uint32_t>((bits >> 16) & 0xff); }
  [[nodiscard]] std::uint32_t ahead() const { return static_cast<std::uint32_t>(bits >> 32); }
};

inline constexpr std::size_t in_step = 8;  // walks whose steps overlap

template <class Node>
[[nodiscard]] inline std::size_t step_from(const Node* nodes, std::size_t at, const std::uint8_t* row) {
  const Node node = nodes[at];
  return at + node.ahead() + (row[node.column()] > node.bin() ? 1U : 0U);
}

// Eight walks, each with a tree and a row of its own: `nodes_of(i)` and `row_of(i)`. None ends before `shortest` steps.
template <class NodesOf, class RowOf>
void walk_in_step(const NodesOf& nodes_of, const RowOf& row_of, std::uint32_t shortest, std::uint32_t* ends) {
  std::array<std::size_t, in_step> at{};
  const auto step = [&] {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < in_step; ++i) at[i] = step_from(nodes_of(i), at[i], row_of(i));
  };
  for (std::uint32_t s = 0; s < shortest; ++s) step();
  std::uint32_t moving = 1;
  while (moving != 0) {
    step(), step();
    moving = 0;
    for (std::size_t i = 0; i < in_step; ++i) moving |= nodes_of(i)[at[i]].ahead();
  }
  for (std::size_t i = 0; i < in_step; ++i) ends[i] = static_cast<std::uint32_t>(at[i]);
}

template <class Node>
[[nodiscard]] std::uint32_t walk_one(const Node* nodes, const std::uint8_t* row) {
  std::size_t at = 0;
  while (nodes[at].ahead() != 0) at = step_from(nodes, at, row);
  return static_cast<std::uint32_t>(at);
}

// Where each of the rows ends. Bytes of row r begin at bytes + r * Stride; a Stride known to the compiler keeps all of
// them in registers.
template <int Stride, class Node>
void walk_rows(const Node* nodes, const std::uint8_t* bytes, std::size_t stride, std::size_t rows,
               std::uint32_t shortest, std::uint32_t* ends) {
  const std::size_t apart = Stride > 0 ? static_cast<std::size_t>(Stride) : stride;
  std::size_t first = 0;
  for (; first + in_step <= rows; first += in_step) {
    const std::uint8_t* const from = bytes + first * apart;
    walk_in_step([&](std::size_t) { return nodes; }, [&](std::size_t i) { return from + i * apart; }, shortest,
                 ends + first);
  }
  for (; first < rows; ++first) ends[first] = walk_one(nodes, bytes + first * apart);
}

// Where one row ends in each of the trees.
template <class Node>
void walk_trees(std::span<const Node* const> trees, const std::uint8_t* row, std::uint32_t* ends) {
  std::size_t first = 0;
  for (; first + in_step <= trees.size(); first += in_step)
    walk_in_step([&](std::size_t i) { return trees[first + i]; }, [&](std::size_t) { return row; }, 0, ends + first);
  for (; first < trees.size(); ++first) ends[first] = walk_one(trees[first], row);
}

}  // namespace noteg::forest
