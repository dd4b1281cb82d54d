#include "sim/report/write_explanation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/format.hpp"
#include "sim/report/write.hpp"

namespace noteg::report {
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
