// The roofline of one or several GPUs with a run on each: what the pipes, L2 and DRAM allow at each arithmetic
// intensity, and where the run lies. Roofs are at the clock of the run; the memory roofs are what reads can reach, not
// what the pins could carry.
#pragma once

#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "sim/gpu/report.hpp"
#include "sim/pages/chart.hpp"

namespace noteg::pages {

struct RooflineRun {
  std::string label;
  const arch::GpuSpec* gpu = nullptr;
  const gpu::SimReport* report = nullptr;
};

// With a single run the L2 roof is drawn too, and the run once more at its operations per byte of L2 traffic.
[[nodiscard]] Chart roofline_chart(const std::vector<RooflineRun>& runs);

}  // namespace noteg::pages
