// What a timed launch says of itself: times, phases, counters, occupancy, roofline.
#pragma once

#include "sim/gpu/limits/bottleneck.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::gpu {

// Everything but power, bottleneck, configuration and confidence.
[[nodiscard]] SimReport report_of(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options,
                                  const TimedKernel& timed);

// The report of the same work where it takes `time_us`, launch included: rates, shares of time and energies follow. The
// clock and what is executed and moved stay.
void change_time(SimReport& report, double time_us);

// Microseconds that each unit would take if it were alone.
[[nodiscard]] Limits limits_of(const SimReport& report, const arch::GpuSpec& gpu);

}  // namespace noteg::gpu
