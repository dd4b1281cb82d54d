#include "sim/report/write_explanation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/format.hpp"
#include "sim/report/write.hpp"

namespace noteg::report {
namespace {

double percent(const chip::LimitCost& cost) {
  const double with = cost.time_us + cost.gain_us;
  return with > 0 ? 100 * cost.gain_us / with : 0;
}

}  // namespace

std::string explanation_text(const chip::Explanation& e) {
  std::string text = to_text(e.report);
  text += "\nwhat each limit costs (one taken away at a time; gains do not add up)\n";
  text += fmt::format("  {:<18} {:<28} {:>12} {:>8} {:>10}\n", "limit", "removed by --set", "time without", "gain", "");
  for (const chip::LimitCost& cost : e.costs) {
    text +=
        fmt::format("  {:<18} {:<28} {:>12} {:>6.1f} % {:>10}\n", cost.limit, cost.removed,
                    figure(cost.time_us, Unit::microseconds), percent(cost), figure(cost.gain_us, Unit::microseconds));
  }
  return text;
}

std::string explanation_json(const chip::Explanation& e) {
  auto root = nlohmann::ordered_json::parse(to_json(e.report));
  auto& rows = root["explain"] = nlohmann::ordered_json::array();
  for (const chip::LimitCost& cost : e.costs) {
    rows.push_back({{"limit", cost.limit},
                    {"removed", cost.removed},
                    {"time_us", cost.time_us},
                    {"gain_us", cost.gain_us},
                    {"gain_pct", percent(cost)},
                    {"speedup", cost.speedup()}});
  }
  return root.dump(2) + "\n";
}

std::string explanation_csv(const chip::Explanation& e) {
  std::string text = "limit,removed,time_us,gain_us,gain_pct\n";
  for (const chip::LimitCost& cost : e.costs)
    text += fmt::format("{},{},{},{},{}\n", cost.limit, cost.removed, cost.time_us, cost.gain_us, percent(cost));
  return text;
}

}  // namespace noteg::report
