#include "sim/dataset/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/support/csv.hpp"
#include "sim/support/number_text.hpp"

namespace noteg::dataset {
namespace {

constexpr std::array<std::pair<Group, std::string_view>, 6> names{{{Group::config, "config"},
                                                                   {Group::arch, "arch"},
                                                                   {Group::physics, "physics"},
                                                                   {Group::counter, "counter"},
                                                                   {Group::target, "target"},
                                                                   {Group::other, "other"}}};

}  // namespace

std::string_view name_of(Group group) {
  return std::ranges::find(names, group, &std::pair<Group, std::string_view>::first)->second;
}

std::optional<Group> group_from(std::string_view text) {
  const auto* found = std::ranges::find(names, text, &std::pair<Group, std::string_view>::second);
  return found == names.end() ? std::nullopt : std::optional(found->first);
}

std::string Values::text(std::size_t row) const {
  if (is_text) return codes[row] < 0 ? "" : words[static_cast<std::size_t>(codes[row])];
  return std::isfinite(numbers[row]) ? format_number(numbers[row]) : "";
}

const Values* Table::find(std::string_view name) const {
  const auto found = std::ranges::find_if(columns, [&](const Values& v) { return v.column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Table select(const Table& table, const std::vector<std::size_t>& rows) {
  Table part{table.file, rows.size(), {}, {}};
  for (const Values& from : table.columns) {
    Values to{from.column, from.is_text, {}, {}, from.words};
    for (const std::size_t row : rows) {
      if (from.is_text)
        to.codes.push_back(from.codes[row]);
      else
        to.numbers.push_back(from.numbers[row]);
    }
    part.columns.push_back(std::move(to));
  }
  for (const std::size_t row : rows) part.lines.push_back(table.line(row));
  return part;
}

std::string to_csv(const Table& table) {
  std::vector<std::string> fields;
  for (const Values& values : table.columns) fields.push_back(values.column.name);
  std::string text = csv_line(fields);
  for (std::size_t row = 0; row < table.rows; ++row) {
    fields.clear();
    for (const Values& values : table.columns) fields.push_back(values.text(row));
    text += csv_line(fields);
  }
  return text;
}

}  // namespace noteg::dataset
