// Kernels of our own, written and measured on an H200 before the model saw them (tests/data/compiled/README.md): 81 in
// as many fields, on which what pipes take, sectors that L2 gives alone and turns of atomic operations were found; 100
// of everyday work, on which what numbers decide, where CTAs look back and what waits for its last sector were.
#include <cmath>

#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& assorted() { return validated("h200-sxm-141gb", "assorted/h200_launches.csv"); }

TEST(AssortedLaunches, TimesStayWithinTheirBounds) { expect_times_within(assorted(), 0.52, 0.091); }

TEST(AssortedLaunches, InstructionsAreCounted) {
  for (std::size_t row = 0; row < assorted().outcomes.size(); ++row) {
    const LaunchOutcome& each = assorted().outcomes[row];
    const double counted_there = counted(assorted(), row, "warp_instructions");
    if (counted_there <= 0) continue;
    EXPECT_NEAR(each.run->cold.warp_instructions / counted_there, 1, 0.02) << each.launch;
  }
}

const LaunchValidation& everyday() { return validated("h200-sxm-141gb", "everyday/h200_launches.csv"); }

TEST(EverydayLaunches, TimesStayWithinTheirBounds) { expect_times_within(everyday(), 1.3, 0.12); }

// But for a few that go by what launches before them, or other CTAs at the same time, have left in memory.
TEST(EverydayLaunches, InstructionsAreCounted) {
  std::size_t off = 0;
  for (std::size_t row = 0; row < everyday().outcomes.size(); ++row) {
    const double counted_there = counted(everyday(), row, "warp_instructions");
    if (counted_there <= 0) continue;
    off += std::abs(everyday().outcomes[row].run->cold.warp_instructions / counted_there - 1) > 0.02;
  }
  EXPECT_LE(off, 20);
}

}  // namespace
}  // namespace noteg::compiled
