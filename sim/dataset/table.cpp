#include "sim/dataset/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

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

bool Values::is_blank(std::size_t row) const {
  if (is_text) return codes[row] < 0 || words[static_cast<std::size_t>(codes[row])].empty();
  return !std::isfinite(numbers[row]);
}

const Values* ColumnsInOrder::find(std::string_view name) {
  const std::size_t count = table_.columns.size();
  for (std::size_t i = 0, at = next_; i < count; ++i, ++at) {
    if (at >= count) at = 0;
    if (table_.columns[at].column.name != name) continue;
    next_ = at + 1;
    return &table_.columns[at];
  }
  return nullptr;
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

namespace {

bool is_blank(const Values& values) {
  return values.is_text ? std::ranges::all_of(values.codes, [](std::int32_t code) { return code < 0; })
                        : std::ranges::all_of(values.numbers, [](double number) { return std::isnan(number); });
}

std::int32_t code_of(const std::string& word, std::vector<std::string>& words) {
  const auto found = std::ranges::find(words, word);
  const auto place = static_cast<std::int32_t>(found - words.begin());
  if (found == words.end()) words.push_back(word);
  return place;
}

void append(const Values& from, std::size_t rows, Values& to) {
  if (!to.is_text) {
    if (from.is_text)
      to.numbers.insert(to.numbers.end(), rows, std::nan(""));  // blank: checked
    else
      to.numbers.insert(to.numbers.end(), from.numbers.begin(), from.numbers.end());
    return;
  }
  std::vector<std::int32_t> codes;
  for (const std::string& word : from.words) codes.push_back(code_of(word, to.words));
  for (std::size_t row = 0; row < rows; ++row) {
    const bool absent = !from.is_text || from.codes[row] < 0;
    to.codes.push_back(absent ? -1 : codes[static_cast<std::size_t>(from.codes[row])]);
  }
}

// A column without values is whatever the others are.
void become_text(Values& values, std::size_t rows) {
  values.is_text = true;
  values.numbers.clear();
  values.codes.assign(rows, -1);
}

void check(const Table& first, const Table& next, Diagnostics& errors) {
  const auto missing = [&](const Table& table, const std::string& name, const Table& other) {
    errors.push_back({table.file, 0, 0, name, "a column of this name, as in " + other.file, "none"});
  };
  for (const Values& column : first.columns)
    if (next.find(column.column.name) == nullptr) missing(next, column.column.name, first);
  for (const Values& column : next.columns) {
    const Values* other = first.find(column.column.name);
    if (other == nullptr)
      missing(first, column.column.name, next);
    else if (other->is_text != column.is_text && !is_blank(*other) && !is_blank(column))
      errors.push_back({next.file, 0, 0, column.column.name,
                        std::string(other->is_text ? "texts" : "numbers") + ", as in " + first.file,
                        column.is_text ? "texts" : "numbers"});
  }
}

}  // namespace

Result<Table> join(const std::vector<Table>& tables) {
  Diagnostics errors;
  for (std::size_t i = 1; i < tables.size(); ++i) check(tables.front(), tables[i], errors);
  if (!errors.empty()) return errors;
  Table all = tables.front();
  for (std::size_t i = 1; i < tables.size(); ++i) {
    const Table& next = tables[i];
    for (Values& column : all.columns) {
      const Values& from = *next.find(column.column.name);
      if (from.is_text && !column.is_text && !is_blank(from)) become_text(column, all.rows);
      append(from, next.rows, column);
    }
    all.lines.clear();  // of which file would have to be told too
    all.rows += next.rows;
    all.file += ", " + next.file;
  }
  return all;
}

}  // namespace noteg::dataset
