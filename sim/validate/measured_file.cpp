#include "sim/validate/measured_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

namespace noteg::validate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_rows = 250'000, most_fields = 10'000'000;  // a row is a simulation, a field a text

bool is_measured_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".csv") || name.ends_with(".csv.gz");
}

// A folder stands for its measured files, in order of name.
std::vector<std::string> expand(const std::string& path, Diagnostics& errors) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return {path};
  std::vector<std::string> files;
  for (fs::directory_iterator entry(path, failed), end; !failed && entry != end; entry.increment(failed))
    if (is_measured_file(entry->path())) files.push_back(entry->path().string());
  if (files.empty()) errors.push_back({path, 0, 0, "", "a folder with .csv or .csv.gz files", "none there"});
  std::ranges::sort(files);
  return files;
}

// A needed column that a file lacks, and a known one in letters of another case, which would go unread.
void check_columns(const CsvTable& table, Diagnostics& errors) {
  for (const ColumnInfo& column : column_table()) {
    const std::string name(column.name);
    if (table.column(name)) continue;
    const auto same = [&](const std::string& other) { return to_lower(other) == to_lower(name); };
    const auto near = std::ranges::find_if(table.columns, same);
    const bool needed =
        column.need == Need::always || (column.id == Column::dtype_in && !table.column(info(Column::kernel_name).name));
    if (near == table.columns.end() && !needed) continue;
    const std::vector<std::string> nearest = nearest_names(name, table.columns, 1);
    errors.push_back({table.file, 1,
                      near == table.columns.end() ? 1 : static_cast<int>(near - table.columns.begin()) + 1, name,
                      fmt::format("a column of this name: {}", column.expects),
                      nearest.empty() ? "none" : "none (the nearest is " + nearest.front() + ")"});
  }
}

void append(MeasuredData& data, const CsvTable& table) {
  std::vector<std::size_t> place;
  for (const std::string& name : table.columns) {
    if (!data.column(name)) data.columns.push_back(name);
    place.push_back(*data.column(name));
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    MeasuredRow row{data.files.size(), i + 1, std::vector<std::string>(data.columns.size()), table.lines[i]};
    for (std::size_t j = 0; j < place.size(); ++j) row.fields[place[j]] = table.rows.at(i, j);
    data.rows.push_back(std::move(row));
  }
  data.files.push_back(table.file);
}

bool is_absent(std::string_view text) { return text.empty() || text == "nan" || text == "NaN"; }

}  // namespace

std::optional<std::size_t> MeasuredData::column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

Result<MeasuredData> read_measured(const std::vector<std::string>& paths) {
  MeasuredData data;
  Diagnostics errors;
  for (const std::string& path : paths) {
    for (const std::string& file : expand(path, errors)) {
      const Result<CsvTable> table = read_csv(file);
      if (!table) {
        errors.insert(errors.end(), table.errors().begin(), table.errors().end());
        continue;
      }
      check_columns(*table, errors);
      const std::size_t rows = data.rows.size() + table->rows.size();
      if (rows > most_rows || rows * (data.columns.size() + table->columns.size()) > most_fields) {
        errors.push_back({file, 0, 0, "",
                          fmt::format("at most {} rows and {} fields in all files", most_rows, most_fields), "more"});
        return errors;
      }
      append(data, *table);
    }
  }
  if (!errors.empty()) return errors;
  for (MeasuredRow& row : data.rows) row.fields.resize(data.columns.size());  // columns that later files brought
  return data;
}

std::string_view RowView::text(std::string_view column) const {
  const std::optional<std::size_t> index = data_->column(column);
  if (!index) return "";
  const std::string_view field = row_->fields[*index];
  return is_absent(field) ? std::string_view() : field;
}

std::optional<std::int64_t> RowView::integer(std::string_view column, std::int64_t low) {
  const std::string_view field = text(column);
  if (field.empty()) return std::nullopt;
  // Tables written by data-frame tools hold 128.0 where a column has blanks.
  const std::optional<double> number = parse_number(field);
  constexpr double largest = 9e15;  // integers are exact below
  if (number && *number == std::floor(*number) && *number >= static_cast<double>(low) && *number <= largest)
    return static_cast<std::int64_t>(*number);
  problem(fmt::format("{}: expected an integer of at least {}, found \"{}\"", column, low, field));
  return std::nullopt;
}

std::optional<double> RowView::positive(std::string_view column) {
  const std::string_view field = text(column);
  if (field.empty()) return std::nullopt;
  const std::optional<double> number = parse_number(field);
  if (number && std::isfinite(*number) && *number > 0) return number;
  problem(fmt::format("{}: expected a positive number, found \"{}\"", column, field));
  return std::nullopt;
}

void RowView::need(Column column) {
  if (!text(column).empty()) return;
  const bool by_name = info(column).need == Need::unless_by_name;
  problem(fmt::format("{} is blank: expected {}{}", info(column).name, info(column).expects,
                      by_name ? ", or a kernel_name that says it" : ""));
}

void RowView::no_such(Column column) {
  problem(fmt::format("{} \"{}\": expected {}", info(column).name, text(column), info(column).expects));
}

std::optional<int> note_value(std::string_view notes, std::string_view key) {
  while (!notes.empty()) {
    const std::string_view part = notes.substr(0, notes.find(';'));
    notes.remove_prefix(std::min(part.size() + 1, notes.size()));
    if (part.size() <= key.size() || !part.starts_with(key) || part[key.size()] != '=') continue;
    if (const std::optional<long long> value = parse_integer(part.substr(key.size() + 1));
        value && *value >= 0 && *value < 1024)
      return static_cast<int>(*value);
  }
  return std::nullopt;
}

}  // namespace noteg::validate
