#include "sim/dataset/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "kernels/config/shape.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/support/arithmetic.hpp"
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

namespace {

Description::Column described(const Values& values, std::size_t rows) {
  Description::Column out;
  out.name = values.column.name;
  out.unit = values.column.unit;
  out.group = values.column.group;
  if (values.is_text) {
    out.missing = static_cast<std::size_t>(std::ranges::count_if(values.codes, [](auto code) { return code < 0; }));
    out.different = values.words.size();
    for (std::size_t i = 0; i < std::min<std::size_t>(8, values.words.size()); ++i)
      out.words += (i == 0 ? "" : ", ") + values.words[i];
    return out;
  }
  std::set<double> seen;
  double sum = 0;
  for (const double number : values.numbers)
    if (std::isfinite(number))
      seen.insert(number), sum += number;
    else
      ++out.missing;
  out.different = seen.size();
  if (seen.empty()) return out;
  out.low = *seen.begin(), out.high = *seen.rbegin();
  out.mean = sum / static_cast<double>(rows - out.missing);
  return out;
}

// Names of a measured file for columns of a data set.
constexpr std::pair<std::string_view, std::string_view> measured_names[] = {{"kernel.m", "M"},
                                                                            {"kernel.n", "N"},
                                                                            {"kernel.k", "K"},
                                                                            {"kernel.batch", "batch"},
                                                                            {"kernel.tile_m", "tile_m"},
                                                                            {"kernel.tile_n", "tile_n"},
                                                                            {"kernel.tile_k", "tile_k"},
                                                                            {"kernel.stages", "stages"},
                                                                            {"kernel.split_k", "split_k"},
                                                                            {"kernel.threads", "threads"},
                                                                            {"kernel.dtype_in", "dtype_in"}};

const Values* same_column(const Table& asked, const std::string& name) {
  if (const Values* values = asked.find(name)) return values;
  for (const auto& [own, measured] : measured_names)
    if (own == name) return asked.find(measured);
  return nullptr;
}

// A word as the data set spells it: fp16 is f16.
std::string spelt(const std::string& column, const std::string& word) {
  if (column != "kernel.dtype_in") return word;
  const std::optional<kernels::DataType> type = kernels::data_type_from(word);
  return type ? std::string(kernels::name_of(*type)) : word;
}

}  // namespace

Description describe(const Table& table) {
  Description out;
  out.rows = table.rows;
  std::set<std::string> shapes;
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::string shape;
    for (const char* name : {"kernel.m", "kernel.n", "kernel.k", "kernel.batch"})
      if (const Values* values = table.find(name)) shape += values->text(row) + " ";
    shapes.insert(shape);
  }
  out.shapes = shapes.size();
  const auto target = std::ranges::find_if(
      table.columns, [](const Values& values) { return values.column.group == Group::target && !values.is_text; });
  std::vector<double> aims;
  if (target != table.columns.end()) out.target = target->column.name, aims = ranks(target->numbers);
  for (const Values& values : table.columns) {
    Description::Column column = described(values, table.rows);
    if (column.different < 2 && values.column.group != Group::target) continue;
    if (!aims.empty() && !values.is_text)
      column.correlation = noteg::correlation(ranks(values.numbers), aims).value_or(0);
    out.columns.push_back(std::move(column));
  }
  return out;
}

Coverage coverage_of(const Table& known, const Table& asked) {
  Coverage out;
  out.rows = asked.rows;
  std::vector<bool> inside(asked.rows, true);
  for (const Values& values : known.columns) {
    if (!known_before(values.column.group)) continue;
    const Values* other = same_column(asked, values.column.name);
    if (other == nullptr || (!values.is_text && other->is_text)) continue;
    const Description::Column holds = described(values, known.rows);
    if (holds.different == 0) continue;
    Outside beyond{values.column.name, values.column.unit,
                   values.is_text ? holds.words : fmt::format("{:.6g} to {:.6g}", holds.low, holds.high), 0, ""};
    for (std::size_t row = 0; row < asked.rows; ++row) {
      const std::string text = other->text(row);
      if (text.empty()) continue;
      const bool is_inside =
          values.is_text ? std::ranges::find(values.words, spelt(values.column.name, text)) != values.words.end()
                         : other->numbers[row] >= holds.low && other->numbers[row] <= holds.high;
      if (is_inside) continue;
      inside[row] = false;
      beyond.share += 1.0 / static_cast<double>(asked.rows);
      if (beyond.example.empty()) beyond.example = text;
    }
    if (beyond.share > 0) out.outside.push_back(std::move(beyond));
  }
  out.inside = static_cast<std::size_t>(std::ranges::count(inside, true));
  std::ranges::stable_sort(out.outside, [](const Outside& a, const Outside& b) { return a.share > b.share; });
  return out;
}

}  // namespace noteg::dataset
