// The tables of a data set, apart from what they are filled with.
#include <fmt/format.h>

#include "sim/dataset/store.hpp"

namespace noteg::dataset {

std::optional<std::string> meta_value(Database& database, std::string_view key) {
  Statement statement(database, "SELECT value FROM meta WHERE key = ?");
  statement.bind(1, key);
  if (!statement.step()) return std::nullopt;
  return statement.text(0);
}

void set_meta(Database& database, std::string_view key, std::string_view value) {
  Statement statement(database, "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)");
  statement.bind(1, key);
  statement.bind(2, value);
  statement.run();
}

Result<bool> holds_data_set(Database& database) {
  const auto count = [&](std::string_view condition) {
    Statement statement(database, fmt::format("SELECT count(*) FROM sqlite_master{}", condition));
    return statement.step() ? statement.integer(0) : 0;
  };
  const auto wrong = [&](std::string found) {
    return Diagnostic{database.path(), 0, 0, "", "a data set of noteg generate", std::move(found)};
  };
  try {
    if (count("") == 0) return false;
    // Views and virtual tables compute their rows, perhaps for ever.
    if (count(" WHERE type = 'table' AND name IN ('rows', 'columns', 'meta') AND sql NOT LIKE 'CREATE VIRTUAL%'") != 3)
      return wrong("an SQLite file with other tables");
    const std::string version = meta_value(database, "schema_version").value_or("none");
    if (version != std::to_string(schema_version))
      return wrong(fmt::format("one of schema version {} (this program reads {})", version, schema_version));
  } catch (const StoreError& error) {
    return wrong(error.what());
  }
  return true;
}

void create_tables(Database& database, const std::vector<Column>& columns) {
  std::string sql = "CREATE TABLE rows(row_id INTEGER PRIMARY KEY";
  for (const Column& column : columns) sql += ", " + quoted_name(column.name);
  database.run(sql + ", error TEXT)");
  database.run("CREATE TABLE columns(name TEXT PRIMARY KEY, unit TEXT, meaning TEXT, grp TEXT)");
  database.run("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)");
  Statement insert(database, "INSERT INTO columns(name, unit, meaning, grp) VALUES(?, ?, ?, ?)");
  for (const Column& column : columns) {
    insert.bind(1, std::string_view(column.name));
    insert.bind(2, std::string_view(column.unit));
    insert.bind(3, std::string_view(column.meaning));
    insert.bind(4, name_of(column.group));
    insert.run();
  }
  set_meta(database, "schema_version", std::to_string(schema_version));
}

std::string insert_sql(const std::vector<Column>& columns) {
  std::string sql = "INSERT OR IGNORE INTO rows VALUES(?";
  for (std::size_t i = 0; i < columns.size(); ++i) sql += ", ?";
  return sql + ", ?)";
}

}  // namespace noteg::dataset
