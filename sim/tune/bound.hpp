// A time that a configuration cannot beat, from its numbers alone: no program is built, nothing is simulated. The
// busiest SM's arithmetic at the pipes' rates, its way to L2, its shared-memory reads, and the compulsory DRAM traffic
// at pin speed, each at the highest clock. Where the main loop's instructions are known, what they keep busy as well.
#pragma once

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/tune/static_load.hpp"

namespace noteg::tune {

// resolved: a configuration that kernels::resolve() returned.
[[nodiscard]] Seconds lower_bound(const arch::GpuSpec& gpu, const kernels::KernelConfig& resolved,
                                  const kernels::GemmShape& shape, const gpu::SimOptions& sim = {},
                                  const StaticLoad* load = nullptr);

}  // namespace noteg::tune
