// From the busiest SM to the events of the whole GPU.
#pragma once

#include "kernels/ir/ir.hpp"
#include "sim/gpu/power_use.hpp"
#include "sim/gpu/run.hpp"

namespace noteg::gpu {

// CTAs are alike, so each counts as often as there are CTAs.
[[nodiscard]] sm::CoreCounters chip_counters(const Run& run, const kernels::Program& program);

[[nodiscard]] ChipEvents chip_events(const Run& run, const kernels::Program& program);

}  // namespace noteg::gpu
