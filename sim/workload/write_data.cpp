#include <cmath>

#include <nlohmann/json.hpp>

#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "sim/workload/workload.hpp"

namespace noteg::workload {
namespace {

using Json = nlohmann::ordered_json;

double finite(double value) { return std::isfinite(value) ? value : 0; }

Json json_of(const LaunchResult& launch) {
  return {{"what", launch.what},
          {"kernel", launch.cost.kernel},
          {"time_us", finite(launch.cost.time_us)},
          {"energy_mj", finite(launch.cost.energy_mj)},
          {"power_w", finite(launch.cost.power_w)},
          {"sm_clock_mhz", finite(launch.cost.sm_clock_mhz)},
          {"throttled", launch.cost.throttled},
          {"dram_bytes", finite(launch.cost.dram_bytes)},
          {"limiter", launch.cost.limiter}};
}

Json json_of(const OperationResult& o, const CaseResult& r) {
  Json launches = Json::array();
  for (const LaunchResult& launch : o.launches) launches.push_back(json_of(launch));
  return {{"name", o.operation->name},
          {"op", name_of(o.operation->op)},
          {"block", o.block},
          {"shape", shape_text(*o.operation)},
          {"count", o.count},
          {"time_us", finite(o.time_us)},
          {"time_each_us", finite(o.each_us())},
          {"share", finite(r.time_us > 0 ? o.time_us / r.time_us : 0)},
          {"energy_mj", finite(o.energy_mj)},
          {"flops", finite(o.flops)},
          {"dram_bytes", finite(o.dram_bytes)},
          {"limiter", o.limiter},
          {"kernel", o.kernel},
          {"modelled_as", o.modelled_as},
          {"launches", std::move(launches)}};
}

Json json_of(const CaseResult& r) {
  Json operations = Json::array();
  for (const OperationResult& o : r.operations) operations.push_back(json_of(o, r));
  const bool tokens = r.step->tokens > 0;
  return {{"label", label_of(r)},
          {"arch", r.of->machine.gpu.id},
          {"gpus", r.step->gpus},
          {"step", r.step->label},
          {"condition", r.of->condition},
          {"power_limit_w", r.of->machine.gpu.power.limit.value},
          {"time_us", finite(r.time_us)},
          {"energy_mj", finite(r.energy_mj)},
          {"power_w", finite(r.power_w())},
          {"tokens", tokens ? Json(r.step->tokens) : Json(nullptr)},
          {"tokens_per_s", tokens ? Json(finite(r.tokens_per_second())) : Json(nullptr)},
          {"j_per_token", tokens ? Json(finite(r.joules_per_token())) : Json(nullptr)},
          {"lowest_clock_mhz", finite(r.lowest_clock_mhz)},
          {"highest_clock_mhz", finite(r.highest_clock_mhz)},
          {"throttled", r.throttled},
          {"throttle_reason", r.throttle_reason},
          {"waiting_us", finite(r.waiting_us)},
          {"flops", finite(r.flops)},
          {"dram_bytes", finite(r.dram_bytes)},
          {"resident_bytes", finite(r.step->resident_bytes)},
          {"fits_memory", r.fits()},
          {"operations", std::move(operations)}};
}

}  // namespace

std::string to_json(const Results& results, const Heading& heading) {
  Json cases = Json::array();
  for (const CaseResult& r : results.cases) cases.push_back(json_of(r));
  return Json{{"workload", heading.title},
              {"notes", heading.notes},
              {"launches", results.launches},
              {"distinct_launches", results.distinct},
              {"cases", std::move(cases)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string to_csv(const Results& results) {
  std::string text = csv_line({"arch", "condition", "step", "block", "name", "op", "shape", "count", "time_us",
                               "energy_mj", "share", "flops", "dram_bytes", "limiter", "kernel", "modelled_as"});
  for (const CaseResult& r : results.cases) {
    const auto row = [&](const std::string& block, const std::string& name, const std::string& op,
                         const std::string& shape, double count, double us, double mj, double flops, double bytes,
                         const std::string& limiter, const std::string& kernel, const std::string& model) {
      text += csv_line({r.of->gpu, r.of->condition, r.step->label, block, name, op, shape, format_number(count),
                        format_number(us), format_number(mj), format_number(us / r.time_us), format_number(flops),
                        format_number(bytes), limiter, kernel, model});
    };
    for (const OperationResult& o : r.operations)
      row(o.block, o.operation->name, std::string(name_of(o.operation->op)), shape_text(*o.operation), o.count,
          o.time_us, o.energy_mj, o.flops, o.dram_bytes, o.limiter, o.kernel, o.modelled_as);
    if (r.waiting_us > 0)
      row("", "waiting for the host", "", "", 1, r.waiting_us, r.waiting_us * r.of->machine.gpu.power.idle.value * 1e-3,
          0, 0, "host", "", "");
    row("", "all", "", "", 1, r.time_us, r.energy_mj, r.flops, r.dram_bytes, "", "", "");
  }
  return text;
}

}  // namespace noteg::workload
