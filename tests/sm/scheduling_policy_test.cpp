// Each policy, asked about the same warps: bits 1, 3 and 4, of which 3 issued last and 4 has waited longest.
#include "sim/sm/units/scheduling_policy.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace noteg::sm
