// beta != 0: what reading C adds to a kernel.
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

// Time that reading C adds, over the time of its bytes in DRAM: in bands of eight columns and at the clock of the
// measured runs, which show 0.9 to 1.1 in up to six rounds and 0.4 in 88 and 175.
double added_over_dram_time(const kernels::GemmShape& shape, L2State l2) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  kernels::KernelConfig kernel = kernel_of("cutlass_simt_sgemm_128x128_8x2_nn_align1");
  SmCache cache;
  SimOptions options = starting_from(l2);
  options.sm_clock_mhz = 2505;
  kernel.swizzle_log2 = 3;
  const double without = run(gpu, kernel, shape, options, cache).time_us;
  kernel.reads_c = true;
  const double with = run(gpu, kernel, shape, options, cache).time_us;
  const double bytes = 4.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n);
  return (with - without) / (1e6 * bytes / (gpu.dram.bandwidth.value * gpu.dram.read_efficiency));
}

TEST(ReadsOfC, SmsInStepReadAllTheirTilesAtDramBandwidth) {
  EXPECT_NEAR(added_over_dram_time({2048, 2048, 512, 1}, L2State::cold), 1, 0.25);
  EXPECT_NEAR(added_over_dram_time({1024, 2048, 1024, 1}, L2State::cold), 1, 0.25);
}

TEST(ReadsOfC, SmsThatHaveDriftedApartHideSomeOfIt) {
  EXPECT_LT(added_over_dram_time({65536, 1024, 512, 1}, L2State::cold), 0.8);
}

TEST(ReadsOfC, AnL2ThatHoldsCSparesDram) { EXPECT_LT(added_over_dram_time({1024, 2048, 1024, 1}, L2State::warm), 0.6); }

}  // namespace
}  // namespace noteg::gpu
