// What a power limiter sees of several kernels: their events as those of one, and watts over time of a step on a board
// that was idle, kernel after kernel, at the clock that the limiter then allows.
#pragma once

#include <string>
#include <vector>

#include "sim/power/clock.hpp"
#include "sim/workload/workload.hpp"

namespace noteg::workload {

struct CountedActivity {
  double count = 1;
  power::ActivityAt activity_at;
};

// Counts add up; lanes, moved bits and padding are means over what they weigh.
[[nodiscard]] power::Activity sum_at(const std::vector<CountedActivity>& parts, Hertz clock);

// Watts over time of a step on a board that was idle: kernel after kernel, in order, at the clock that the limiter then
// allows. The limiter sees the mean over power.averaging and moves the clock by steps, so that it comes late.

struct TraceRow {
  Seconds time;  // at the end of the operation
  std::string operation;
  Hertz clock;
  Watts power;     // of the operation
  Watts averaged;  // what the limiter sees
  Celsius temperature;
};

struct TraceOptions {
  Seconds idle{1};      // before the step
  Seconds duration{0};  // the step is repeated until then; 0: once
};

[[nodiscard]] std::vector<TraceRow> power_trace(const CaseResult& result, const TraceOptions& options = {});

// time_s,operation,sm_clock_mhz,power_w,averaged_power_w,temperature_c
[[nodiscard]] std::string to_csv(const std::vector<TraceRow>& trace);

}  // namespace noteg::workload
