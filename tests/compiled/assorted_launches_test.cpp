// Kernels of our own, written and measured on an H200 before the model saw them (tests/data/compiled/README.md): 81 in
// as many fields, on which what pipes take, sectors that L2 gives alone and turns of atomic operations were found; 100
// of everyday work, on which what numbers decide, where CTAs look back and what waits for its last sector were.
#include <cmath>

#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

// How many launches do not execute the instructions that were counted, within 2 %.
std::size_t miscounted(const LaunchValidation& launches) {
  std::size_t out = 0;
  for (std::size_t row = 0; row < launches.outcomes.size(); ++row) {
    const double there = counted(launches, row, "warp_instructions");
    out += there > 0 && std::abs(launches.outcomes[row].run->cold.warp_instructions / there - 1) > 0.02;
  }
  return out;
}

TEST(AssortedLaunches, TimesStayWithinTheirBoundsAndInstructionsAreCounted) {
  const LaunchValidation& assorted = validated("h200-sxm-141gb", "assorted/h200_launches.csv");
  expect_times_within(assorted, 0.52, 0.069);
  EXPECT_EQ(miscounted(assorted), 0);
}

// A few go by what launches before them, or other CTAs at the same time, have left in memory.
TEST(AssortedLaunches, OfEverydayWorkNineOfTenAreCounted) {
  const LaunchValidation& everyday = validated("h200-sxm-141gb", "everyday/h200_launches.csv");
  expect_times_within(everyday, 1.3, 0.1015);
  EXPECT_LE(miscounted(everyday), 18);
}

// A cipher and a generator of random numbers: L2 and DRAM are asked from the first CTA's stores on, while the last
// waits for its turn to compute.
TEST(AssortedLaunches, WhoComputesLongBeforeItStoresIsTimed) {
  expect_kernel_within(validated("h200-sxm-141gb", "assorted/h200_launches.csv"), "chacha20_xor", 0.08);
  expect_kernel_within(validated("h200-sxm-141gb", "everyday/h200_launches.csv"), "lcg64_normals", 0.08);
}

}  // namespace
}  // namespace noteg::compiled
