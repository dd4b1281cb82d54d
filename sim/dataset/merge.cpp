#include <fmt/format.h>

#include <filesystem>

#include "sim/dataset/export.hpp"
#include "sim/support/output_file.hpp"

namespace noteg::dataset {
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
