#include "sim/dataset/read_sqlite.hpp"

#include <sqlite3.h>

#include <memory>

#include "sim/support/number_text.hpp"
#include "sim/support/text_bytes.hpp"

namespace noteg::dataset {
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
