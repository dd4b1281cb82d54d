// What a timed launch says of itself: times, phases, counters, occupancy, roofline.
#pragma once

#include "sim/gpu/limits/bottleneck.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::gpu {

// Everything but power, bottleneck, configuration and confidence.
[[nodiscard]] SimReport report_of(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options,
                                  const TimedKernel& timed);

// The report of the same kernel where it takes `time_us`, launch included, and executes `work` times the instructions:
// rates, shares of time and energies follow. The clock and what L2 and DRAM move stay.
void change_time(SimReport& report, double time_us, double work = 1);

// Microseconds that each unit would take if it were alone.
[[nodiscard]] Limits limits_of(const SimReport& report, const arch::GpuSpec& gpu);

}  // namespace noteg::gpu
