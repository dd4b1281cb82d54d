#include <nlohmann/json.hpp>

#include "sim/report/counters.hpp"
#include "sim/report/write.hpp"

namespace noteg::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return number_of(value);
}

}  // namespace

std::string to_json(const gpu::SimReport& report) {
  Json root = Json::object();
  for (const Counter& counter : counter_table()) {
    Json& place = counter.group().empty() ? root : root[std::string(counter.group())];
    const Value value = counter.get(report);
    place[std::string(counter.leaf())] = is_absent(counter, value) ? Json(nullptr) : json_of(value);
    if (counter.name != "instructions.warp_total") continue;
    Json& by_opcode = place["by_opcode"] = Json::object();
    for (const auto& [opcode, count] : report.instructions_by_opcode) by_opcode[opcode] = number_of(count);
  }
  for (const auto& [name, value] : report.switches) root["switches"][name] = value;
  // A measured text may hold any byte: replace what is not UTF-8 instead of failing.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace noteg::report
