// Control bits against a scoreboard on SGEMM, and what the schedulers make of it.
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

double time_us(const char* gpu, const char* kernel, const sm::CoreSwitches& core) {
  SimOptions options;
  options.sm_clock_mhz = 1400;
  options.switches.core = core;
  SmCache cache;
  return run(gpu_of(gpu), kernel_of(kernel), {4096, 4096, 1024, 1}, options, cache).time_us;
}

// MICRO25 section 12: a scoreboard without limits costs 2 % over all benchmarks.
TEST(Dependence, ScoreboardAndControlBitsAgreeOnSgemm) {
  for (const char* gpu : {"rtx-a6000", "a100-pcie-80gb", "h200-sxm-141gb", "l4"}) {
    for (const char* kernel : {"ampere_sgemm_128x128_nn", "cutlass_simt_sgemm_128x128_8x4_nn_align1",
                               "cutlass_simt_sgemm_128x128_8x2_nn_align1"}) {
      const double bits = time_us(gpu, kernel, {});
      const double board = time_us(gpu, kernel, {.dependence = sm::Dependence::scoreboard});
      EXPECT_NEAR(board / bits, 1, 0.05) << gpu << " " << kernel;
    }
  }
}

// A scheduler that changes warps every cycle throws the register file cache away.
TEST(Schedulers, GreedyOnesKeepTheRegisterFileCache) {
  constexpr const char* kernel = "cutlass_simt_sgemm_128x128_8x4_nn_align1";
  const double greedy = time_us("rtx-a6000", kernel, {});
  EXPECT_NEAR(time_us("rtx-a6000", kernel, {.scheduler = sm::Scheduler::gto}) / greedy, 1, 0.05);
  EXPECT_GT(time_us("rtx-a6000", kernel, {.scheduler = sm::Scheduler::lrr}) / greedy, 1.1);
}

}  // namespace
}  // namespace noteg::gpu
