// What each limit costs a run: the run as it is, and again with one limit taken away at a time. The dearest one is the
// run's bottleneck; a plain `noteg simulate` asks for that alone, --explain for the whole table.
#pragma once

#include <string>
#include <vector>

#include "sim/gpu/simulate.hpp"

namespace noteg::gpu {

struct LimitCost {
  std::string limit;    // a name that Bottleneck::name may have
  std::string removed;  // what was done, as --set would say it
  double time_us = 0;   // without the limit; never more than with it
  double gain_us = 0;
  double clock_mhz = 0;    // that the board then has
  double pct_of_peak = 0;  // 0..100, of the pipes at that clock
  [[nodiscard]] double speedup() const { return time_us > 0 ? (time_us + gain_us) / time_us : 1; }
};

// The run time as a sum: what the roof takes at the highest clock, what is lost because the clock is held lower, and
// what is lost below the roof at the clock that the run has.
struct RoofToRun {
  double roof_us = 0, clock_us = 0, below_us = 0;
};

struct Explanation {
  SimReport report;              // as the kernel is; its bottleneck is the first of the limits
  std::vector<LimitCost> costs;  // largest gain first; of Experiments::decisive those that were needed
  RoofToRun steps;
};

// decisive: only those that may name the bottleneck, and what keeps the run below its roof. The same bottleneck in
// both.
enum class Experiments : std::uint8_t { decisive, all };

// An experiment changes how fast the machine is, not what it has to do. A pilot run of one wave on both machines says
// how much fewer cycles the busiest SM needs,
//   T'(L) = T(L) * pilot cycles without the limit / pilot cycles with it,
// and the clock f then settles anew under the board's limits with the events of the run in that time. What is gained is
// thus what the user would gain; where power holds the clock, a faster pipe gains little.
// A limit never gains more than the time in which it may have been in the way (limit_bound), and none but the roof
// itself brings the run above its roof. Gains of different limits do not add up: two that bind together both look
// cheap. An instruction needs register ports, an issue slot and lanes, often just enough of each; these three are
// therefore taken away one after the other, and each counts what it gains with the ones before it out of the way. So
// are DRAM and L2: whoever has no limit in L2 asks DRAM for nothing.
// run: what simulate_launch() gave for these options.
[[nodiscard]] Explanation explain_launch(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimReport& run,
                                         const SimOptions& options, SmCache& cache, Experiments experiments);

// A GEMM, simulated and explained.
[[nodiscard]] Result<Explanation> explain(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                          const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache,
                                          Experiments experiments);

}  // namespace noteg::gpu
