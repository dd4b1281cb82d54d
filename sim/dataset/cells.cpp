#include "sim/dataset/cells.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "sim/support/nearest_name.hpp"
#include "sim/support/number_text.hpp"

namespace noteg::dataset {
namespace {

constexpr std::size_t most_errors = 20;

std::optional<double> number_in(std::string_view text) {
  if (text == "true") return 1.0;
  if (text == "false") return 0.0;
  return parse_number(text);
}

bool is_not_finite(std::string_view text) {
  constexpr std::size_t longest = 9;  // -infinity
  if (text.size() > longest) return false;
  std::string lower = to_lower(std::string(text));
  if (lower.starts_with('-') || lower.starts_with('+')) lower.erase(0, 1);
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

// Decides between numbers and words by the majority of the fields that are not blank.
class ColumnReader {
 public:
  ColumnReader(const std::string& file, const Cells& cells, std::size_t column, Diagnostics& errors)
      : file_(file), cells_(cells), column_(column), errors_(errors) {}

  Values read(Column description) {
    std::size_t numbers = 0, filled = 0;
    for (std::size_t row = 0; row < cells_.rows.size(); ++row) {
      const std::string_view text = cells_.rows.at(row, column_);
      if (text.empty()) continue;
      ++filled;
      numbers += number_in(text) || is_not_finite(text) ? 1 : 0;
    }
    values_.column = std::move(description);
    values_.is_text = 2 * numbers < filled || (numbers < filled && values_.column.group == Group::other);
    for (std::size_t row = 0; row < cells_.rows.size(); ++row) take(row, cells_.rows.at(row, column_));
    return std::move(values_);
  }

 private:
  void take(std::size_t row, std::string_view text) {
    if (values_.is_text) {
      values_.codes.push_back(text.empty() ? -1 : code_of(text));
      return;
    }
    const std::optional<double> number = number_in(text);
    values_.numbers.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
    if (number || text.empty() || (values_.column.group == Group::other && is_not_finite(text))) return;
    if (errors_.size() < most_errors)
      errors_.push_back({file_, row < cells_.lines.size() ? cells_.lines[row] : 0, static_cast<int>(column_) + 1,
                         values_.column.name, "a finite number or nothing",
                         "\"" + std::string(text.substr(0, 40)) + "\""});
  }

  std::int32_t code_of(std::string_view text) {
    if (const auto known = codes_.find(text); known != codes_.end()) return known->second;
    values_.words.emplace_back(text);
    return codes_.emplace(text, static_cast<std::int32_t>(values_.words.size()) - 1).first->second;
  }

  const std::string& file_;
  const Cells& cells_;
  std::size_t column_;
  Diagnostics& errors_;
  Values values_;
  std::map<std::string, std::int32_t, std::less<>> codes_;
};

Column description_of(const std::string& name, const Cells& cells, const KnownColumns& known) {
  const auto own = std::ranges::find(cells.described, name, &Column::name);
  if (own != cells.described.end()) return *own;
  if (const std::optional<Column> column = known ? known(name) : std::nullopt) return *column;
  return {name, "", "", Group::other};
}

}  // namespace

Result<Table> table_of(const std::string& file, const Cells& cells, const KnownColumns& known) {
  Table table{file, cells.rows.size(), {}, cells.lines};
  Diagnostics errors;
  for (std::size_t column = 0; column < cells.names.size(); ++column)
    table.columns.push_back(
        ColumnReader(file, cells, column, errors).read(description_of(cells.names[column], cells, known)));
  if (!errors.empty()) return errors;
  return table;
}

}  // namespace noteg::dataset
