#include "sim/pages/roofline_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/report/format.hpp"

namespace noteg::pages {
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
      "What the pipes and the memories allow at each arithmetic intensity, at the clock of the run, and where it "
      "lies. Distance to the roof above is what other limits cost.";
  const Range x = spread(runs);
  Range y;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const gpu::SimReport& r = *runs[i].report;
    const double peak = peak_tflops(r);
    const bool alone = runs.size() == 1;
    const std::string colour = alone ? "s1" : colour_of(i);
    Series at{alone ? "run, per DRAM byte" : runs[i].label, alone ? "s2" : colour, {}, Mark::points, {}};
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
