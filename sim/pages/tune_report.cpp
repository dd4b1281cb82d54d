#include <fmt/format.h>

#include "sim/pages/reports.hpp"
#include "sim/pages/roofline_chart.hpp"
#include "sim/pages/run_charts.hpp"
#include "sim/report/format.hpp"
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

Chart trade_chart(const Tuned& tuned, std::size_t number) {
  Chart chart;
  chart.kind = Kind::xy;
  chart.id = fmt::format("trade-{}", number);
  chart.title = "Time against energy";
  chart.note = "The same configurations: down and to the left is better.";
  Series winner{"winner", "s3", {}, Mark::points, {}}, others{"others", "s1", {}, Mark::points, {}};
  winner.labelled = true;
  for (const SimReport& r : tuned.top) {
    Series& series = &r == &tuned.top.front() ? winner : others;
    series.dots.push_back({r.time_us, r.energy_mj, report::figure(r.time_us, Unit::microseconds),
                           report::figure(r.energy_mj, Unit::millijoules), tune::configuration_text(r.kernel)});
  }
  chart.x = {"time", false, std::nullopt, std::nullopt, "us"};
  chart.value = {"energy", false, std::nullopt, std::nullopt, "mJ"};
  chart.series = {std::move(others), std::move(winner)};
  return chart;
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
  if (tuned.top.size() > 1) page.add(trade_chart(tuned, number));
  page.add("All that are shown", ranking_table(tuned), false);
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
