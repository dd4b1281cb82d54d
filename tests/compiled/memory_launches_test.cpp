// Kernels that read, write and copy in many ways, and sum rows, on an H200 and an H100 (own runs;
// tests/data/compiled/README.md). The laws of short kernels and of what is on its way into L1 were found on the
// H200's, so these guard what was reached; of the H100's one thing was read: how full L2 may be and keep two copies.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

TEST(MemoryLaunches, TimesStayWithinTheirBounds) {
  expect_times_within(validated("h200-sxm-141gb", "h200_memory_launches.csv"), 0.34, 0.0525);
}

TEST(MemoryLaunches, TimesOfAnotherCardToo) {
  expect_times_within(validated("h100-sxm5-80gb", "h100_memory_launches.csv"), 0.4, 0.0535);
}

// Streams of 20 to 80 MiB that are replayed: the laws of what L2 keeps were found on them.
TEST(MemoryLaunches, TimesOfStreamsThatL2HoldsOrNot) {
  expect_times_within(validated("h200-sxm-141gb", "replayed/h200_launches.csv"), 0.24, 0.061);
}

}  // namespace
}  // namespace noteg::compiled
