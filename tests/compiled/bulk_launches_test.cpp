// Launches of an H200 (own runs; tests/data/compiled/README.md) of bulk copies, warpgroup products and clusters,
// measured before the model saw them: 20.7 % off at first sight. Bounds guard what was reached then. Beside them
// products of one CTA, by their depth, and loops of products alone.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& bulk() { return validated("h200-sxm-141gb", "bulk/h200_launches.csv"); }

TEST(BulkLaunches, TimesStayWithinTheirBounds) { expect_times_within(bulk(), 0.24, 0.0585); }

// Without what TPCs of a GPC merge 17.3 %.
TEST(BulkLaunches, WhatReachesL2IsWhatTheCardCounts) {
  double sum = 0;
  for (std::size_t i = 0; i < bulk().outcomes.size(); ++i)
    sum += std::abs(bulk().outcomes[i].run->cold.l2_sectors / counted(bulk(), i, "lts__t_sectors_srcunit_tex.sum") - 1);
  EXPECT_LT(sum / static_cast<double>(bulk().outcomes.size()), 0.09);
}

TEST(BulkLaunches, BarriersAreFollowed) {
  for (const char* file : {"bulk/h200_launches.csv", "bulk/h200_single_launches.csv", "h200_hopper_launches.csv"})
    expect_barriers_followed(validated("h200-sxm-141gb", file));
}

// Consumers free a stage for a peer behind a memory barrier of GPU scope, in each step.
TEST(BulkLaunches, ArrivalsAtAPeerWaitForAMemoryBarrier) { expect_kernel_within(bulk(), "z_cl64x128s6", 0.14); }

// Each round reads a peer's shared memory eight times and ends at a barrier of the cluster.
TEST(BulkLaunches, PeersAnswerLaterThanTheOwnSm) { expect_kernel_within(bulk(), "z_ring", 0.23); }

// Consumers give a stage back an iteration later: a producer that runs further ahead than that hides all waiting.
TEST(BulkLaunches, ADeepLoopWaitsForItsStages) { expect_kernel_within(bulk(), "z_ws128x256s3", 0.09); }

TEST(SingleCtaProducts, TimesStayWithinTheirBounds) {
  expect_times_within(validated("h200-sxm-141gb", "bulk/h200_single_launches.csv"), 0.11, 0.03);
}

// Per iteration: the difference of two runs.
TEST(WarpgroupLoops, TakeTheCyclesOfTheH200) {
  const LaunchValidation& loops = validated("h200-sxm-141gb", "loops/h200_launches.csv");
  constexpr double iterations = 400;  // that the second of a pair runs more
  double sum = 0, pairs = 0;
  for (std::size_t i = 0; i + 1 < loops.outcomes.size(); i += 2) {
    const LaunchOutcome &half = loops.outcomes[i], &whole = loops.outcomes[i + 1];
    ASSERT_TRUE(half.run && whole.run) << half.launch << ": " << half.skipped;
    const double taken = (whole.run->report.cycles - half.run->report.cycles) / iterations;
    const double off = std::abs(taken / counted(loops, i, "cycles_per_iteration") - 1);
    EXPECT_LE(off, 0.10) << half.launch << ' ' << taken;
    sum += off, ++pairs;
  }
  ASSERT_GT(pairs, 0);
  EXPECT_LE(sum / pairs, 0.02);
}

}  // namespace
}  // namespace noteg::compiled
