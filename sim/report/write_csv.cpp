#include <fmt/format.h>

#include "sim/report/counters.hpp"
#include "sim/report/write.hpp"
#include "sim/support/number_text.hpp"

namespace noteg::report {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

std::string field_of(const Counter& counter, const chip::SimReport& report) {
  const Value value = counter.get(report);
  if (counter.name == "confidence.validated_mape" && number_of(value) < 0) return "";
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return format_number(number_of(value));
}

std::string opcodes_field(const chip::SimReport& report) {
  std::string text;
  for (const auto& [opcode, count] : report.instructions_by_opcode)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", opcode, format_number(number_of(count)));
  return quoted(text);
}

}  // namespace

std::string to_csv(const std::vector<chip::SimReport>& reports) {
  const std::vector<Counter> table = counter_table();
  std::string text;
  for (const Counter& counter : table) text += counter.name + ",";
  text += "instructions.by_opcode\n";
  for (const chip::SimReport& report : reports) {
    for (const Counter& counter : table) text += field_of(counter, report) + ",";
    text += opcodes_field(report) + "\n";
  }
  return text;
}

}  // namespace noteg::report
