#include <fmt/format.h>

#include <algorithm>

#include "sim/pages/reports.hpp"
#include "sim/pages/run_charts.hpp"
#include "sim/report/write.hpp"
#include "sim/tune/tune.hpp"

namespace noteg::pages {
namespace {

using compare::Comparison;
using gpu::SimReport;
using report::Unit;

constexpr std::size_t parts_shown = 7, gpus_on_roofline = 6;

// One bar per GPU.
Chart per_gpu(const Comparison& c, std::string id, std::string title, Axis axis, std::string_view counter) {
  Chart chart;
  chart.id = std::move(id);
  chart.title = std::move(title);
  chart.label_head = "GPU";
  chart.value = std::move(axis);
  chart.series.emplace_back();
  for (std::size_t i = 0; i < c.reports.size(); ++i) {
    chart.labels.push_back(c.variants[i].label);
    for (const report::Counter& each : report::counter_table()) {
      if (each.name != counter) continue;
      const report::Value value = each.get(c.reports[i]);
      chart.series.front().bars.push_back({report::number_of(value), report::figure(value, each.unit), "", 0});
    }
  }
  return chart;
}

// A row per GPU, made of the counters of a group: the largest few, and the others together.
Chart stacked(const Comparison& c, std::string id, std::string title, std::string note, Axis axis,
              std::string_view group, Unit unit) {
  Chart chart;
  chart.kind = Kind::stacked;
  chart.id = std::move(id);
  chart.title = std::move(title);
  chart.note = std::move(note);
  chart.label_head = "GPU";
  chart.value = std::move(axis);
  std::vector<std::vector<Figure>> all;
  for (std::size_t i = 0; i < c.reports.size(); ++i) {
    chart.labels.push_back(c.variants[i].label);
    all.push_back(figures_of(c.reports[i], group));
  }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t part = 0; part < all.front().size(); ++part) {
    double most = 0;
    for (const std::vector<Figure>& one : all) most = std::max(most, one[part].value);
    if (most > 0) order.emplace_back(-most, part);
  }
  std::ranges::stable_sort(order, {}, &std::pair<double, std::size_t>::first);
  Series rest{"others", "muted", std::vector<Bar>(all.size()), Mark::points, {}};
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t part = order[place].second;
    if (place >= parts_shown) {
      for (std::size_t i = 0; i < all.size(); ++i) rest.bars[i].value += all[i][part].value;
      continue;
    }
    Series series{all.front()[part].name, fmt::format("s{}", place + 1), {}, Mark::points, {}};
    for (const std::vector<Figure>& one : all) series.bars.push_back({one[part].value, one[part].text, "", 0});
    chart.series.push_back(std::move(series));
  }
  if (order.size() > parts_shown) {
    for (Bar& bar : rest.bars) bar.text = report::figure(bar.value, unit);
    chart.series.push_back(std::move(rest));
  }
  return chart;
}

Chart waterfall_chart(const compare::Waterfall& w, std::size_t number) {
  Chart chart;
  chart.id = fmt::format("waterfall-{}", number);
  chart.title = fmt::format("From {} to {}: {} times the run time", w.from, w.to, report::three_digits(w.ratio()));
  chart.note = "Groups of keys exchanged one after the other, and the run time after each.";
  chart.label_head = "step";
  chart.value = {"time", false, 0, std::nullopt, "us"};
  chart.series.emplace_back();
  const auto add = [&](const std::string& label, double from, double to, const std::string& text,
                       const std::string& colour) {
    chart.labels.push_back(label);
    chart.series.front().bars.push_back({to, text, colour, from});
  };
  add(w.from, 0, w.from_us, report::figure(w.from_us, Unit::microseconds), "muted");
  double before = w.from_us;
  for (const compare::Step& step : w.steps) {
    const bool same = step.ratio > 0.9995 && step.ratio < 1.0005;
    add("+ " + step.group, before, step.time_us,
        fmt::format("x {:.3f}  {}", step.ratio, report::figure(step.time_us, Unit::microseconds)),
        same             ? "muted"
        : step.ratio < 1 ? "good"
                         : "bad");
    before = step.time_us;
  }
  add(w.to, 0, w.to_us, report::figure(w.to_us, Unit::microseconds), "muted");
  return chart;
}

