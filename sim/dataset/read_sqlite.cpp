#include "sim/dataset/read_sqlite.hpp"

#include <sqlite3.h>

#include <memory>

#include "sim/support/number_text.hpp"

namespace noteg::dataset {
namespace {

struct Close {
  void operator()(sqlite3* file) const { sqlite3_close(file); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using File = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

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

Diagnostics read_descriptions(const File& file, const std::string& path, Cells& cells) {
  const Statement statement = prepare(file, "SELECT name, unit, meaning, grp FROM columns");
  if (!statement) return {};  // a file without descriptions
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

}  // namespace

Result<Cells> sqlite_cells(const std::string& path) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const File file(opened);
  const auto wrong = [&](std::string expected) {
    return Diagnostic{path, 0, 0, "", std::move(expected), sqlite3_errmsg(file.get())};
  };
  if (status != SQLITE_OK) return wrong("an SQLite file that can be opened");
  Cells cells;
  if (Diagnostics errors = read_descriptions(file, path, cells); !errors.empty()) return errors;
  const Statement statement = prepare(file, "SELECT * FROM rows ORDER BY rowid");
  if (!statement) return wrong("a data set with a table rows");
  const int columns = sqlite3_column_count(statement.get());
  for (int c = 0; c < columns; ++c) cells.names.emplace_back(sqlite3_column_name(statement.get(), c));
  int step = sqlite3_step(statement.get());
  for (; step == SQLITE_ROW; step = sqlite3_step(statement.get())) {
    std::vector<std::string>& row = cells.rows.emplace_back();
    for (int c = 0; c < columns; ++c) row.push_back(text_at(statement.get(), c));
  }
  if (step != SQLITE_DONE) return wrong("rows that can be read");
  return cells;
}

}  // namespace noteg::dataset
