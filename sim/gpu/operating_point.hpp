// From a simulated run to the events that cost energy, and from them to the operating point: clock, power and DRAM load
// in one fixed point. The clock is the highest one whose power keeps to the board's limits; power is the events' energy
// over the time at that clock; the time holds the load that DRAM has at that clock (kernel_time.hpp).
#pragma once

#include <functional>

#include "arch/spec.hpp"
#include "sim/gpu/kernel_time.hpp"
#include "sim/gpu/report.hpp"
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

// Events of the whole chip from those of its busiest SM.
[[nodiscard]] ChipEvents chip_events(const arch::GpuSpec& gpu, const KernelLaunch& launch, const Traffic& traffic,
                                     const SmRuns& runs);

[[nodiscard]] power::Activity activity_of(const ChipEvents& events, Seconds time);

// Events and time at a clock.
[[nodiscard]] std::function<power::Activity(Hertz)> activity_at(const ChipEvents& events, const KernelTime& time,
                                                                int active_sms);

// What the options say of the clock.
[[nodiscard]] power::ClockRequest clock_request(const arch::GpuSpec& gpu, const SimOptions& options);

[[nodiscard]] power::OperatingPoint operating_point(const arch::GpuSpec& gpu, const SimOptions& options,
                                                    const std::function<power::Activity(Hertz)>& activity_at);

// What holds the clock, to stand behind "held down by" where the point is throttled; else why clock or power are not
// what one would expect; "none".
[[nodiscard]] std::string throttle_reason(const arch::GpuSpec& gpu, const SimOptions& options,
                                          const power::OperatingPoint& point);

// Power, energy, clock and why the clock is what it is. Run time and rate must be there already.
void fill_power(SimReport& report, const arch::GpuSpec& gpu, const SimOptions& options,
                const power::OperatingPoint& point);

}  // namespace noteg::gpu
