#include "sim/dataset/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/support/csv.hpp"
#include "sim/support/output_file.hpp"

namespace noteg::dataset {

void export_csv(const std::string& data_set, const std::string& out, const std::vector<Group>& groups) {
  Database database(data_set, Database::Access::read);
  std::string sql = "SELECT row_id";
  std::vector<std::string> header{"row_id"};
  Statement columns(database, "SELECT name, grp FROM columns ORDER BY rowid");
  while (columns.step()) {
    const std::optional<Group> group = group_from(columns.text(1));
    if (!groups.empty() && (!group || std::ranges::find(groups, *group) == groups.end())) continue;
    header.push_back(columns.text(0));
    sql += ", " + quoted_name(header.back());
  }
  header.emplace_back("error");
  Statement rows(database, sql + ", error FROM rows ORDER BY row_id");
  OutputFile output(out);
  output.write(csv_line(header));
  std::vector<std::string> fields(header.size());
  while (output.is_wanted() && rows.step()) {
    for (std::size_t c = 0; c < fields.size(); ++c) fields[c] = rows.text(static_cast<int>(c));
    output.write(csv_line(fields));
  }
  output.finish();
}

namespace {

std::size_t number(Database& database, std::string_view sql) {
  Statement statement(database, sql);
  return statement.step() ? static_cast<std::size_t>(statement.integer(0)) : 0;
}

std::map<std::string, std::size_t> counts(Database& database, const std::string& sql) {
  std::map<std::string, std::size_t> out;
  Statement statement(database, sql);
  while (statement.step()) out[statement.text(0)] = static_cast<std::size_t>(statement.integer(1));
  return out;
}

std::vector<DataSetInfo::Range> ranges(Database& database) {
  std::vector<DataSetInfo::Range> out;
  Statement targets(database, "SELECT name, unit FROM columns WHERE grp = 'target' ORDER BY rowid");
  while (targets.step()) {
    const std::string name = targets.text(0);
    Statement range(
        database, fmt::format("SELECT min({0}), avg({0}), max({0}) FROM rows WHERE error IS NULL", quoted_name(name)));
    if (range.step() && !range.is_null(0))
      out.push_back({name, targets.text(1), range.real(0), range.real(1), range.real(2)});
  }
  return out;
}

}  // namespace

Result<DataSetInfo> data_set_info(const std::string& path) {
  Database database(path, Database::Access::read);
  const Result<bool> filled = holds_data_set(database);
  if (!filled) return filled.errors();
  if (!*filled) return Diagnostic{path, 0, 0, "", "a data set of noteg generate", "an empty file"};
  DataSetInfo info;
  info.rows = number(database, "SELECT count(*) FROM rows");
  info.failed = number(database, "SELECT count(*) FROM rows WHERE error IS NOT NULL");
  info.expected = number(database, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'rows'");
  info.sweep_hash = meta_value(database, "sweep_hash").value_or("");
  info.shard = meta_value(database, "shard").value_or("");
  info.columns_by_group = counts(database, "SELECT grp, count(*) FROM columns GROUP BY grp");
  info.rows_by_gpu = counts(database, "SELECT \"arch\", count(*) FROM rows GROUP BY 1");
  info.rows_by_family = counts(database, "SELECT \"kernel.family\", count(*) FROM rows GROUP BY 1");
  info.targets = ranges(database);
  Statement errors(
      database, "SELECT error, count(*) FROM rows WHERE error IS NOT NULL GROUP BY error ORDER BY 2 DESC, 1 LIMIT 5");
  while (errors.step()) info.errors.emplace_back(errors.text(0), static_cast<std::size_t>(errors.integer(1)));
  return info;
}

namespace {

// Everything that two shards of one sweep share.
constexpr std::string_view identity[] = {"schema_version", "noteg", "sweep_hash", "gpu_hash"};

Diagnostics check_part(Database& part, Database& first) {
  const Result<bool> filled = holds_data_set(part);
  if (!filled) return filled.errors();
  if (!*filled) return {{part.path(), 0, 0, "", "a data set of noteg generate", "an empty file"}};
  for (const std::string_view key : identity) {
    if (meta_value(part, key) == meta_value(first, key)) continue;
    return {{part.path(), 0, 0, "", fmt::format("a shard of the same sweep and GPU files as {}", first.path()),
             fmt::format("another {}", key)}};
  }
  return {};
}

std::vector<Column> columns_of(Database& database) {
  std::vector<Column> all;
  Statement columns(database, "SELECT name, unit, meaning, grp FROM columns ORDER BY rowid");
  while (columns.step())
    all.push_back(
        {columns.text(0), columns.text(1), columns.text(2), group_from(columns.text(3)).value_or(Group::other)});
  return all;
}

}  // namespace

Result<Merged> merge_data_sets(const std::vector<std::string>& parts, const std::string& out) {
  std::error_code failed;
  if (std::filesystem::exists(out, failed))
    return Diagnostic{out, 0, 0, "--out", "a file that is not there yet", "one that is"};
  Database first(parts.front(), Database::Access::read);
  Diagnostics errors;
  for (const std::string& path : parts) {
    Database part(path, Database::Access::read);
    const Diagnostics wrong = check_part(part, first);
    errors.insert(errors.end(), wrong.begin(), wrong.end());
  }
  if (!errors.empty()) return errors;

  Merged merged;
  Replacement fresh(out);
  fresh.close();  // SQLite opens it by name
  {
    Database all(fresh.name(), Database::Access::write);
    all.run("PRAGMA journal_mode=OFF; BEGIN");
    const std::vector<Column> columns = columns_of(first);
    create_tables(all, columns);
    for (const char* key : {"sweep", "sweep_canonical", "sweep_hash", "gpu_hash", "rows", "noteg"})
      set_meta(all, key, meta_value(first, key).value_or(""));
    set_meta(all, "shard", "1/1");
    all.run("COMMIT");
    for (const std::string& path : parts) {
      Statement attach(all, "ATTACH ? AS part");
      attach.bind(1, std::string_view(path));
      attach.run();
      all.run("INSERT OR IGNORE INTO main.rows SELECT * FROM part.rows ORDER BY row_id");
      all.run("DETACH part");
    }
    Statement count(all, "SELECT count(*), (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'rows') FROM rows");
    if (count.step()) merged = {static_cast<std::size_t>(count.integer(0)), static_cast<std::size_t>(count.integer(1))};
  }
  fresh.take_place();
  return merged;
}

}  // namespace noteg::dataset
