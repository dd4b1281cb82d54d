// What each limit costs a run: the run as it is, and again with one limit taken away at a time.
#pragma once

#include <string>
#include <vector>

#include "sim/chip/simulate.hpp"

namespace noteg::chip {

struct LimitCost {
  std::string limit;    // a name that Bottleneck::name may have
  std::string removed;  // what was done, as --set would say it
  double time_us = 0;   // without the limit; never more than with it
  double gain_us = 0;
  [[nodiscard]] double speedup() const { return time_us > 0 ? (time_us + gain_us) / time_us : 1; }
};

struct Explanation {
  SimReport report;              // as the kernel is; its bottleneck is the first of the limits
  std::vector<LimitCost> costs;  // largest gain first
};

// Gains of different limits do not add up: two that bind together both look cheap. An instruction needs register ports,
// an issue slot and lanes, often just enough of each; these three are therefore taken away one after the other, and
// each counts what it gains with the ones before it out of the way.
[[nodiscard]] Result<Explanation> explain(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                          const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache);

}  // namespace noteg::chip
