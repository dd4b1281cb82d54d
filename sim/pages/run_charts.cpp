#include "sim/pages/run_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/gpu/occupancy.hpp"
#include "sim/report/write.hpp"

namespace noteg::pages {
namespace {

using gpu::SimReport;
using report::Unit;

constexpr std::size_t opcodes_shown = 10;

Chart bars(std::string id, std::string title, std::string note, std::string head, const std::vector<Figure>& figures) {
  Chart chart;
  chart.id = std::move(id);
  chart.title = std::move(title);
  chart.note = std::move(note);
  chart.label_head = std::move(head);
  chart.series.emplace_back();
  for (const Figure& figure : figures) {
    chart.labels.push_back(figure.name);
    chart.series.front().bars.push_back({figure.value, figure.text, "", 0});
  }
  return chart;
}

void largest_first(std::vector<Figure>& figures) { std::ranges::stable_sort(figures, std::greater{}, &Figure::value); }

std::string in_words(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

void drop_zeros(std::vector<Figure>& figures) {
  std::erase_if(figures, [](const Figure& figure) { return figure.value <= 0; });
}

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string("-");
}

}  // namespace

std::vector<Figure> figures_of(const SimReport& report, std::string_view group) {
  std::vector<Figure> out;
  for (const report::Counter& counter : report::counter_table()) {
    if (counter.group() != group) continue;
    const report::Value value = counter.get(report);
    out.push_back(
        {std::string(counter.leaf()), report::figure(value, counter.unit), counter.sentence, report::number_of(value)});
  }
  return out;
}

std::string figure_of(const SimReport& report, std::string_view counter) {
  for (const report::Counter& each : report::counter_table())
    if (each.name == counter) return report::figure(each.get(report), each.unit);
  return "?";
}

std::vector<Tile> headline_tiles(const SimReport& r) {
  const auto figure = [&](std::string_view name) { return figure_of(r, name); };
  return {
      {"Run time", figure("time_us"),
       fmt::format("{} cycles at {}", report::figure(r.cycles, Unit::count), figure("sm_clock_mhz"))},
      {"Throughput", figure("tflops"), figure("pct_of_peak") + " of peak at this clock; " + figure("ipc") + " and SM"},
      {"Limited by", in_words(r.bottleneck.name), figure("bottleneck.speedup_if_removed") + " as fast without it"},
      {"Board power", figure("power_w"), r.throttled ? "held down by " + r.throttle_reason : r.clock_mode + " clock"},
      {"Energy", figure("energy_mj"), figure("tflops_per_w")},
      {"Trust", report::relative_interval_text(r),
       "holds 90 % of measured times: " + report::interval_text(r) + ", since " + r.confidence.because}};
}

std::string verdict_of(const SimReport& r) {
  return fmt::format("{} {}: {}. Without this limit it would run {} as fast.",
                     r.bottleneck.estimated ? "Limited, by estimate, by" : "Limited by", in_words(r.bottleneck.name),
                     r.bottleneck.because, figure_of(r, "bottleneck.speedup_if_removed"));
}

Chart phases_chart(const SimReport& r) {
  std::vector<Figure> figures = figures_of(r, "phases_us");
  for (Figure& figure : figures) figure.text += "  " + share(figure.value, r.phases_us.total());
  Chart chart =
      bars("phases", "Where the time goes", "Phases of the run; they add up to the run time.", "phase", figures);
  chart.value = {"time", false, 0, std::nullopt, "us"};
  chart.series.front().colour = "s1";
  return chart;
}

Chart stalls_chart(const SimReport& r) {
  std::vector<Figure> figures = figures_of(r, "stalls");
  largest_first(figures);
  drop_zeros(figures);
  Chart chart =
      bars("stalls", "What resident warps do",
           "Share of warp cycles: issuing (selected), or waiting and for what. Waits by design, grey, cost no "
           "time. The shares add up to 1.",
           "warp state", figures);
  chart.value = {"share of warp cycles", false, 0, std::nullopt, "share"};
  chart.series.front().colour = "s2";
  for (std::size_t i = 0; i < chart.labels.size(); ++i)
    if (chart.labels[i] == "selected")
      chart.series.front().bars[i].colour = "s3";
    else if (chart.labels[i] == "by_design")
      chart.series.front().bars[i].colour = "muted";
  return chart;
}

Chart pipes_chart(const SimReport& r) {
  Chart chart = bars("pipes", "How busy the pipes are", "Busy share over the whole run, mean over all SMs.", "pipe",
                     figures_of(r, "pipes"));
  chart.value = {"busy share", false, 0, 1, "share"};
  chart.series.front().colour = "s3";
  return chart;
}

Chart energy_chart(const SimReport& r) {
  std::vector<Figure> figures = figures_of(r, "energy_by_component_mj");
  largest_first(figures);
  drop_zeros(figures);
  for (Figure& figure : figures) figure.text += "  " + share(figure.value, r.energy_mj);
  Chart chart = bars("energy", "Where the energy goes", "Parts of the board; they add up to power times run time.",
                     "part of the board", figures);
  chart.value = {"energy", false, 0, std::nullopt, "mJ"};
  chart.series.front().colour = "s4";
  return chart;
}

Chart instructions_chart(const SimReport& r) {
  std::vector<Figure> figures;
  for (const auto& [opcode, count] : r.instructions_by_opcode)
    figures.push_back(
        {opcode, report::figure(count, Unit::count) + "  " + share(count, r.warp_instructions), "", count});
  largest_first(figures);
  if (figures.size() > opcodes_shown) {
    Figure rest{"others", "", "", 0};
    for (std::size_t i = opcodes_shown; i < figures.size(); ++i) rest.value += figures[i].value;
    rest.text = report::figure(rest.value, Unit::count) + "  " + share(rest.value, r.warp_instructions);
    figures.resize(opcodes_shown);
    figures.push_back(rest);
  }
  Chart chart = bars("instructions", "Which instructions run",
                     figure_of(r, "instructions.warp_total") + " warp instructions in all.", "opcode", figures);
  chart.value = {"warp instructions", false, 0, std::nullopt};
  chart.series.front().colour = "s5";
  return chart;
}

Chart traffic_chart(const SimReport& r) {
  std::vector<Figure> figures;
  for (const Figure& figure : figures_of(r, "memory"))
    if (figure.name.ends_with("_bytes")) figures.push_back(figure);
  for (Figure& figure : figures) figure.name.resize(figure.name.size() - std::string_view("_bytes").size());
  Chart chart =
      bars("traffic", "How much data moves",
           fmt::format("Over the whole run. {} of the look-ups in L2 hit.", figure_of(r, "memory.l2_hit_rate")),
           "between", figures);
  chart.value = {"data", false, 0, std::nullopt, "B"};
  chart.series.front().colour = "s7";
  return chart;
}

Chart occupancy_chart(const arch::GpuSpec& gpu, const SimReport& r) {
  const int threads = r.occupancy.ctas_per_sm > 0 ? 32 * r.occupancy.warps_per_sm / r.occupancy.ctas_per_sm : 32;
  std::vector<Figure> figures;
  for (const auto& [ctas, limiter] :
       gpu::ctas_by_resource(gpu.sm.occupancy, {threads, r.registers_per_thread, r.shared_bytes_per_cta})) {
    const int shown = std::min(ctas, gpu.sm.occupancy.max_ctas);
    figures.push_back({std::string(name_of(limiter)), fmt::format("{} CTA{}", shown, shown == 1 ? "" : "s"), "",
                       static_cast<double>(shown)});
  }
  Chart chart = bars(
      "occupancy", "What keeps more CTAs out",
      fmt::format(
          "CTAs per SM that each resource alone would allow. Resident: {} CTAs with {} of {} warps, limited by {}; {}.",
          r.occupancy.ctas_per_sm, r.occupancy.warps_per_sm, gpu.sm.occupancy.max_warps, name_of(r.occupancy.limiter),
          report::grid_text(r)),
      "resource", figures);
  chart.value = {"CTAs per SM", false, 0, std::nullopt};
  chart.series.front().colour = "muted";
  for (std::size_t i = 0; i < chart.labels.size(); ++i)
    if (chart.labels[i] == name_of(r.occupancy.limiter)) chart.series.front().bars[i].colour = "s6";
  return chart;
}

Chart limits_chart(const gpu::Explanation& explanation) {
  std::vector<Figure> figures;
  for (const gpu::LimitCost& cost : explanation.costs)
    figures.push_back({cost.limit,
                       fmt::format("{}  {}", report::figure(cost.gain_us, Unit::microseconds),
                                   share(cost.gain_us, explanation.report.time_us)),
                       "", cost.gain_us});
  drop_zeros(figures);
  Chart chart = bars("limits", "What each limit costs",
                     "Time gained with this limit taken away, one at a time; gains do not add up. Limits that cost "
                     "nothing are left out.",
                     "limit", figures);
  chart.value = {"time gained", false, 0, std::nullopt, "us"};
  chart.series.front().colour = "s6";
  return chart;
}

Table counters_table(const SimReport& r) {
  Table table{{"counter", "value", "what it says"}, {}};
  for (const report::Counter& counter : report::counter_table()) {
    const report::Value value = counter.get(r);
    Cell cell{report::figure(value, counter.unit)};
    if (!std::holds_alternative<std::string>(value) && !std::holds_alternative<bool>(value))
      cell.value = report::number_of(value);
    if (report::is_absent(counter, counter.get(r))) cell = {"none"};
    table.rows.push_back({{counter.name}, std::move(cell), {counter.sentence}});
  }
  return table;
}

namespace {

using report::Unit;

double peak_tflops(const gpu::SimReport& r) { return r.pct_of_peak > 0 ? 100 * r.tflops / r.pct_of_peak : r.tflops; }

// 10^12 bytes per second.
double dram_tb(const arch::GpuSpec& gpu) { return gpu.dram.bandwidth.value * gpu.dram.read_efficiency * 1e-12; }
double l2_tb(const arch::GpuSpec& gpu, const gpu::SimReport& r) {
  return gpu.l2.read_bandwidth.value * r.sm_clock_mhz * 1e6 * 1e-12;
}
double l2_intensity(const gpu::SimReport& r) { return r.memory.l2_bytes > 0 ? r.shape.flops() / r.memory.l2_bytes : 0; }

Dot dot(double intensity, double tflops, std::string label) {
  return {intensity, tflops, report::figure(intensity, Unit::flop_per_byte), report::figure(tflops, Unit::tflops),
          std::move(label)};
}

struct Range {
  double low = 1e300, high = 0;
  void hold(double value) {
    if (value <= 0 || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Series roof(const std::string& name, const std::string& colour, Mark mark, double bandwidth, double peak, Range x) {
  Series line{name, colour, {}, mark, {}};
  const double ridge = peak / bandwidth;
  line.dots.push_back(dot(x.low, std::min(peak, bandwidth * x.low), "left end"));
  if (ridge > x.low && ridge < x.high) line.dots.push_back(dot(ridge, peak, "ridge"));
  line.dots.push_back(dot(x.high, std::min(peak, bandwidth * x.high), "right end"));
  return line;
}

Range spread(const std::vector<RooflineRun>& runs) {
  Range x;
  for (const RooflineRun& run : runs) {
    x.hold(run.report->roofline.arithmetic_intensity);
    x.hold(peak_tflops(*run.report) / dram_tb(*run.gpu));
    if (runs.size() > 1) continue;
    x.hold(l2_intensity(*run.report));
    x.hold(peak_tflops(*run.report) / l2_tb(*run.gpu, *run.report));
  }
  return {x.low / 3, x.high * 3};
}

std::string colour_of(std::size_t place) { return fmt::format("s{}", place % 8 + 1); }

}  // namespace

Chart roofline_chart(const std::vector<RooflineRun>& runs) {
  Chart chart;
  chart.kind = Kind::xy;
  chart.id = "roofline";
  chart.title = "Roofline";
  chart.note =
      "What the pipes and the memories allow at each arithmetic intensity, at the clock of the run. A dot lies under "
      "the roof of its colour; the distance to it is what other limits cost.";
  const Range x = spread(runs);
  Range y;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const gpu::SimReport& r = *runs[i].report;
    const double peak = peak_tflops(r);
    const bool alone = runs.size() == 1;
    const std::string colour = alone ? "s1" : colour_of(i);  // of a roof and of the run under it
    Series at{alone ? "run, per DRAM byte" : runs[i].label, colour, {}, Mark::points, {}};
    at.labelled = alone;
    at.dots.push_back(dot(r.roofline.arithmetic_intensity, r.tflops,
                          alone ? "this run: " + report::figure(r.tflops, Unit::tflops) : runs[i].label));
    Series pipes =
        roof(alone ? "DRAM and pipes" : "roof of " + runs[i].label, colour, Mark::line, dram_tb(*runs[i].gpu), peak, x);
    pipes.legend = alone;
    chart.series.push_back(std::move(pipes));
    if (alone) {
      chart.series.push_back(roof("L2 and pipes", "s3", Mark::dashes, l2_tb(*runs[i].gpu, r), peak, x));
      if (l2_intensity(r) > 0) {
        Series l2{"run, per L2 byte", "s3", {}, Mark::points, {}};
        l2.dots.push_back(dot(l2_intensity(r), r.tflops, "this run, per byte of L2 traffic"));
        chart.series.push_back(std::move(l2));
      }
    }
    chart.series.push_back(std::move(at));
  }
  for (const Series& series : chart.series)
    for (const Dot& each : series.dots) y.hold(each.y);
  chart.x = {"FLOP per byte", true, x.low, x.high};
  chart.value = {"TFLOP/s", true, y.low / 1.6, y.high * 2};
  return chart;
}

}  // namespace noteg::pages
