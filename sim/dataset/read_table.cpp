#include "sim/dataset/table.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string_view>

#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

namespace noteg::dataset {

namespace {

// Only asked of plain files: what is read of a pipe is gone.
bool is_sqlite(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  std::ifstream stream(path, std::ios::binary);
  std::string magic(16, '\0');
  stream.read(magic.data(), 16);
  return stream.gcount() == 16 && magic == std::string("SQLite format 3\0", 16);
}

Result<Cells> csv_cells(const std::string& path) {
  Result<CsvTable> csv = read_csv(path);
  if (!csv) return csv.errors();
  Cells cells;
  cells.names = std::move(csv->columns);
  cells.rows = std::move(csv->rows);
  cells.lines = std::move(csv->lines);
  return cells;
}

}  // namespace

Result<Table> read_table(const std::string& path, const KnownColumns& known) {
  const Result<Cells> cells = is_sqlite(path) ? sqlite_cells(path) : csv_cells(path);
  if (!cells) return cells.errors();
  if (cells->rows.empty()) return Diagnostic{path, 0, 0, "", "at least one row", "none"};
  return table_of(path, *cells, known);
}

namespace {

constexpr std::size_t most_errors = 20;

std::optional<double> number_in(std::string_view text) {
  if (text == "true") return 1.0;
  if (text == "false") return 0.0;
  return parse_number(text);
}

bool is_not_finite(std::string_view text) {
  constexpr std::size_t longest = 9;  // -infinity
  if (text.size() > longest) return false;
  std::string lower = to_lower(std::string(text));
  if (lower.starts_with('-') || lower.starts_with('+')) lower.erase(0, 1);
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

// Decides between numbers and words by the majority of the fields that are not blank.
class ColumnReader {
 public:
  ColumnReader(const std::string& file, const Cells& cells, std::size_t column, Diagnostics& errors)
      : file_(file), cells_(cells), column_(column), errors_(errors) {}

  Values read(Column description) {
    std::size_t numbers = 0, filled = 0;
    for (std::size_t row = 0; row < cells_.rows.size(); ++row) {
      const std::string_view text = cells_.rows.at(row, column_);
      if (text.empty()) continue;
      ++filled;
      numbers += number_in(text) || is_not_finite(text) ? 1 : 0;
    }
    values_.column = std::move(description);
    values_.is_text = 2 * numbers < filled || (numbers < filled && values_.column.group == Group::other);
    for (std::size_t row = 0; row < cells_.rows.size(); ++row) take(row, cells_.rows.at(row, column_));
    return std::move(values_);
  }

 private:
  void take(std::size_t row, std::string_view text) {
    if (values_.is_text) {
      values_.codes.push_back(text.empty() ? -1 : code_of(text));
      return;
    }
    const std::optional<double> number = number_in(text);
    values_.numbers.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
    if (number || text.empty() || (values_.column.group == Group::other && is_not_finite(text))) return;
    if (errors_.size() < most_errors)
      errors_.push_back({file_, row < cells_.lines.size() ? cells_.lines[row] : 0, static_cast<int>(column_) + 1,
                         values_.column.name, "a finite number or nothing",
                         "\"" + std::string(text.substr(0, 40)) + "\""});
  }

  std::int32_t code_of(std::string_view text) {
    if (const auto known = codes_.find(text); known != codes_.end()) return known->second;
    values_.words.emplace_back(text);
    return codes_.emplace(text, static_cast<std::int32_t>(values_.words.size()) - 1).first->second;
  }

  const std::string& file_;
  const Cells& cells_;
  std::size_t column_;
  Diagnostics& errors_;
  Values values_;
  std::map<std::string, std::int32_t, std::less<>> codes_;
};

Column description_of(const std::string& name, const Cells& cells, const KnownColumns& known) {
  const auto own = std::ranges::find(cells.described, name, &Column::name);
  if (own != cells.described.end()) return *own;
  if (const std::optional<Column> column = known ? known(name) : std::nullopt) return *column;
  return {name, "", "", Group::other};
}

}  // namespace

Result<Table> table_of(const std::string& file, const Cells& cells, const KnownColumns& known) {
  Table table{file, cells.rows.size(), {}, cells.lines};
  Diagnostics errors;
  for (std::size_t column = 0; column < cells.names.size(); ++column)
    table.columns.push_back(
        ColumnReader(file, cells, column, errors).read(description_of(cells.names[column], cells, known)));
  if (!errors.empty()) return errors;
  return table;
}

namespace {

struct Close {
  void operator()(sqlite3* file) const { sqlite3_close(file); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using File = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

constexpr int longest_text = 1 << 20;  // bytes; a generated column may make more of a few

Statement prepare(const File& file, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(file.get(), sql, -1, &statement, nullptr);
  return Statement(statement);
}

std::string text_at(sqlite3_stmt* statement, int column) {
  if (sqlite3_column_type(statement, column) == SQLITE_FLOAT)
    return format_number(sqlite3_column_double(statement, column));
  const unsigned char* text = sqlite3_column_text(statement, column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);  // NOLINT: SQLite's own type for UTF-8
}

// A table whose rows are in the file. Views and virtual tables compute theirs, perhaps for ever.
bool is_stored_table(const File& file, const char* name) {
  const Statement statement = prepare(file,
                                      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql NOT LIKE "
                                      "'CREATE VIRTUAL%'");
  return statement && sqlite3_bind_text(statement.get(), 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
         sqlite3_step(statement.get()) == SQLITE_ROW;
}

Diagnostics read_descriptions(const File& file, const std::string& path, Cells& cells) {
  if (!is_stored_table(file, "columns")) return {};  // a file without descriptions
  const Statement statement = prepare(file, "SELECT name, unit, meaning, grp FROM columns");
  if (!statement) return {};
  Diagnostics errors;
  while (sqlite3_step(statement.get()) == SQLITE_ROW) {
    const std::string name = text_at(statement.get(), 0), group_name = text_at(statement.get(), 3);
    const std::optional<Group> group = group_from(group_name);
    if (group)
      cells.described.push_back({name, text_at(statement.get(), 1), text_at(statement.get(), 2), *group});
    else
      errors.push_back({path, 0, 0, "columns." + name, "config, arch, physics, counter, target or other",
                        "\"" + group_name.substr(0, 40) + "\""});
  }
  return errors;
}

// Every row of the statement; the first that is no text, or no longer fits, ends it.
std::optional<Diagnostic> read_rows(sqlite3_stmt* statement, const std::string& path, Cells& cells) {
  const int columns = sqlite3_column_count(statement);
  for (int c = 0; c < columns; ++c) {
    cells.names.emplace_back(sqlite3_column_name(statement, c));
    if (const std::size_t at = first_non_text(cells.names.back()); at != std::string::npos)
      return Diagnostic{path, 0, 0, cells.names.back(), "a name in UTF-8", describe_byte(cells.names.back(), at)};
  }
  cells.rows = TextRows(cells.names.size());
  while (sqlite3_step(statement) == SQLITE_ROW) {
    for (int c = 0; c < columns; ++c) {
      const std::string text = text_at(statement, c);
      const auto place = [&] {
        return "row " + std::to_string(cells.rows.size() + 1) + ", " + cells.names[static_cast<std::size_t>(c)];
      };
      if (const std::size_t at = first_non_text(text); at != std::string::npos)
        return Diagnostic{path, 0, 0, place(), "text in UTF-8", describe_byte(text, at)};
      if (!cells.rows.add(text))
        return Diagnostic{path,
                          0,
                          0,
                          place(),
                          "at most " + std::to_string(TextRows::most_texts) + " values of " +
                              std::to_string(TextRows::most_bytes >> 20) + " MiB together",
                          "more"};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Cells> sqlite_cells(const std::string& path) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const File file(opened);
  const auto wrong = [&](std::string expected) {
    return Diagnostic{path, 0, 0, "", std::move(expected), sqlite3_errmsg(file.get())};
  };
  if (status != SQLITE_OK) return wrong("an SQLite file that can be opened");
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, longest_text);
  Cells cells;
  if (Diagnostics errors = read_descriptions(file, path, cells); !errors.empty()) return errors;
  const Statement statement = prepare(file, "SELECT * FROM rows ORDER BY rowid");
  if (!statement) return wrong("a data set with a table rows");
  if (!is_stored_table(file, "rows")) return Diagnostic{path, 0, 0, "rows", "a table", "a view or a virtual table"};
  if (std::optional<Diagnostic> bad = read_rows(statement.get(), path, cells)) return std::move(*bad);
  if (sqlite3_reset(statement.get()) != SQLITE_OK) return wrong("rows that can be read");
  return cells;
}

}  // namespace noteg::dataset
