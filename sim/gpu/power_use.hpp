// From a simulated run to the events that cost energy, and from them to the clock that the board's limit allows.
#pragma once

#include <functional>

#include "arch/spec.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/power/clock.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::gpu {

// One run of the kernel on the whole chip.
struct ChipEvents {
  sm::CoreCounters counters;    // of all SMs
  double active_lanes = 32;     // of a warp
  double sectors_per_pass = 4;  // a pass moves up to a line of L1
  double dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0;
  double sm_cycles = 0;       // summed over the SMs that work
  double moved_activity = 1;  // of the operands' bits on their way, 1: hashed words
  double tensor_padding = 0;  // share of the multiply-accumulates of the tensor cores
};

[[nodiscard]] power::Activity activity_of(const ChipEvents& events, Seconds time);

// What the options say of the clock.
[[nodiscard]] power::ClockRequest clock_request(const arch::GpuSpec& gpu, const SimOptions& options);

// time_at: run time at another clock, the cycles of the SMs unchanged.
[[nodiscard]] power::OperatingPoint operating_point(const arch::GpuSpec& gpu, const SimOptions& options,
                                                    const ChipEvents& events,
                                                    const std::function<Seconds(Hertz)>& time_at);

// Power, energy, clock and why the clock is what it is. Run time and rate must be there already.
void fill_power(SimReport& report, const arch::GpuSpec& gpu, const SimOptions& options,
                const power::OperatingPoint& point);

}  // namespace noteg::gpu
