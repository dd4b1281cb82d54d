#include <fmt/format.h>

#include "sim/dataset/export.hpp"

namespace noteg::dataset {
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

}  // namespace noteg::dataset
