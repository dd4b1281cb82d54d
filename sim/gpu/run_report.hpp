// What a finished run says of itself: times, phases, counters, roofline, bottleneck.
#pragma once

#include "kernels/ir/ir.hpp"
#include "sim/gpu/bottleneck.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/run.hpp"

namespace noteg::gpu {

// Everything but power, bottleneck and confidence.
[[nodiscard]] SimReport report_of(const Run& run, const kernels::Program& program, const CtaResources& resources,
                                  const SmOccupancy& occupancy);

// Microseconds that each unit would take if it were alone.
[[nodiscard]] Limits limits_of(const SimReport& report, const Run& run);

}  // namespace noteg::gpu
