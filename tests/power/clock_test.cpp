// The clock is the highest one whose power fits, a given one wins, and a burst knows no limit.
#include "tests/power/power_setup.hpp"

namespace noteg::power {
namespace {

constexpr double cycles = 2e9;

ClockRequest request_for(const arch::GpuSpec& gpu, ClockMode mode = ClockMode::sustained) {
  ClockRequest request;
  request.gpu = &gpu;
  request.mode = mode;
  return request;
}

TEST(SolvedClock, StaysUpWhereThePowerFits) {
  const arch::GpuSpec gpu = gpu_of("l40");
  const OperatingPoint point = solve_clock(request_for(gpu), bound_by_cycles(mixed_second(), cycles));
  EXPECT_EQ(point.clock, gpu.clock.sustained);
  EXPECT_FALSE(point.throttled);
}

TEST(SolvedClock, TensorKernelsStayBelowTheirShareOfTheHighestClock) {
  const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  Activity tensor = mixed_second();
  tensor.tensor_macs = {{"f16_f32", 1e12}};
  const Hertz top = gpu.clock.sustained * gpu.sm.tensor.clock_share;
  EXPECT_LT(top, gpu.clock.sustained);
  EXPECT_EQ(solve_clock(request_for(gpu), bound_by_cycles(mixed_second(), cycles)).clock, gpu.clock.sustained);
  for (const ClockMode mode : {ClockMode::burst, ClockMode::cool, ClockMode::sustained})
    EXPECT_EQ(solve_clock(request_for(gpu, mode), bound_by_cycles(tensor, cycles)).clock, top);
}

TEST(SolvedClock, ReachesTheLimitFromBelowAndNoHigherClockFits) {
  for (const char* limit : {"80 W", "100 W", "150 W", "200 W"}) {
    const arch::GpuSpec gpu = gpu_of("l40s", {{"power.limit", limit}, {"power.idle", "50 W"}});
    const ActivityAt activity = bound_by_cycles(mixed_second() * 4, cycles);
    const OperatingPoint point = solve_clock(request_for(gpu), activity);
    ASSERT_TRUE(point.throttled) << limit;
    EXPECT_NEAR(point.board.power / gpu.power.limit, 1, 1e-3) << limit;
    const Hertz higher = point.clock * 1.001;
    EXPECT_GT(board_power(gpu, activity(higher), higher, {}, Warmth::settled).power, gpu.power.limit) << limit;
  }
}

TEST(SolvedClock, FallsWithTheLimit) {
  Hertz before{1e12};
  for (const char* limit : {"300 W", "200 W", "150 W", "125 W"}) {
    const arch::GpuSpec gpu = gpu_of("l40s", {{"power.limit", limit}});
    const Hertz clock = solve_clock(request_for(gpu), bound_by_cycles(mixed_second() * 4, cycles)).clock;
    EXPECT_LE(clock, before) << limit;
    before = clock;
  }
}

TEST(SolvedClock, AGivenClockWins) {
  const arch::GpuSpec gpu = gpu_of("l4");
  ClockRequest request = request_for(gpu);
  request.given = Hertz{2e9};
  const OperatingPoint point = solve_clock(request, bound_by_cycles(mixed_second() * 8, cycles));
  EXPECT_EQ(point.clock, Hertz{2e9});
  EXPECT_FALSE(point.throttled);
  EXPECT_TRUE(point.over_limit);
}

TEST(SolvedClock, ABurstKeepsTheHighestClockAndTheTemperatureOfTheIdleBoard) {
  const arch::GpuSpec gpu = gpu_of("l4");
  const OperatingPoint point =
      solve_clock(request_for(gpu, ClockMode::burst), bound_by_cycles(mixed_second() * 8, cycles));
  EXPECT_EQ(point.clock, gpu.clock.sustained);
  EXPECT_EQ(point.board.temperature, idle_temperature(gpu.power));
  EXPECT_FALSE(point.throttled);
}

TEST(SolvedClock, TheLimitActsOnceItsWindowHasFilled) {
  const arch::GpuSpec gpu = gpu_of("l4", {{"power.averaging", "0.1 s"}});
  const ActivityAt activity = bound_by_cycles(mixed_second() * 0.2, gpu.clock.sustained.value * 0.05);  // 50 ms or more
  ClockRequest request = request_for(gpu, ClockMode::cool);
  const Hertz settled = solve_clock(request, activity).clock;
  ASSERT_LT(settled, gpu.clock.sustained);
  request.launches = 2;
  EXPECT_EQ(solve_clock(request, activity).clock, gpu.clock.sustained);
  EXPECT_FALSE(solve_clock(request, activity).throttled);
  Hertz before = gpu.clock.sustained;
  for (const int launches : {3, 4, 10, 100}) {
    request.launches = launches;
    const OperatingPoint point = solve_clock(request, activity);
    EXPECT_LT(point.clock, before) << launches;
    EXPECT_GT(point.clock, settled) << launches;
    EXPECT_TRUE(point.throttled) << launches;
    before = point.clock;
  }
  EXPECT_NEAR(before / settled, 1, 0.03);
}

TEST(SolvedClock, AShortRunOfTensorCoresIsHeldByTheFastLimiterAlone) {
  const arch::GpuSpec gpu = gpu_of("l4", {{"power.averaging", "1 s"}});
  Activity heavy = mixed_second() * 0.2;
  heavy.tensor_macs.emplace_back("f16", 1.0);
  const ActivityAt activity = bound_by_cycles(heavy, gpu.clock.sustained.value * 0.05);
  ClockRequest request = request_for(gpu, ClockMode::cool);
  request.launches = 1;
  const OperatingPoint one = solve_clock(request, activity);
  EXPECT_LT(one.clock, highest_clock(gpu, true));
  EXPECT_TRUE(one.throttled);
  EXPECT_TRUE(one.in_burst);
  EXPECT_NEAR(one.board.power / gpu.power.limit, gpu.power.burst_share, 1e-3);
  request.launches = 1000;
  EXPECT_TRUE(solve_clock(request, activity).throttled);
  EXPECT_FALSE(solve_clock(request, activity).in_burst);
}

TEST(SolvedClock, ABoardThatWakesKeepsItsClockAtRest) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  ASSERT_LT(gpu.clock.rest, gpu.clock.sustained);
  const double launch = gpu.clock.wake.value / 10;  // seconds at the clock at rest
  const ActivityAt activity = bound_by_cycles(mixed_second() * launch, gpu.clock.rest.value * launch);
  ClockRequest request = request_for(gpu, ClockMode::cool);
  EXPECT_EQ(solve_clock(request, activity).clock, gpu.clock.sustained);  // so many that the start is forgotten
  request.launches = 9;
  EXPECT_EQ(solve_clock(request, activity).clock, gpu.clock.rest);
  EXPECT_TRUE(solve_clock(request, activity).at_rest);
  EXPECT_FALSE(solve_clock(request, activity).throttled);
  request.launches = 20;
  const Hertz half = solve_clock(request, activity).clock;
  EXPECT_NEAR(half.value, 2 / (1 / gpu.clock.rest.value + 1 / gpu.clock.sustained.value), 1);
  request.warm_up = 10;  // all of those at rest
  EXPECT_EQ(solve_clock(request, activity).clock, gpu.clock.sustained);
  request = request_for(gpu, ClockMode::burst);
  EXPECT_EQ(solve_clock(request, activity).clock, gpu.clock.sustained);
  const arch::GpuSpec slow = gpu_of("rtx4070", {{"clock.sustained", "2.2 GHz"}});
  request = request_for(slow, ClockMode::cool);
  request.launches = 9;
  EXPECT_EQ(solve_clock(request, activity).clock, slow.clock.sustained);
}

TEST(SolvedClock, StaysBelowTheTemperatureAtWhichTheBoardSlowsDown) {
  const arch::GpuSpec gpu = gpu_of("l4", {{"power.thermal_resistance", "1.2 K/W"}});
  const OperatingPoint point = solve_clock(request_for(gpu), bound_by_cycles(mixed_second() * 4, cycles));
  EXPECT_TRUE(point.throttled);
  EXPECT_TRUE(point.too_hot);
  EXPECT_NEAR(point.board.temperature.value, gpu.power.slowdown.value, 0.1);
  EXPECT_LT(point.board.power, gpu.power.limit);
  EXPECT_FALSE(solve_clock(request_for(gpu_of("l4")), bound_by_cycles(mixed_second() * 4, cycles)).too_hot);
}

TEST(SolvedClock, GivesUpAtTheLowestClockAndSaysSo) {
  const arch::GpuSpec gpu = gpu_of("l4", {{"power.limit", "28 W"}});
  const OperatingPoint point = solve_clock(request_for(gpu), bound_by_cycles(mixed_second() * 30, cycles));
  EXPECT_TRUE(point.over_limit);
  EXPECT_TRUE(point.throttled);
}

}  // namespace
}  // namespace noteg::power
