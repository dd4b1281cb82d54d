// Rows going down one tree in step. Nodes are four bytes where the tree and the number of columns allow it, eight
// otherwise; either way a node holds the column of the row's bytes to look at, the byte above which to turn right, and
// how far ahead the left child lies. A leaf lies 0 ahead of itself and no byte is above its own. Siblings lie side by
// side, three generations in a row, so that a cache line serves three steps. The uppermost levels are the same for many
// rows: there a vector register compares one column of 16 rows with each cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

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

// Leaves counted in the order in which nodes lie, so that their values lie alike. A leaf's column, which no walk asks
// for, is its number among those of its block.
struct LeafRanks {
  static constexpr std::size_t block = 64;
  std::vector<std::uint32_t> first;  // of each block

  template <class Node>
  [[nodiscard]] std::size_t of(const Node* nodes, std::size_t place) const {
    return first[place / block] + nodes[place].column();
  }
};

inline constexpr std::size_t in_step = 8;  // walks whose steps overlap

template <class Node>
[[nodiscard]] inline std::size_t step_from(const Node* nodes, std::size_t at, const std::uint8_t* row) {
  const Node node = nodes[at];
  return at + node.ahead() + (row[node.column()] > node.bin() ? 1U : 0U);
}

template <class Node>
[[nodiscard]] std::uint32_t walk_one(const Node* nodes, const std::uint8_t* row, std::size_t at = 0) {
  while (nodes[at].ahead() != 0) at = step_from(nodes, at, row);
  return static_cast<std::uint32_t>(at);
}

// The uppermost levels as a complete tree: cut 2^l - 1 + i is the i-th one of level l. Above a leaf no row turns right.
struct TopLevels {
  static constexpr std::size_t levels = 5;
  std::array<std::uint32_t, (1 << levels) - 1> column{};
  std::array<std::uint8_t, (1 << levels) - 1> bin{};
  std::array<std::uint32_t, 1 << levels> ends{};  // nodes below, from left to right
};

inline constexpr std::size_t in_register = 16;  // rows

// columns: a byte per row, a column every `apart` bytes; both a multiple of in_register, as rows is.
inline void walk_top(const TopLevels& top, const std::uint8_t* columns, std::size_t apart, std::size_t rows,
                     std::uint32_t* ends) {
  using Bytes = std::uint8_t __attribute__((vector_size(in_register)));
  for (std::size_t first = 0; first < rows; first += in_register) {
    Bytes state{};
#pragma GCC unroll 5
    for (std::size_t level = 0; level < TopLevels::levels; ++level) {
      const std::size_t count = std::size_t{1} << level;
      Bytes right{};
      for (std::size_t i = 0; i < count; ++i) {
        Bytes values;
        std::memcpy(&values, columns + top.column[count - 1 + i] * apart + first, sizeof values);
        const Bytes cut = Bytes{} + top.bin[count - 1 + i], here = Bytes{} + static_cast<std::uint8_t>(i);
        right |= (Bytes)(values > cut) & (Bytes)(state == here);
      }
      state = state + state - right;  // a comparison that holds is -1
    }
    for (std::size_t r = 0; r < in_register; ++r) ends[first + r] = top.ends[state[r]];
  }
}

// Rows of a block, further down one tree: bytes of row r begin at bytes + r * stride.
struct WalkedRows {
  const std::uint8_t* bytes = nullptr;
  std::size_t stride = 0, count = 0;
  std::uint32_t* ends = nullptr;  // where each row is
};

// `steps` of all rows from where they are. A Stride known to the compiler keeps all of them in registers.
template <int Stride, class Node>
void walk_all(const Node* nodes, const WalkedRows& rows, std::uint32_t steps) {
  const std::size_t apart = Stride > 0 ? static_cast<std::size_t>(Stride) : rows.stride;
  std::size_t first = 0;
  for (; first + in_step <= rows.count; first += in_step) {
    const std::uint8_t* const from = rows.bytes + first * apart;
    std::array<std::size_t, in_step> at{};
    for (std::size_t i = 0; i < in_step; ++i) at[i] = rows.ends[first + i];
    for (std::uint32_t s = 0; s < steps; ++s)
#pragma GCC unroll 8
      for (std::size_t i = 0; i < in_step; ++i) at[i] = step_from(nodes, at[i], from + i * apart);
    for (std::size_t i = 0; i < in_step; ++i) rows.ends[first + i] = static_cast<std::uint32_t>(at[i]);
  }
  for (; first < rows.count; ++first) rows.ends[first] = walk_one(nodes, rows.bytes + first * apart, rows.ends[first]);
}

// Two steps of the rows listed; what is left in the list, and returned as its length, has not ended.
template <class Node>
std::size_t walk_listed(const Node* nodes, const WalkedRows& rows, std::uint32_t* list, std::size_t count) {
  std::size_t first = 0, left = 0;
  for (; first + in_step <= count; first += in_step) {
    std::array<std::size_t, in_step> at{};
    std::array<std::uint32_t, in_step> row{};
    for (std::size_t i = 0; i < in_step; ++i) row[i] = list[first + i], at[i] = rows.ends[row[i]];
    for (int s = 0; s < 2; ++s)
#pragma GCC unroll 8
      for (std::size_t i = 0; i < in_step; ++i) at[i] = step_from(nodes, at[i], rows.bytes + row[i] * rows.stride);
    for (std::size_t i = 0; i < in_step; ++i) {
      rows.ends[row[i]] = static_cast<std::uint32_t>(at[i]);
      list[left] = row[i];
      left += nodes[at[i]].ahead() != 0 ? 1 : 0;
    }
  }
  for (; first < count; ++first)
    rows.ends[list[first]] = walk_one(nodes, rows.bytes + list[first] * rows.stride, rows.ends[list[first]]);
  return left;
}

// All rows to their leaves: `steps` together, then only those that have not ended. list: room for as many numbers.
template <int Stride, class Node>
void walk_down(const Node* nodes, const WalkedRows& rows, std::uint32_t steps, std::uint32_t* list) {
  walk_all<Stride>(nodes, rows, steps);
  std::size_t left = 0;
  for (std::size_t row = 0; row < rows.count; ++row) {
    list[left] = static_cast<std::uint32_t>(row);
    left += nodes[rows.ends[row]].ahead() != 0 ? 1 : 0;
  }
  while (left > 0) left = walk_listed(nodes, rows, list, left);
}

// Where one row ends in each of the trees.
template <class Node>
void walk_trees(std::span<const Node* const> trees, const std::uint8_t* row, std::uint32_t* ends) {
  std::size_t first = 0;
  for (; first + in_step <= trees.size(); first += in_step) {
    std::array<std::size_t, in_step> at{};
    for (std::uint32_t moving = 1; moving != 0;) {
      moving = 0;
      for (int s = 0; s < 2; ++s)
#pragma GCC unroll 8
        for (std::size_t i = 0; i < in_step; ++i) at[i] = step_from(trees[first + i], at[i], row);
      for (std::size_t i = 0; i < in_step; ++i) moving |= trees[first + i][at[i]].ahead();
    }
    for (std::size_t i = 0; i < in_step; ++i) ends[first + i] = static_cast<std::uint32_t>(at[i]);
  }
  for (; first < trees.size(); ++first) ends[first] = walk_one(trees[first], row);
}

}  // namespace noteg::forest
