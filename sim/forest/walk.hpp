// Rows going down one tree in step. Nodes are four bytes where the tree and the number of features allow it, eight
// otherwise; either way a node holds the column of the row's bins to look at, the bin above which to turn right, and
// how far ahead the left child lies. A leaf lies 0 ahead of itself and no bin is above its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

inline constexpr std::size_t rows_in_step = 8;

// Bins of row r begin at bins + r * Stride; a Stride known to the compiler keeps all eight rows in registers.
template <int Stride, class Node>
void walk_in_step(const Node* nodes, const std::uint8_t* bins, std::size_t stride, std::uint32_t* leaves) {
  constexpr int steps_between_checks = 3;
  const std::size_t row = Stride > 0 ? static_cast<std::size_t>(Stride) : stride;
  std::array<std::uint32_t, rows_in_step> at{};
  std::uint32_t moving = 1;
  while (moving != 0) {
    for (int step = 0; step < steps_between_checks; ++step)
      for (std::size_t r = 0; r < rows_in_step; ++r) {
        const Node node = nodes[at[r]];
        const std::uint32_t bin = bins[r * row + node.column()];
        at[r] += node.ahead() + (bin > node.bin() ? 1U : 0U);
      }
    moving = 0;
    for (std::size_t r = 0; r < rows_in_step; ++r) moving |= nodes[at[r]].ahead();
  }
  for (std::size_t r = 0; r < rows_in_step; ++r) leaves[r] = at[r];
}

template <class Node>
[[nodiscard]] std::uint32_t walk_one(const Node* nodes, const std::uint8_t* bins) {
  std::uint32_t at = 0;
  while (nodes[at].ahead() != 0) at += nodes[at].ahead() + (bins[nodes[at].column()] > nodes[at].bin() ? 1U : 0U);
  return at;
}

// Where each of the rows ends.
template <int Stride, class Node>
void walk_rows(const Node* nodes, const std::uint8_t* bins, std::size_t stride, std::size_t rows,
               std::uint32_t* leaves) {
  std::size_t first = 0;
  for (; first + rows_in_step <= rows; first += rows_in_step)
    walk_in_step<Stride>(nodes, bins + first * stride, stride, leaves + first);
  for (; first < rows; ++first) leaves[first] = walk_one(nodes, bins + first * stride);
}

}  // namespace noteg::forest
