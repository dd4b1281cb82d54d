// Kernels whose CTAs wait for each other, and kernels that use what few others do, on an H200 (own runs;
// tests/data/compiled/README.md). Bounds guard what was reached; those that wait were measured before the model was
// made to know turns, no constant was fitted to them.
#include <fmt/format.h>

#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& turns() { return validated("h200-sxm-141gb", "turns/h200_launches.csv"); }

std::vector<double> errors_of(std::string_view prefix) {
  std::vector<double> out;
  for (const LaunchOutcome& each : turns().outcomes)
    if (each.launch.starts_with(prefix)) out.push_back(error_of(each));
  return out;
}

TEST(TurnsLaunches, TimesStayWithinTheirBounds) { expect_times_within(turns(), 0.52, 0.121); }

// Slices of K add their sums one after the other.
TEST(TurnsLaunches, SlicesOfKWaitForEachOther) {
  for (const double error : errors_of("splitk/")) EXPECT_NEAR(error, 0, 0.15);
  const auto is_told = [](const std::string& note) { return note.find("us of it are turns") != note.npos; };
  for (const LaunchOutcome& each : turns().outcomes) {
    if (!each.launch.starts_with("splitk/")) continue;
    const bool waits = each.launch != "splitk/8";  // which is one slice
    EXPECT_EQ(std::ranges::any_of(each.run->notes, is_told), waits) << each.launch;
  }
}

// All CTAs of the grid take one lock.
TEST(TurnsLaunches, ALockHoldsUpAllWhoTakeIt) {
  for (int i = 16; i < 20; ++i)
    for (const double error : errors_of(fmt::format("turns/{}", i))) EXPECT_NEAR(error, 0, 0.17) << i;
}

}  // namespace
}  // namespace noteg::compiled
