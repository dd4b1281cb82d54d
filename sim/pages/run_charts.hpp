// Charts of one simulated run. Figures come from the table of counters (sim/report/counters.hpp), so that page, text
// and JSON say the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arch/spec.hpp"
#include "sim/gpu/limits/explain.hpp"
#include "sim/gpu/report.hpp"
#include "sim/pages/chart.hpp"
#include "sim/pages/page.hpp"
#include "sim/report/counters.hpp"

namespace noteg::pages {

// One counter of a group with its value: "long_scoreboard", 0.28, "28.1 %".
struct Figure {
  std::string name, text, sentence;
  double value = 0;
};
[[nodiscard]] std::vector<Figure> figures_of(const gpu::SimReport& report, std::string_view group);
[[nodiscard]] std::string figure_of(const gpu::SimReport& report, std::string_view counter);

[[nodiscard]] std::vector<Tile> headline_tiles(const gpu::SimReport& report);
[[nodiscard]] std::string verdict_of(const gpu::SimReport& report);

[[nodiscard]] Chart phases_chart(const gpu::SimReport& report);
[[nodiscard]] Chart stalls_chart(const gpu::SimReport& report);
[[nodiscard]] Chart pipes_chart(const gpu::SimReport& report);
[[nodiscard]] Chart energy_chart(const gpu::SimReport& report);
[[nodiscard]] Chart instructions_chart(const gpu::SimReport& report);
[[nodiscard]] Chart traffic_chart(const gpu::SimReport& report);
[[nodiscard]] Chart occupancy_chart(const arch::GpuSpec& gpu, const gpu::SimReport& report);
[[nodiscard]] Chart limits_chart(const gpu::Explanation& explanation);

[[nodiscard]] Table counters_table(const gpu::SimReport& report);

// The roofline of one or several GPUs with a run on each: what the pipes, L2 and DRAM allow at each arithmetic
// intensity, and where the run lies. Roofs are at the clock of the run; the memory roofs are what reads can reach, not
// what the pins could carry.

struct RooflineRun {
  std::string label;
  const arch::GpuSpec* gpu = nullptr;
  const gpu::SimReport* report = nullptr;
};

// With a single run the L2 roof is drawn too, and the run once more at its operations per byte of L2 traffic.
[[nodiscard]] Chart roofline_chart(const std::vector<RooflineRun>& runs);

}  // namespace noteg::pages
