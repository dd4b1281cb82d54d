// A measured file: CSV with columns found by name, extra columns kept. Several files become one list of rows under the
// union of their columns, so that every input row comes out again, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"
#include "sim/validate/columns.hpp"

namespace noteg::validate {

struct MeasuredRow {
  std::size_t file = 0;             // index into MeasuredData::files
  std::size_t row = 0;              // data row in that file, from 1, header not counted
  std::vector<std::string> fields;  // parallel to MeasuredData::columns; blank where the file has no such column
  int line = 0;                     // of that file, from 1
};

struct MeasuredData {
  std::vector<std::string> files;
  std::vector<std::string> columns;
  std::vector<MeasuredRow> rows;

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

// paths: .csv or .csv.gz files, or folders of which every such file is read in order of name.
// Errors: missing file, not CSV, partial rows, a needed column missing (columns.hpp), a column named twice, one that is
// in the table but for the case of its letters, more than 250,000 rows or ten million fields.
[[nodiscard]] Result<MeasuredData> read_measured(const std::vector<std::string>& paths);

// One row with its columns by name. Blank and "nan" read as absent.
class RowView {
 public:
  RowView(const MeasuredData& data, const MeasuredRow& row) : data_(&data), row_(&row) {}

  [[nodiscard]] std::string_view text(std::string_view column) const;  // "" where absent
  [[nodiscard]] std::string_view text(Column column) const { return text(info(column).name); }

  // Absent: nullopt and nothing reported. Not an integer, or below `low`: reported in problems().
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view column, std::int64_t low);
  [[nodiscard]] std::optional<std::int64_t> integer(Column column, std::int64_t low) {
    return integer(info(column).name, low);
  }
  [[nodiscard]] std::optional<double> positive(std::string_view column);
  [[nodiscard]] std::optional<double> positive(Column column) { return positive(info(column).name); }

  void need(Column column);     // a problem where the column is blank
  void no_such(Column column);  // its value is none of those that the table lists

  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  void problem(std::string text) { problems_.push_back(std::move(text)); }

 private:
  const MeasuredData* data_;
  const MeasuredRow* row_;
  std::vector<std::string> problems_;
};

// The value of key=value in a `notes` column, parts separated by semicolons; nullopt where absent.
[[nodiscard]] std::optional<int> note_value(std::string_view notes, std::string_view key);

}  // namespace noteg::validate
