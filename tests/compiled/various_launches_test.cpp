// Launches of an H100 (own runs; tests/data/compiled/README.md) of kernels that the model had not seen: rows, scans of
// pairs of letters, an FFT, sparse counts of loops, products of 64 bits, rows of shared memory that are padded. Bounds
// guard what was reached.
#include "sim/compiled/l1_size.hpp"
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& various() { return validated("h100-sxm5-80gb", "h100_various_launches.csv"); }

TEST(VariousLaunches, TimesStayWithinTheirBounds) { expect_times_within(various(), 0.37, 0.11); }

// Ten rounds of products of 64 bits: a third too fast where they take as long as others.
TEST(VariousLaunches, WideProductsTakeFiveCycles) { expect_kernel_within(various(), "z_philox", 0.145); }

// But for a merge, whose searches go by the numbers that are merged.
TEST(VariousLaunches, InstructionsAreThoseOfTheCard) {
  expect_instructions_within(various(),
                             [](const LaunchOutcome& each) { return each.kernel == "z_merge" ? 0.01 : 0.001; });
}

// 32 KiB of configuration for kernels without shared memory of their own, and so on (h100_sm_micro, carve_out).
TEST(L1Size, IsWhatTheDriverLeaves) {
  const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb", {});
  const auto carved = [&](int threads, std::int64_t shared, int ctas) {
    const gpu::CtaResources cta{threads, 32, shared};
    return (gpu.sm.occupancy.unified_l1_shared - l1_size(gpu.sm.occupancy, cta, ctas)).value / 1024;
  };
  EXPECT_EQ(carved(32, 0, 32), 32);
  EXPECT_EQ(carved(256, 0, 8), 32);
  EXPECT_EQ(carved(512, 0, 4), 16);
  EXPECT_EQ(carved(1024, 0, 2), 8);
  EXPECT_EQ(carved(32, 2048, 32), 100);
  EXPECT_EQ(carved(128, 1024, 16), 64);
  EXPECT_EQ(carved(128, 6144, 16), 132);
  EXPECT_EQ(carved(128, 8192, 16), 164);
  EXPECT_EQ(carved(256, 16384, 8), 164);
  EXPECT_EQ(carved(512, 32768, 4), 132);
  EXPECT_EQ(carved(1024, 8192, 2), 32);
  EXPECT_EQ(carved(128, 16, 16), 32);
}

}  // namespace
}  // namespace noteg::compiled
