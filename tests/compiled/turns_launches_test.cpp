// Kernels whose CTAs wait for each other, and kernels that use what few others do, on an H200 (own runs;
// tests/data/compiled/README.md). Bounds guard what was reached; those that wait were measured before the model was
// made to know turns, no constant was fitted to them.
#include <set>

#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& turns() { return validated("h200-sxm-141gb", "turns/h200_launches.csv"); }

TEST(TurnsLaunches, TimesStayWithinTheirBounds) { expect_times_within(turns(), 0.4, 0.0915); }

// Slices of K add their sums one after the other. 4 x 64 tiles in three slices are furthest off, 15 % too slow.
TEST(TurnsLaunches, SlicesOfKWaitForEachOther) {
  const auto is_told = [](const std::string& note) { return note.find("us of it are turns") != note.npos; };
  double sum = 0;
  int launches = 0;
  for (const LaunchOutcome& each : turns().outcomes) {
    if (!each.launch.starts_with("splitk/")) continue;
    sum += std::abs(error_of(each));
    ++launches;
    const bool waits = each.launch != "splitk/8";  // which is one slice
    EXPECT_EQ(std::ranges::any_of(each.run->notes, is_told), waits) << each.launch;
  }
  EXPECT_EQ(launches, 9);
  EXPECT_LT(sum / launches, 0.0725);
}

// Ten barriers of the grid each, of cooperative groups and of their own: 132 and 528 CTAs take turns at a word.
TEST(TurnsLaunches, BarriersOfTheGridTakeTurnsAtTheirWord) {
  const auto is_told = [](const std::string& note) { return note.find("barrier of the grid") != note.npos; };
  int barriers = 0;
  for (const LaunchOutcome& each : turns().outcomes) {
    if (!std::set<std::string>{"turns/11", "turns/12", "turns/14", "turns/15"}.contains(each.launch)) continue;
    EXPECT_NEAR(error_of(each), 0, 0.19) << each.launch;
    EXPECT_TRUE(std::ranges::any_of(each.run->notes, is_told)) << each.launch;
    ++barriers;
  }
  EXPECT_EQ(barriers, 4);
}

// All CTAs of the grid take one lock.
TEST(TurnsLaunches, ALockHoldsUpAllWhoTakeIt) {
  int locks = 0;
  for (const LaunchOutcome& each : turns().outcomes) {
    if (!std::set<std::string>{"turns/16", "turns/17", "turns/18", "turns/19"}.contains(each.launch)) continue;
    EXPECT_NEAR(error_of(each), 0, 0.17) << each.launch;
    ++locks;
  }
  EXPECT_EQ(locks, 4);
}

}  // namespace
}  // namespace noteg::compiled