Table results_table(const Comparison& c) {
  Table table{{"GPU", "time", "90 % of measured times", "speed", "TFLOP/s", "of peak", "clock", "power", "energy",
               "TFLOP/s per W", "limited by", "of roof", "kernel"},
              {}};
  for (std::size_t i = 0; i < c.reports.size(); ++i) {
    const SimReport& r = c.reports[i];
    const double speed = c.reports.front().time_us / r.time_us;
    const auto cell = [](double value, Unit unit) { return Cell{report::figure(value, unit), value}; };
    table.rows.push_back({{c.variants[i].label + (c.variants[i].what_if.empty() ? "" : ": ") + c.variants[i].what_if},
                          cell(r.time_us, Unit::microseconds),
                          {report::interval_text(r)},
                          {report::three_digits(speed) + "x", speed},
                          {report::three_digits(r.tflops), r.tflops},
                          cell(r.pct_of_peak, Unit::percent),
                          cell(r.sm_clock_mhz, Unit::megahertz),
                          cell(r.power_w, Unit::watts),
                          cell(r.energy_mj, Unit::millijoules),
                          {report::three_digits(r.tflops_per_w), r.tflops_per_w},
                          {r.bottleneck.name},
                          {fmt::format("{:.0f} % {}", r.bottleneck.share_of_roof_pct, r.bottleneck.roof),
                           r.bottleneck.share_of_roof_pct},
                          {r.kernel.name.empty() ? tune::configuration_text(r.kernel) : r.kernel.name}});
  }
  return table;
}

Table differences_table(const Comparison& c) {
  Table table{{"key"}, {}};
  for (const compare::Variant& one : c.variants) table.head.push_back(one.label);
  for (const arch::Difference& difference : c.differences) {
    std::vector<Cell> row{{std::string(difference.field->key)}};
    for (const arch::Value& value : difference.values) row.push_back({arch::format_value(*difference.field, value)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string list_of(const Comparison& c) {
  std::string text;
  for (const compare::Variant& one : c.variants) text += (text.empty() ? "" : ", ") + one.label;
  return text;
}

}  // namespace

std::string compare_report(const Comparison& c) {
  Page page("NoteG comparison", list_of(c), report::problem_text(c.reports.front()) + ".");
  const auto fastest = std::ranges::min_element(c.reports, {}, &SimReport::time_us);
  const auto thriftiest = std::ranges::min_element(c.reports, {}, &SimReport::energy_mj);
  const auto label = [&](auto one) { return c.variants[static_cast<std::size_t>(one - c.reports.begin())].label; };
  page.verdict(fmt::format("{} is the fastest with {}; {} needs the least energy with {}.", label(fastest),
                           figure_of(*fastest, "time_us"), label(thriftiest), figure_of(*thriftiest, "energy_mj")));
  page.section("Side by side");
  page.add("Results", results_table(c), true, "Speed is against the first.");
  page.add(per_gpu(c, "time", "Run time", {"time", false, 0, std::nullopt, "us"}, "time_us"));
  page.add(per_gpu(c, "energy-per-run", "Energy of a run", {"energy", false, 0, std::nullopt, "mJ"}, "energy_mj"));
  std::vector<RooflineRun> runs;
  for (std::size_t i = 0; i < std::min(gpus_on_roofline, c.reports.size()); ++i)
    runs.push_back({c.variants[i].label, &c.variants[i].gpu, &c.reports[i]});
  page.add(roofline_chart(runs));
  page.add(per_gpu(c, "of-peak", "Share of peak", {"percent of what the pipes could do at this clock", false, 0, 100},
                   "pct_of_peak"));
  if (!c.waterfalls.empty()) page.section("What each difference did");
  for (std::size_t i = 0; i < c.waterfalls.size(); ++i) page.add(waterfall_chart(c.waterfalls[i], i + 1));
  page.section("Where time and energy go");
  page.add(stacked(c, "stalls", "What resident warps do", "Share of warp cycles.",
                   {"share of warp cycles", false, 0, 1, "share"}, "stalls", Unit::fraction));
  page.add(stacked(c, "phases", "Phases of the run", "", {"time", false, 0, std::nullopt, "us"}, "phases_us",
                   Unit::microseconds));
  page.add(stacked(c, "energy", "Energy by part of the board", "", {"energy", false, 0, std::nullopt, "mJ"},
                   "energy_by_component_mj", Unit::millijoules));
  if (!c.differences.empty()) {
    page.section("What differs in the files");
    page.add("Keys with different values", differences_table(c), c.differences.size() <= 12);
  }
  page.footer(
      "Simulated, not measured. The order of a waterfall's steps is fixed; another order would share gains out "
      "differently where two limits meet, the whole stays the same.");
  return page.take();
}

}  // namespace noteg::pages
