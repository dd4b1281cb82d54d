// Cycles per iteration of the main loop against an H200: the slope between two depths K, so that launch, prologue and
// epilogue drop out. One CTA alone, one on each SM, and full SMs.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

#include "arch/load.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/support/arithmetic.hpp"
#include "sim/validate/measured_case.hpp"
#include "sim/validate/measured_file.hpp"

namespace noteg::validate {
namespace {

struct Point {
  double k = 0, measured_cycles = 0, model_cycles = 0;
};

struct Slope {
  std::string kernel, mode;
  double from_k = 0, to_k = 0, measured = 0, model = 0;  // cycles per iteration

  [[nodiscard]] double error() const { return model / measured - 1; }
};

std::vector<Slope> slopes_of(const std::string& kernel, const std::string& mode, double tile_k,
                             const std::vector<Point>& points) {
  std::vector<Slope> out;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point &a = points[i - 1], &b = points[i];
    const double iterations = (b.k - a.k) / tile_k;
    out.push_back({kernel, mode, a.k, b.k, (b.measured_cycles - a.measured_cycles) / iterations,
                   (b.model_cycles - a.model_cycles) / iterations});
  }
  return out;
}

std::vector<Slope> all_slopes() {
  std::vector<Slope> out;
  const Result<MeasuredData> data = read_measured({NOTEG_SOURCE_DIR "/tests/data/h200_single_cta.csv"});
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  EXPECT_TRUE(data && gpu);
  if (!data || !gpu) return out;
  gpu::SmCache cache;
  std::map<std::pair<std::string, std::string>, std::pair<double, std::vector<Point>>> points;
  for (const MeasuredRow& row : data->rows) {
    const CaseOrReason measured = case_of(*data, row);
    const auto* one = std::get_if<MeasuredCase>(&measured);
    EXPECT_NE(one, nullptr) << row.row;
    if (one == nullptr) continue;
    const Result<gpu::SimReport> report = gpu::simulate(*gpu, one->config, one->shape, one->options, cache);
    EXPECT_TRUE(report) << to_string(report.errors());
    if (!report) continue;
    RowView view(*data, row);
    auto& [tile_k, list] = points[{std::string(view.text("kernel_name")), std::string(view.text("mode"))}];
    tile_k = static_cast<double>(one->config.tile.k);
    list.push_back({static_cast<double>(one->shape.k), view.positive("cycles").value_or(0), report->cycles});
  }
  for (const auto& [name, entry] : points) {
    for (const Slope& slope : slopes_of(name.first, name.second, entry.first, entry.second)) out.push_back(slope);
  }
  return out;
}

std::vector<double> errors_of(const std::vector<Slope>& slopes, std::string_view mode) {
  std::vector<double> out;
  for (const Slope& slope : slopes)
    if (mode.empty() || slope.mode == mode) out.push_back(std::abs(slope.error()));
  return out;
}

TEST(MainLoop, CyclesPerIterationFollowTheHardware) {
  const std::vector<Slope> slopes = all_slopes();
  ASSERT_EQ(slopes.size(), 174U);
  for (const Slope& s : slopes)
    fmt::print("{:>45} {:>20} {:>5} to {:>5}: measured {:8.1f} model {:8.1f} {:+6.1f} %\n", s.kernel, s.mode, s.from_k,
               s.to_k, s.measured, s.model, 100 * s.error());
  for (const std::string_view mode : {"single_cta", "one_cta_per_sm", "full_occupancy_wave", ""}) {
    const std::vector<double> errors = errors_of(slopes, mode);
    fmt::print("{:>20}: {} slopes, median {:.1f} %, nine in ten within {:.1f} %, worst {:.1f} %\n",
               mode.empty() ? "all" : mode, errors.size(), 100 * quantile(errors, 0.5), 100 * quantile(errors, 0.9),
               100 * quantile(errors, 1));
  }
  // The level that is reached; docs/assembly.md has the aim and what is missing.
  EXPECT_LT(quantile(errors_of(slopes, ""), 0.5), 0.050);
  EXPECT_LT(quantile(errors_of(slopes, ""), 0.9), 0.105);
}

}  // namespace
}  // namespace noteg::validate
