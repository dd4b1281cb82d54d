#include "sim/report/write.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/counters.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

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

namespace {

double percent(const gpu::LimitCost& cost) {
  const double with = cost.time_us + cost.gain_us;
  return with > 0 ? 100 * cost.gain_us / with : 0;
}

std::vector<std::pair<std::string, double>> steps_of(const gpu::Explanation& e) {
  const gpu::Bottleneck& b = e.report.bottleneck;
  return {{fmt::format("the {} roof at {:.0f} MHz", b.roof, b.highest_clock_mhz), e.steps.roof_us},
          {fmt::format("+ the clock, held to {:.0f} MHz", e.report.sm_clock_mhz), e.steps.clock_us},
          {"+ below the roof at that clock", e.steps.below_us},
          {"= the run", e.report.time_us}};
}

}  // namespace

std::string explanation_text(const gpu::Explanation& e) {
  std::string text = to_text(e.report);
  text += "\nwhat each limit costs (one taken away at a time; gains do not add up)\n";
  text +=
      fmt::format("  {:<18} {:<27} {:>10} {:>7}   {:>9}\n", "limit", "removed by --set", "without", "gain", "clock");
  for (const gpu::LimitCost& cost : e.costs) {
    text +=
        fmt::format("  {:<18} {:<27} {:>10} {:>5.1f} %   {:>9}\n", cost.limit, cost.removed,
                    figure(cost.time_us, Unit::microseconds), percent(cost), figure(cost.clock_mhz, Unit::megahertz));
  }
  text += "\nfrom the roof to the run (adds up)\n";
  for (const auto& [step, us] : steps_of(e))
    text += fmt::format("  {:<48} {:>10}\n", step, figure(us, Unit::microseconds));
  return text;
}

std::string explanation_json(const gpu::Explanation& e) {
  auto root = nlohmann::ordered_json::parse(to_json(e.report));
  auto& rows = root["explain"] = nlohmann::ordered_json::array();
  for (const gpu::LimitCost& cost : e.costs) {
    rows.push_back({{"limit", cost.limit},
                    {"removed", cost.removed},
                    {"time_us", cost.time_us},
                    {"gain_us", cost.gain_us},
                    {"gain_pct", percent(cost)},
                    {"speedup", cost.speedup()},
                    {"clock_mhz", cost.clock_mhz},
                    {"pct_of_peak", cost.pct_of_peak}});
  }
  root["roof_to_run_us"] = {{"roof", e.steps.roof_us}, {"clock", e.steps.clock_us}, {"below_roof", e.steps.below_us}};
  return root.dump(2) + "\n";
}

std::string explanation_csv(const gpu::Explanation& e) {
  std::string text = "limit,removed,time_us,gain_us,gain_pct\n";
  for (const gpu::LimitCost& cost : e.costs)
    text += fmt::format("{},{},{},{},{}\n", cost.limit, cost.removed, cost.time_us, cost.gain_us, percent(cost));
  return text;
}

}  // namespace noteg::report
