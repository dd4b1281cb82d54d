// What the instructions of a kernel's main loop keep busy, counted from the list before it is ordered: a bound that
// knows conflicts and narrow copies, for a tenth of what building the program costs.
#pragma once

#include <cstdint>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/support/result.hpp"

namespace noteg::tune {

// Of one warp in one iteration of the main loop.
struct StaticLoad {
  double address_cycles = 0;   // of the front of the SM's load/store path
  double front_cycles = 0;     // of the data stage behind it
  double sub_core_cycles = 0;  // of the way from its sub-core to that path
  double issued = 0;           // warp instructions
  int warps = 1;               // of a CTA
  int k_per_iteration = 1;
  int idle_iterations = 0;  // the last ones, whose copies are predicated off
};

// resolved: a configuration that kernels::resolve() returned. An error where no program can be built.
[[nodiscard]] Result<StaticLoad> static_load(const arch::GpuSpec& gpu, const kernels::KernelConfig& resolved,
                                             const kernels::GemmShape& shape);

// SM cycles that one CTA takes at least for a product `k` deep.
[[nodiscard]] double least_cycles(const StaticLoad& load, std::int64_t k, int sub_cores);

// A time that a configuration cannot beat, from its numbers alone: no program is built, nothing is simulated. The
// busiest SM's arithmetic at the pipes' rates, its way to L2, its shared-memory reads, and the compulsory DRAM traffic
// at pin speed, each at the highest clock. Where the main loop's instructions are known, what they keep busy as well.

// resolved: a configuration that kernels::resolve() returned.
[[nodiscard]] Seconds lower_bound(const arch::GpuSpec& gpu, const kernels::KernelConfig& resolved,
                                  const kernels::GemmShape& shape, const gpu::SimOptions& sim = {},
                                  const StaticLoad* load = nullptr);

// A time that is likely, from the same numbers: CTAs that are resident together hide each other's waits, stages hide
// latency, tails and slices of K cost. It orders configurations (tune's `quick`); nobody reports it.
[[nodiscard]] Seconds estimate(const arch::GpuSpec& gpu, const kernels::KernelConfig& resolved,
                               const kernels::GemmShape& shape, const gpu::SimOptions& sim = {},
                               const StaticLoad* load = nullptr);

}  // namespace noteg::tune
