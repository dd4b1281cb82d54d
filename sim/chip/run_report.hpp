// What a finished run says of itself: times, phases, counters, roofline, bottleneck.
#pragma once

#include "kernels/ir.hpp"
#include "sim/chip/bottleneck.hpp"
#include "sim/chip/occupancy.hpp"
#include "sim/chip/report.hpp"
#include "sim/chip/run.hpp"

namespace noteg::chip {

// Everything but power, bottleneck and confidence.
[[nodiscard]] SimReport report_of(const Run& run, const kernels::Program& program, const CtaResources& resources,
                                  const SmOccupancy& occupancy);

// Microseconds that each unit would take if it were alone.
[[nodiscard]] Limits limits_of(const SimReport& report, const Run& run);

}  // namespace noteg::chip
