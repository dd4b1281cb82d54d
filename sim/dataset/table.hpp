// A data set in memory: columns with a name, a unit, a meaning and a group; numbers or texts from a dictionary.
// Knows nothing of GPUs, kernels or files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace noteg::dataset {

enum class Group : std::uint8_t {
  config,   // what runs: kernel, shape, clock mode
  arch,     // on what: numbers of the GPU
  physics,  // what follows from both by arithmetic, without a simulation
  counter,  // what a simulation counted
  target,   // what one wants to know
  other,    // notes, measured columns, anything else
};

[[nodiscard]] std::string_view name_of(Group group);
[[nodiscard]] std::optional<Group> group_from(std::string_view text);

struct Column {
  std::string name, unit, meaning;
  Group group = Group::other;
};

// The values of one column. A number that is absent is NaN, a text that is absent has code -1.
struct Values {
  Column column;
  bool is_text = false;
  std::vector<double> numbers;      // of a number column
  std::vector<std::int32_t> codes;  // of a text column: index into words
  std::vector<std::string> words;   // in order of first appearance

  [[nodiscard]] std::string text(std::size_t row) const;  // as one would write it; blank where absent
};

struct Table {
  std::string file;  // as shown in errors
  std::size_t rows = 0;
  std::vector<Values> columns;
  std::vector<int> lines;  // of each row in its file; empty where it has none

  [[nodiscard]] const Values* find(std::string_view name) const;
  [[nodiscard]] int line(std::size_t row) const { return row < lines.size() ? lines[row] : 0; }
};

// The rows named, in that order.
[[nodiscard]] Table select(const Table& table, const std::vector<std::size_t>& rows);

// A header and every row, texts quoted where needed.
[[nodiscard]] std::string to_csv(const Table& table);

}  // namespace noteg::dataset
