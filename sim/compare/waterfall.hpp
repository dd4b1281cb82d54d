// One GPU turned into another a group of fields at a time, with the run time after each step: what each difference
// between their files did. The order of the steps is fixed: the first GPU at its highest clock, then SM core, SM count,
// clock, L2 and DRAM at highest clocks, at last power: the limits of the board and the clock that they leave. So what
// the power limit takes stands in one place. Another order would share the gain out differently where two limits meet.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/derive.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::compare {

struct Step {
  std::string group;       // "SM core"; "SM core + SM count" where the machine between them cannot run the kernel
  int fields_changed = 0;  // of the group, whose values differ
  double time_us = 0;      // after the step
  double ratio = 1;        // to the time before it: below 1 is faster
};

struct Waterfall {
  std::string from, to;  // labels
  double from_us = 0, to_us = 0;
  std::vector<Step> steps;
  [[nodiscard]] double ratio() const { return to_us / from_us; }
};

// A GPU with the kernel that runs on it and how long it takes.
struct Side {
  std::string label;
  const arch::GpuSpec* gpu = nullptr;
  kernels::KernelConfig kernel;
  double time_us = 0;
};

using RunKernel = std::function<Result<double>(const arch::GpuSpec&, const kernels::KernelConfig&)>;  // microseconds

struct Runs {
  RunKernel as_asked;
  RunKernel at_burst;  // empty where the clock was given, or is the highest already: no step to it then
};

// Where the two sides run different kernels, one step more exchanges the kernel: before power, while the machines in
// between run the first one's kernel, else before the SM core.
[[nodiscard]] Waterfall waterfall(const Side& from, const Side& to, const Runs& run);

}  // namespace noteg::compare
