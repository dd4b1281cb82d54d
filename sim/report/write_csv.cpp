#include <fmt/format.h>

#include "sim/report/counters.hpp"
#include "sim/report/write.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/number_text.hpp"

namespace noteg::report {
namespace {

std::string field_of(const Counter& counter, const gpu::SimReport& report) {
  const Value value = counter.get(report);
  if (is_absent(counter, value)) return "";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return format_number(number_of(value));
}

std::string opcodes_field(const gpu::SimReport& report) {
  std::string text;
  for (const auto& [opcode, count] : report.instructions_by_opcode)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", opcode, format_number(number_of(count)));
  return text;
}

}  // namespace

std::string to_csv(const std::vector<gpu::SimReport>& reports) {
  const std::vector<Counter> table = counter_table();
  std::vector<std::string> header;
  for (const Counter& counter : table) header.push_back(counter.name);
  header.emplace_back("instructions.by_opcode");
  std::string text = csv_line(header);
  for (const gpu::SimReport& report : reports) {
    std::vector<std::string> row;
    for (const Counter& counter : table) row.push_back(field_of(counter, report));
    row.push_back(opcodes_field(report));
    text += csv_line(row);
  }
  return text;
}

}  // namespace noteg::report
