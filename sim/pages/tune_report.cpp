#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "sim/pages/reports.hpp"
#include "sim/pages/run_charts.hpp"
#include "sim/report/write.hpp"

namespace noteg::pages {
namespace {

using gpu::SimReport;
using report::Unit;
using tune::Tuned;

constexpr std::size_t problems_drawn = 20, configurations_drawn = 20;

std::string shape_text(const Tuned& tuned) {
  const kernels::GemmShape& s = tuned.problem.shape;
  return fmt::format("{}x{}x{}{}", s.m, s.n, s.k, s.batch > 1 ? fmt::format(" batch {}", s.batch) : "");
}

Chart ranking_chart(const Tuned& tuned, std::size_t number) {
  Chart chart;
  chart.id = fmt::format("ranking-{}", number);
  chart.title = "The best configurations";
  chart.note = fmt::format("{} combinations, {} valid: {} simulated, {} ruled out by their bound.", tuned.considered,
                           tuned.valid, tuned.simulated, tuned.pruned);
  chart.label_head = "configuration";
  chart.value = {"time", false, 0, std::nullopt, "us"};
  chart.series.emplace_back();
  for (std::size_t i = 0; i < std::min(configurations_drawn, tuned.top.size()); ++i) {
    const SimReport& r = tuned.top[i];
    chart.labels.push_back(tune::configuration_text(r.kernel));
    chart.series.front().bars.push_back(
        {r.time_us, report::figure(r.time_us, Unit::microseconds), i == 0 ? "s3" : "s1", 0});
  }
  return chart;
}

// All that were simulated; those that no other beats in both are the front.
Chart trade_chart(const Tuned& tuned, std::size_t number) {
  Chart chart;
  chart.kind = Kind::xy;
  chart.id = fmt::format("trade-{}", number);
  chart.title = "Time against energy";
  chart.note = fmt::format("All {} configurations that were simulated, by pilot runs. Nothing beats the front in both.",
                           tuned.ranked.size());
  Series front{"Pareto front", "s2", {}, Mark::marked, {}}, others{"others", "s1", {}, Mark::points, {}};
  std::vector<const tune::Scored*> order;
  for (const tune::Scored& one : tuned.ranked) order.push_back(&one);
  std::ranges::stable_sort(order, {}, [](const tune::Scored* one) { return std::pair(one->time_us, one->energy_mj); });
  double least = std::numeric_limits<double>::infinity();
  for (const tune::Scored* one : order) {
    Series& series = one->energy_mj < least ? front : others;
    least = std::min(least, one->energy_mj);
    series.dots.push_back({one->time_us, one->energy_mj, report::figure(one->time_us, Unit::microseconds),
                           report::figure(one->energy_mj, Unit::millijoules), tune::configuration_text(one->config)});
  }
  chart.x = {"estimated time", true, std::nullopt, std::nullopt, "us"};
  chart.value = {"estimated energy", true, std::nullopt, std::nullopt, "mJ"};
  chart.series = {std::move(others), std::move(front)};
  return chart;
}

// The best of each tile: rows M, columns N, darker is faster.
Table heat_map(const Tuned& tuned) {
  std::map<int, std::map<int, double>> best;
  std::set<int> columns;
  double least = std::numeric_limits<double>::infinity();
  for (const tune::Scored& one : tuned.ranked) {
    const auto [at, is_new] = best[one.config.tile.m].try_emplace(one.config.tile.n, one.time_us);
    at->second = std::min(at->second, one.time_us);
    least = std::min(least, one.time_us);
    columns.insert(one.config.tile.n);
  }
  Table table{{"tile M \\ N"}, {}};
  for (const int n : columns) table.head.push_back(std::to_string(n));
  for (const auto& [m, row] : best) {
    std::vector<Cell> cells{{std::to_string(m)}};
    for (const int n : columns) {
      const auto found = row.find(n);
      if (found == row.end())
        cells.push_back({""});
      else
        cells.push_back({report::figure(found->second, Unit::microseconds), found->second, least / found->second});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// Configurations of a program differ in how its grid is cut and walked: the best of each program, best first.
Table programs_table(const Tuned& tuned) {
  Table table{{"program, its best configuration", "configurations", "estimated time", "slowest", "estimated energy"},
              {}};
  std::vector<const tune::Scored*> left;
  for (const tune::Scored& one : tuned.ranked) left.push_back(&one);
  while (!left.empty()) {
    const tune::Scored& best = *left.front();
    double slowest = best.time_us;
    std::size_t count = 0;
    std::erase_if(left, [&](const tune::Scored* one) {
      if (!tune::same_program(one->config, best.config)) return false;
      slowest = std::max(slowest, one->time_us);
      ++count;
      return true;
    });
    table.rows.push_back({{tune::configuration_text(best.config)},
                          {std::to_string(count), static_cast<double>(count)},
                          {report::figure(best.time_us, Unit::microseconds), best.time_us},
                          {report::figure(slowest, Unit::microseconds), slowest},
                          {report::figure(best.energy_mj, Unit::millijoules), best.energy_mj}});
  }
  return table;
}

Table ranking_table(const Tuned& tuned) {
  Table table{{"configuration", "time", "90 % of measured times", "TFLOP/s", "power", "energy", "L2 hits",
               "limited by (estimate)"},
              {}};
  for (const SimReport& r : tuned.top)
    table.rows.push_back({{tune::configuration_text(r.kernel)},
                          {report::figure(r.time_us, Unit::microseconds), r.time_us},
                          {report::interval_text(r)},
                          {report::three_digits(r.tflops), r.tflops},
                          {report::figure(r.power_w, Unit::watts), r.power_w},
                          {report::figure(r.energy_mj, Unit::millijoules), r.energy_mj},
                          {report::figure(r.memory.l2_hit_rate, Unit::fraction), r.memory.l2_hit_rate},
                          {r.bottleneck.name}});
  return table;
}

Table problems_table(const tune::Results& results) {
  Table table{{"problem", "times", "best configuration", "time", "TFLOP/s", "energy", "limited by (estimate)"}, {}};
  for (const Tuned& tuned : results.tuned) {
    if (tuned.top.empty()) continue;
    const SimReport& r = tuned.top.front();
    table.rows.push_back({{shape_text(tuned) + ", " + std::string(name_of(r.kernel.dtype_in))},
                          {std::to_string(tuned.count), static_cast<double>(tuned.count)},
                          {tune::configuration_text(r.kernel)},
                          {report::figure(r.time_us, Unit::microseconds), r.time_us},
                          {report::three_digits(r.tflops), r.tflops},
                          {report::figure(r.energy_mj, Unit::millijoules), r.energy_mj},
                          {r.bottleneck.name}});
  }
  return table;
}

void add_problem(Page& page, const Tuned& tuned, const arch::GpuSpec& gpu, std::size_t number, bool alone) {
  page.section(alone ? std::string("The ranking") : shape_text(tuned), tuned.why.empty() ? "" : "Why: " + tuned.why);
  page.add(ranking_chart(tuned, number));
  if (tuned.ranked.size() > 1) page.add(trade_chart(tuned, number));
  page.add("The best of these, timed in full", ranking_table(tuned), alone);
  page.add("Every program that was simulated", programs_table(tuned), false,
           "By pilot runs, a few per cent off: they rank, and the best are timed again.");
  page.add("The best time of each tile", heat_map(tuned), alone, "Estimated; darker is faster.");
  if (!alone) return;
  const SimReport& best = tuned.top.front();
  page.section("The winner", report::kernel_text(best) + ".");
  page.add(roofline_chart({{best.arch_id, &gpu, &best}}));
  page.add(stalls_chart(best));
  page.add(pipes_chart(best));
  page.add(energy_chart(best));
  page.add(occupancy_chart(gpu, best));
}

}  // namespace

std::string tune_report(const tune::Results& results, const arch::GpuSpec& gpu) {
  const bool alone = results.tuned.size() == 1;
  const Tuned* first = results.tuned.empty() || results.tuned.front().top.empty() ? nullptr : &results.tuned.front();
  Page page("NoteG tuning",
            alone && first != nullptr ? fmt::format("{} on {}", shape_text(*first), results.arch_name)
                                      : fmt::format("{} problems on {}", results.tuned.size(), results.arch_name),
            fmt::format("Kernel configurations ranked by {}.{}", name_of(results.objective),
                        alone && first != nullptr ? " " + report::problem_text(first->top.front()) + "." : ""));
  if (alone && first != nullptr) {
    page.verdict("Best: " + tune::configuration_text(first->top.front().kernel) + ". " +
                 verdict_of(first->top.front()));
    page.tiles(headline_tiles(first->top.front()));
  } else {
    page.section("Best kernel of each problem");
    page.add("Problems", problems_table(results));
  }
  std::size_t number = 0;
  for (const Tuned& tuned : results.tuned)
    if (!tuned.top.empty() && ++number <= problems_drawn) add_problem(page, tuned, gpu, number, alone);
  if (number > problems_drawn)
    page.footer(fmt::format("Charts of the first {} problems; the table above has all {}.", problems_drawn, number));
  page.footer("Simulated, not measured.");
  return page.take();
}

}  // namespace noteg::pages
