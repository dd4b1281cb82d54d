// A data set in memory: columns with a name, a unit, a meaning and a group; numbers or texts from a dictionary.
// Knows nothing of GPUs, kernels or files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"
#include "sim/support/text_rows.hpp"

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
  [[nodiscard]] bool is_blank(std::size_t row) const;     // text(row) is
};

struct Table {
  std::string file;  // as shown in errors
  std::size_t rows = 0;
  std::vector<Values> columns;
  std::vector<int> lines;  // of each row in its file; empty where it has none

  [[nodiscard]] const Values* find(std::string_view name) const;
  [[nodiscard]] int line(std::size_t row) const { return row < lines.size() ? lines[row] : 0; }
};

// Columns that are asked for in about the order in which they lie: a search begins behind what was found last.
class ColumnsInOrder {
 public:
  explicit ColumnsInOrder(const Table& table) : table_(table) {}
  [[nodiscard]] const Values* find(std::string_view name);

 private:
  const Table& table_;
  std::size_t next_ = 0;
};

// The rows named, in that order.
[[nodiscard]] Table select(const Table& table, const std::vector<std::size_t>& rows);

// A header and every row, texts quoted where needed.
[[nodiscard]] std::string to_csv(const Table& table);

// Several data sets as one table, one below the other.

// Columns in the order of the first table; at least one table. Errors: columns that another table lacks or has more of,
// numbers in one and texts in another.
[[nodiscard]] Result<Table> join(const std::vector<Table>& tables);

// What is known about a column of this name; nothing: group other.
using KnownColumns = std::function<std::optional<Column>(std::string_view name)>;

// Fields of a file as texts, and how they become columns of numbers and words.
struct Cells {
  std::vector<std::string> names;
  TextRows rows;
  std::vector<int> lines;         // parallel to rows; empty: the file has no lines
  std::vector<Column> described;  // by the file itself
};

[[nodiscard]] Result<Table> table_of(const std::string& file, const Cells& cells, const KnownColumns& known);

// A data set from a file: CSV (also gzipped), or the table `rows` of an SQLite file. Columns take their group from the
// file's own table `columns(name, unit, meaning, grp)` where it has one, otherwise from the names that are known.
// A column is a number where most of its fields are; true and false are 1 and 0; a blank field is absent.
// Errors, each with its place: missing or damaged file, no rows, a text among numbers, NaN or an infinity, a `rows`
// that is no table (a view may have no end), bytes that are no text in UTF-8, more fields than TextRows hold.
[[nodiscard]] Result<Table> read_table(const std::string& path, const KnownColumns& known);

// The tables `rows` and `columns` of an SQLite data set. The file is opened for reading only.
// Errors: not readable, damaged, no table `rows`, a `columns` row with an unknown group.
[[nodiscard]] Result<Cells> sqlite_cells(const std::string& path);

}  // namespace noteg::dataset
