#include "sim/dataset/run_columns.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace noteg::dataset {
namespace {

constexpr std::array<std::string_view, 4> targets{"time_us", "power_w", "energy_mj", "tflops"};

// Told of a run, not of what ran: sentences, notes, properties of this program.
bool is_remark(std::string_view name) {
  return name.starts_with("engine.") || name.starts_with("confidence.") || name == "power_note" ||
         name == "bottleneck.because" || name == "bottleneck.clock_held_by" || name == "throttle_reason" ||
         name == "kernel.name";
}

Group group_of(std::string_view name) {
  if (std::ranges::find(targets, name) != targets.end()) return Group::target;
  if (is_remark(name)) return Group::other;
  if (name == "arch" || name == "clock_mode" || name.starts_with("kernel.")) return Group::config;
  return Group::counter;
}

RunColumn of_counter(report::Counter counter, Group group) {
  return {{counter.name, std::string(report::text_of(counter.unit)), counter.sentence, group},
          [get = std::move(counter.get)](const Run& run) { return get(*run.report); }};
}

std::vector<RunColumn> option_columns() {
  return {
      {{"l2_state", "", "what L2 holds at the start: empty, cold, warm (A and B) or steady (A)", Group::config},
       [](const Run& run) -> Value { return std::string(memory::name_of(run.options->l2)); }},
      {{"clock_given_mhz", "MHz", "SM clock where it was given, absent where it was solved for", Group::config},
       [](const Run& run) -> Value {
         return run.options->sm_clock_mhz.value_or(std::numeric_limits<double>::quiet_NaN());
       }},
  };
}

}  // namespace

std::vector<RunColumn> run_report_columns(Group group) {
  std::vector<RunColumn> columns;
  for (report::Counter& counter : report::counter_table())
    if (group_of(counter.name) == group) columns.push_back(of_counter(std::move(counter), group));
  if (group == Group::config)
    for (RunColumn& column : option_columns()) columns.push_back(std::move(column));
  return columns;
}

}  // namespace noteg::dataset
