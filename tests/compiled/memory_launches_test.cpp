// Kernels that read, write and copy in many ways, and sum rows, on an H200 and an H100 (own runs;
// tests/data/compiled/README.md). The laws of short kernels and of what is on its way into L1 were found on the
// H200's, so these guard what was reached; of the H100's one thing was read: how full L2 may be and keep two copies.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

// A read that one value could turn into a copy is taken for one: half as long again.
TEST(MemoryLaunches, TimesStayWithinTheirBounds) {
  expect_times_within(validated("h200-sxm-141gb", "h200_memory_launches.csv"), 0.55, 0.08);
}

TEST(MemoryLaunches, TimesOfAnotherCardToo) {
  expect_times_within(validated("h100-sxm5-80gb", "h100_memory_launches.csv"), 0.7, 0.1);
}

}  // namespace
}  // namespace noteg::compiled
