// Power over time: starts at idle, is what the settled solution says in the end, and never leaves the limit for long.
#include "sim/power/clock.hpp"

#include "tests/power/power_setup.hpp"

namespace noteg::power {
namespace {

struct Traced {
  arch::GpuSpec gpu;
  std::vector<TracePoint> trace;
  OperatingPoint settled;
};

Traced trace_of(const std::string& limit) {
  Traced out{gpu_of("l40s", {{"power.limit", limit}}), {}, {}};
  ClockRequest request;
  request.gpu = &out.gpu;
  const ActivityAt activity = bound_by_cycles(mixed_second() * 3, 2e9);
  TraceOptions options;
  options.duration = out.gpu.power.thermal_time * 12;
  out.trace = power_trace(request, activity, options);
  out.settled = solve_clock(request, activity);
  return out;
}

TEST(PowerTrace, RisesFromIdleToTheSettledPowerAndClock) {
  for (const char* limit : {"180 W", "350 W"}) {
    const Traced t = trace_of(limit);
    EXPECT_EQ(t.trace.front().averaged, t.gpu.power.idle);
    EXPECT_EQ(t.trace.front().clock, t.gpu.clock.sustained);
    EXPECT_NEAR(t.trace.back().power / t.settled.board.power, 1, 0.005) << limit;
    EXPECT_NEAR(t.trace.back().clock / t.settled.clock, 1, 0.005) << limit;
    EXPECT_NEAR(t.trace.back().temperature.value, t.settled.board.temperature.value, 0.5) << limit;
  }
}

TEST(PowerTrace, TheClockOnlyFallsAndTheAverageStaysUnderTheLimit) {
  const Traced t = trace_of("180 W");
  ASSERT_TRUE(t.settled.throttled);
  for (std::size_t i = 1; i < t.trace.size(); ++i) {
    EXPECT_LE(t.trace[i].clock, t.trace[i - 1].clock);
    EXPECT_GT(t.trace[i].time, t.trace[i - 1].time);
    EXPECT_LE(t.trace[i].averaged, t.gpu.power.limit * 1.05);
  }
  EXPECT_GT(t.trace[20].power, t.gpu.power.limit);  // before the average has reached the limit
}

TEST(PowerTrace, NoClockHeatsTheBoardBeyondItsSlowdownTemperature) {
  const arch::GpuSpec gpu = gpu_of("l4", {{"power.thermal_resistance", "1.2 K/W"}});
  const ActivityAt activity = bound_by_cycles(mixed_second() * 4, 2e9);
  ClockRequest request;
  request.gpu = &gpu;
  for (const bool given : {false, true}) {
    if (given) request.given = gpu.clock.boost;
    const std::vector<TracePoint> trace = power_trace(request, activity);
    for (const TracePoint& point : trace) EXPECT_LE(point.temperature.value, gpu.power.slowdown.value + 1) << given;
    EXPECT_NEAR(trace.back().temperature.value, gpu.power.slowdown.value, 1) << given;
    EXPECT_LT(trace.back().clock, gpu.clock.sustained) << given;
  }
}

TEST(PowerTrace, IsWrittenAsCsvWithUnitsInTheHeader) {
  const std::string csv = to_csv(trace_of("350 W").trace);
  EXPECT_TRUE(csv.starts_with("time_s,sm_clock_mhz,power_w,averaged_power_w,temperature_c\n0,2520,"));
}

}  // namespace
}  // namespace noteg::power
