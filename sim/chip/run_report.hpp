// What a finished run says of itself: times, phases, counters, roofline, bottleneck.
#pragma once

#include "kernels/ir.hpp"
#include "sim/chip/occupancy.hpp"
#include "sim/chip/report.hpp"
#include "sim/chip/run.hpp"

namespace noteg::chip {

// Everything but power, clock and confidence.
[[nodiscard]] SimReport report_of(const Run& run, const kernels::Program& program, const CtaResources& resources,
                                  const SmOccupancy& occupancy);

}  // namespace noteg::chip
