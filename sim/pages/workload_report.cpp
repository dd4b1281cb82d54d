#include "sim/pages/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "sim/pages/page.hpp"
#include "sim/report/write.hpp"

namespace noteg::pages {
namespace {

using report::figure;
using report::three_digits;
using report::Unit;
using workload::CaseResult;
using workload::OperationResult;

constexpr std::size_t operations_shown = 7, cases_drawn = 24, gpus_drawn = 4, dots_shown = 400;

std::string time_text(double us) { return figure(us, Unit::microseconds); }
std::string energy_text(double mj) { return figure(mj, Unit::millijoules); }

using Part = double (*)(const OperationResult&);

// Names of operations by what they cost over all cases, dearest first.
std::vector<std::string> dearest(const workload::Results& results, Part part) {
  std::map<std::string, double> sums;
  for (const CaseResult& r : results.cases)
    for (const OperationResult& o : r.operations) sums[o.operation->name] += part(o);
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, sum] : sums) order.emplace_back(-sum, name);
  std::ranges::sort(order);
  std::vector<std::string> names;
  for (const auto& [sum, name] : order)
    if (names.size() < operations_shown) names.push_back(name);
  return names;
}

// A row per case, its operations end to end.
Chart stacked(const workload::Results& results, std::string id, std::string title, const Axis& axis, Part part,
              Unit unit) {
  Chart chart;
  chart.kind = Kind::stacked;
  chart.id = std::move(id);
  chart.title = std::move(title);
  chart.note = "The dearest operations, and the others together.";
  chart.label_head = "case";
  chart.value = axis;
  chart.wide = true;
  std::vector<std::string> names = dearest(results, part);
  names.emplace_back();  // the others
  const std::size_t count = std::min(cases_drawn, results.cases.size());
  for (std::size_t c = 0; c < count; ++c) chart.labels.push_back(label_of(results.cases[c]));
  for (std::size_t n = 0; n < names.size(); ++n) {
    const bool rest = names[n].empty();
    Series series{rest ? "others" : names[n], rest ? "muted" : fmt::format("s{}", n + 1), {}, Mark::points, {}};
    for (std::size_t c = 0; c < count; ++c) {
      double sum = 0;
      for (const OperationResult& o : results.cases[c].operations) {
        const bool named = std::ranges::find(names, o.operation->name) != names.end();
        if (rest ? !named : o.operation->name == names[n]) sum += part(o);
      }
      series.bars.push_back({sum, figure(sum, unit), "", 0});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

double tflops_of(const OperationResult& o) { return o.flops / o.time_us * 1e-6; }

// Operations that multiply, as dots under what DRAM allows; pipes are not drawn: each type has its own.
Chart roofline(const workload::Results& results) {
  Chart chart;
  chart.kind = Kind::xy;
  chart.id = "roofline";
  chart.title = "Roofline of all operations";
  chart.note = "Lines: what DRAM allows at each arithmetic intensity. Dots: operations that multiply.";
  chart.wide = true;
  double low = 1e300, high = 0;
  std::vector<Series> dots;
  std::set<std::string> gpus;
  for (const CaseResult& r : results.cases) {
    if (!gpus.contains(r.of->gpu) && gpus.size() == gpus_drawn) continue;
    if (gpus.insert(r.of->gpu).second)
      dots.push_back({r.of->gpu, fmt::format("s{}", gpus.size()), {}, Mark::points, {}});
    Series& series = *std::ranges::find(dots, r.of->gpu, &Series::name);
    for (const OperationResult& o : r.operations) {
      if (o.flops <= 0 || o.dram_bytes <= 0 || series.dots.size() >= dots_shown) continue;
      const double x = o.flops / o.dram_bytes, y = tflops_of(o);
      low = std::min(low, x), high = std::max(high, x);
      series.dots.push_back(
          {x, y, figure(x, Unit::flop_per_byte), figure(y, Unit::tflops), o.operation->name + ", " + label_of(r)});
    }
  }
  if (high <= 0) return chart;
  low /= 3, high *= 3;
  std::set<std::string> drawn;
  for (const CaseResult& r : results.cases) {
    const auto at = std::ranges::find(dots, r.of->gpu, &Series::name);
    if (at == dots.end() || !drawn.insert(r.of->gpu).second) continue;
    const arch::DramSpec& dram = r.of->machine.gpu.dram;
    const double tb = dram.bandwidth.value * dram.read_efficiency * 1e-12;
    Series line{"DRAM of " + r.of->gpu, at->colour, {}, Mark::line, {}};
    for (const double x : {low, high})
      line.dots.push_back({x, tb * x, figure(x, Unit::flop_per_byte), figure(tb * x, Unit::tflops), "DRAM"});
    line.reference = true;
    chart.series.push_back(std::move(line));
  }
  for (Series& series : dots) chart.series.push_back(std::move(series));
  chart.x = {"FLOP per byte of DRAM", true, low, high};
  chart.value = {"TFLOP/s", true};
  return chart;
}

bool is_beaten(const CaseResult& one, const std::vector<CaseResult>& all) {
  return std::ranges::any_of(all, [&](const CaseResult& other) {
    return other.step == one.step && other.time_us <= one.time_us && other.energy_mj <= one.energy_mj &&
           (other.time_us < one.time_us || other.energy_mj < one.energy_mj);
  });
}

Chart pareto(const workload::Results& results) {
  Chart chart;
  chart.kind = Kind::xy;
  chart.id = "pareto";
  chart.title = "Time against energy";
  chart.note = "Down and to the left is better; of the same step no other case beats a best one in both.";
  chart.wide = true;
  Series best{"best", "s3", {}, Mark::points, {}}, others{"others", "s1", {}, Mark::points, {}};
  best.labelled = results.cases.size() <= cases_drawn;
  for (const CaseResult& r : results.cases)
    (is_beaten(r, results.cases) ? others : best)
        .dots.push_back({r.time_us, r.energy_mj, time_text(r.time_us), energy_text(r.energy_mj), label_of(r)});
  chart.x = {"time", true, std::nullopt, std::nullopt, "us"};
  chart.value = {"energy", true, std::nullopt, std::nullopt, "mJ"};
  chart.series = {std::move(others), std::move(best)};
  return chart;
}

Table cases_table(const workload::Results& results) {
  Table table{{"case", "time", "energy", "power", "tokens/s", "J/token", "fits its memory"}, {}};
  for (const CaseResult& r : results.cases)
    table.rows.push_back({{label_of(r)},
                          {time_text(r.time_us), r.time_us},
                          {energy_text(r.energy_mj), r.energy_mj},
                          {figure(r.power_w(), Unit::watts), r.power_w()},
                          {three_digits(r.tokens_per_second()), r.tokens_per_second()},
                          {three_digits(r.joules_per_token()), r.joules_per_token()},
                          {r.fits() ? "yes" : "no"}});
  return table;
}

Table operations_table(const CaseResult& r) {
  Table table{{"operation", "shape", "times", "each", "all", "share", "energy", "TFLOP/s", "limited by", "kernel"}, {}};
  for (const OperationResult& o : r.operations)
    table.rows.push_back({{o.operation->name},
                          {shape_text(*o.operation)},
                          {fmt::format("{:.0f}", o.count), o.count},
                          {time_text(o.each_us()), o.each_us()},
                          {time_text(o.time_us), o.time_us},
                          {figure(o.time_us / r.time_us, Unit::fraction), o.time_us / r.time_us},
                          {energy_text(o.energy_mj), o.energy_mj},
                          {o.flops > 0 ? three_digits(tflops_of(o)) : "", o.flops > 0 ? tflops_of(o) : 0},
                          {o.limiter},
                          {o.kernel}});
  return table;
}

}  // namespace

std::string workload_report(const workload::Results& results, const workload::Heading& heading) {
  std::string lead;
  for (const std::string& note : heading.notes) lead += (lead.empty() ? "" : " ") + note + ".";
  Page page("NoteG workload", heading.title, lead);
  const auto by = [](auto figure_of) {
    return [=](const CaseResult& a, const CaseResult& b) { return figure_of(a) < figure_of(b); };
  };
  const CaseResult& fastest =
      *std::ranges::min_element(results.cases, by([](const CaseResult& r) { return r.time_us; }));
  const CaseResult& thriftiest =
      *std::ranges::min_element(results.cases, by([](const CaseResult& r) { return r.energy_mj; }));
  page.tiles({{"fastest", time_text(fastest.time_us), label_of(fastest)},
              {"least energy", energy_text(thriftiest.energy_mj), label_of(thriftiest)},
              {"launches", std::to_string(results.launches), fmt::format("{} distinct", results.distinct)}});
  page.section("All cases");
  page.add("Cases", cases_table(results), results.cases.size() <= cases_drawn);
  page.add(stacked(
      results, "time", "Time by operation", {"time", false, 0, std::nullopt, "us"},
      [](const OperationResult& o) { return o.time_us; }, Unit::microseconds));
  page.add(stacked(
      results, "energy", "Energy by operation", {"energy", false, 0, std::nullopt, "mJ"},
      [](const OperationResult& o) { return o.energy_mj; }, Unit::millijoules));
  page.add(roofline(results));
  if (results.cases.size() > 1) page.add(pareto(results));
  page.section("Operations");
  for (std::size_t c = 0; c < std::min(cases_drawn, results.cases.size()); ++c)
    page.add(label_of(results.cases[c]), operations_table(results.cases[c]), c == 0);
  if (results.cases.size() > cases_drawn)
    page.footer(fmt::format("Charts and operations of the first {} cases; the first table has all.", cases_drawn));
  page.footer("Simulated, not measured. Limits are estimates; operations of several kernels are sums of these.");
  return page.take();
}

}  // namespace noteg::pages
