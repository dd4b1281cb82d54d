// From the busiest SM to the events of the whole GPU.
#pragma once

#include "kernels/ir.hpp"
#include "sim/chip/power_use.hpp"
#include "sim/chip/run.hpp"

namespace noteg::chip {

// CTAs are alike, so each counts as often as there are CTAs.
[[nodiscard]] core::CoreCounters chip_counters(const Run& run, const kernels::Program& program);

[[nodiscard]] ChipEvents chip_events(const Run& run, const kernels::Program& program);

}  // namespace noteg::chip
