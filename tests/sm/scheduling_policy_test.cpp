// Each policy, asked about the same warps: bits 1, 3 and 4, of which 3 issued last and 4 has waited longest.
#include "sim/sm/units/scheduling_policy.hpp"

#include <gtest/gtest.h>

#include "sim/sm/units/warp_scheduler.hpp"

namespace noteg::sm {
namespace {

constexpr std::uint32_t candidates = 0b11010;

SchedulerView view(const std::array<std::uint64_t, 32>& issued_last, bool longest_waiting_first) {
  return {.last = 3, .issued_last = &issued_last, .longest_waiting_first = longest_waiting_first};
}

TEST(SchedulingPolicy, ChoosesByItsRule) {
  std::array<std::uint64_t, 32> issued_last{};
  issued_last[1] = 20;
  issued_last[3] = 30;
  issued_last[4] = 10;
  const SchedulerView plain = view(issued_last, false);
  EXPECT_EQ(first_choice(Scheduler::cggty, plain, candidates), 4) << "the youngest";
  issued_last[1] = 5;
  EXPECT_EQ(first_choice(Scheduler::cggty, view(issued_last, true), candidates), 1) << "who waited longest";
  EXPECT_EQ(first_choice(Scheduler::gto, plain, candidates), 1) << "the oldest";
  EXPECT_EQ(first_choice(Scheduler::oldest, plain, candidates), 1);
  EXPECT_EQ(first_choice(Scheduler::lrr, plain, candidates), 4) << "the next behind the last";
  EXPECT_EQ(first_choice(Scheduler::lrr, plain, 0b1010), 1) << "around the end";
}

TEST(SchedulingPolicy, HasARowForEachName) {
  EXPECT_EQ(scheduler_names().size(), scheduler_rows.size());
  EXPECT_TRUE(is_greedy(Scheduler::cggty));
  EXPECT_TRUE(is_greedy(Scheduler::gto));
  EXPECT_FALSE(is_greedy(Scheduler::lrr));
  EXPECT_FALSE(is_greedy(Scheduler::oldest));
}

// h100_sm_micro, cta_order: of two CTAs whose warps could all issue, the one that started first ends as if it were
// alone.
TEST(SchedulingPolicy, TurnsGoToWarpsOfTheOldestCta) {
  WarpScheduler scheduler(Scheduler::cggty, true);
  std::array<Warp, 4> warps;
  for (std::size_t i = 0; i < warps.size(); ++i) {
    warps[i].bit = static_cast<std::uint8_t>(i);
    warps[i].cta = i < 2 ? 1 : 0;  // slots, not ages
    scheduler.add(warps[i]);
    scheduler.start(warps[i], 0);
  }
  EXPECT_EQ(scheduler.choose(0b1111), 1) << "the youngest of the CTA that started first";
  scheduler.issues(warps[1], 5);
  EXPECT_EQ(scheduler.choose(0b1111), 0) << "who waited longest";
  EXPECT_EQ(scheduler.choose(0b1100), 3) << "the next CTA where the oldest has none";
  scheduler.end(warps[0]);
  scheduler.end(warps[1]);
  warps[0].cta = 2;
  scheduler.start(warps[0], 10);
  EXPECT_EQ(scheduler.choose(0b1101), 3) << "a slot that is taken again is the youngest";
}

// Two warps that have started at 0, the first of an older CTA, and what the scheduler has seen of them.
struct TwoWarps {
  explicit TwoWarps(bool takes_turns) : scheduler(Scheduler::cggty, takes_turns) {
    for (std::size_t i = 0; i < warps.size(); ++i) {
      warps[i].bit = static_cast<std::uint8_t>(i);
      warps[i].cta = static_cast<std::uint16_t>(i);
      scheduler.add(warps[i]);
      scheduler.start(warps[i], 0);
      scheduler.try_from(warps[i], 0, 0);
    }
  }
  void issue(int bit, std::uint64_t now, std::uint64_t stall, bool yields, bool went_on = false) {
    Warp& warp = warps.at(static_cast<std::size_t>(bit));
    (void)scheduler.candidates(now);
    scheduler.issues(warp, now);
    warp.ready_at = now + stall;
    scheduler.try_again_from(warp, warp.ready_at, now);
    scheduler.has_issued(bit, yields, went_on);
    issued_at = now;
  }
  int going_on(std::uint64_t now, std::uint64_t issue_free = 0) {
    return scheduler.going_on(scheduler.candidates(now), now, issue_free, issued_at);
  }

  WarpScheduler scheduler;
  std::array<Warp, 2> warps;
  std::uint64_t issued_at = 0;
};

// h100_sm_micro, greedy_turns: warps burst through FFMA and HMMA, but not where their pipe or queue was busy.
TEST(SchedulingPolicy, GreedEndsWhereAWarpCouldHaveIssued) {
  for (const bool takes_turns : {true, false}) {
    TwoWarps two(takes_turns);
    two.issue(1, 1, 5, false);
    EXPECT_EQ(two.going_on(6), 1) << "at the end of its stall count";
    EXPECT_EQ(two.going_on(8, 8), 1) << "behind cycles in which none could issue";
    EXPECT_EQ(two.going_on(8), takes_turns ? -1 : 1);
  }
}

// h100_sm_micro, yield_turns and yield_pairs.
TEST(SchedulingPolicy, WhoYieldsStandsInLine) {
  TwoWarps two(true);
  two.issue(1, 1, 2, true);
  EXPECT_EQ(two.going_on(3), -1);
  EXPECT_EQ(two.scheduler.choose(two.scheduler.candidates(3)), 0) << "of the older CTA";
}

TEST(SchedulingPolicy, AWarpComesBackWhenItsStallCountEnds) {
  TwoWarps two(true);
  two.issue(1, 1, 2, false);
  two.issue(0, 2, 1, false);
  EXPECT_EQ(two.going_on(3), 1) << "another issued in between, but did not go on";
}

TEST(SchedulingPolicy, ABurstGoesOnBeforeWhoComesBack) {
  TwoWarps two(true);
  two.issue(1, 1, 3, false);
  two.issue(0, 2, 1, false);
  two.issue(0, 3, 1, false, true);
  EXPECT_EQ(two.going_on(4), 0);
}

}  // namespace
}  // namespace noteg::sm
