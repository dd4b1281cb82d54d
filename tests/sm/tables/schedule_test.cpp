// MICRO25, section 3: order in which four warps of a sub-core issue 32 independent instructions each, by the
// compiler-guided greedy then youngest policy, with a stall count or a yield hint on the second instruction.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/sm/tables/engine_probe.hpp"

namespace noteg::sm::tables {
namespace {

// Runs of consecutive issues of one warp on sub-core 0: "W3(2) W2(2) ...", a gap of n empty cycles as "-n".
std::string schedule(const char* second_control) {
  std::string text = ".warps 16\n";
  for (int i = 0; i < 31; ++i)
    text += ins(i == 1 ? second_control : "B------:R-:W-:-:S00", fmt::format("FADD R{}, R4, R5", 8 + i));
  text += ins("B------:R-:W-:-:S00", "EXIT");
  std::string out;
  int warp = -1, run = 0;
  std::uint64_t last = 0;
  const auto close = [&] {
    if (run > 0) out += fmt::format("W{}({}) ", warp, run);
    run = 0;
  };
  for (const IssueRecord& issue : issues(text, ga102)) {
    if (issue.warp % 4 != 0) continue;
    if (issue.warp / 4 != warp || (run > 0 && issue.cycle != last + 1)) close();
    if (!out.empty() && issue.cycle > last + 1) out += fmt::format("-{} ", issue.cycle - last - 1);
    warp = issue.warp / 4;
    ++run;
    last = issue.cycle;
  }
  close();
  return out;
}

TEST(ScheduleExample, WithoutControlTheYoungestWarpRunsToItsEndThenTheNextYoungest) {
  EXPECT_EQ(schedule("B------:R-:W-:-:S00"), "W3(32) W2(32) W1(32) W0(32) ");
}

// The paper's figure shows four bubbles for the last warp; a stall count of 4 leaves three empty cycles by its own
// definition (the next issue comes four cycles later), which is what we keep.
TEST(ScheduleExample, AStallOfFourSendsTheSchedulerToTheOtherWarpsAndBackToTheYoungest) {
  EXPECT_EQ(schedule("B------:R-:W-:-:S04"), "W3(2) W2(2) W1(2) W3(30) W2(30) W1(30) W0(2) -3 W0(30) ");
}

TEST(ScheduleExample, AYieldMakesTheTwoYoungestWarpsTakeTurnsThere) {
  EXPECT_EQ(schedule("B------:R-:W-:Y:S01"), "W3(2) W2(2) W3(30) W2(30) W1(2) W0(2) W1(30) W0(30) ");
}

}  // namespace
}  // namespace noteg::sm::tables
