// 81 kernels of our own in as many fields, written and measured on an H200 before the model saw them
// (tests/data/compiled/README.md). What pipes take, sectors that L2 gives alone and turns of atomic operations were found
// on them; most are as far off as on the first day.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& assorted() { return validated("h200-sxm-141gb", "assorted/h200_launches.csv"); }

TEST(AssortedLaunches, TimesStayWithinTheirBounds) { expect_times_within(assorted(), 1.48, 0.104); }

TEST(AssortedLaunches, InstructionsAreCounted) {
  for (std::size_t row = 0; row < assorted().outcomes.size(); ++row) {
    const LaunchOutcome& each = assorted().outcomes[row];
    const double counted_there = counted(assorted(), row, "warp_instructions");
    if (counted_there <= 0) continue;
    EXPECT_NEAR(each.run->cold.warp_instructions / counted_there, 1, 0.02) << each.launch;
  }
}

}  // namespace
}  // namespace noteg::compiled
