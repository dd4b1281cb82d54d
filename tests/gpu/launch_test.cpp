// How the last CTAs of a grid fall onto SMs that have just finished whole rounds.
#include <gtest/gtest.h>

#include "sim/gpu/dram.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {

namespace {

// Tiles of the grid: 2 on every SM of 132 for two rounds, and `rest` on top.
double time_with_rest(const std::string& kernel, std::int64_t tile_m, std::int64_t tile_n, std::int64_t rest) {
  const kernels::GemmShape shape{tile_m, tile_n * (2 * 264 + rest), 2048, 1};
  SimOptions options;
  options.sm_clock_mhz = 1755;
  return run(gpu_of("h100-sxm5-80gb"), kernel, shape, options).time_us;
}

TEST(Tail, CtasInStepTakeTheRestByWholeRounds) {
  const std::string kernel =
      "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel";
  const double whole = time_with_rest(kernel, 128, 64, 264);
  EXPECT_NEAR(time_with_rest(kernel, 128, 64, 112), whole, 0.05 * whole);
  EXPECT_LT(time_with_rest(kernel, 128, 64, 1), 0.92 * whole);  // a single one has an SM to itself
}

TEST(Tail, OthersSpreadItOverTheSms) {
  const std::string kernel = "cutlass_simt_sgemm_128x128_8x4_nn_align1";  // 8 warps
  const double whole = time_with_rest(kernel, 128, 128, 264);
  EXPECT_LT(time_with_rest(kernel, 128, 128, 112), 0.92 * whole);
}

// H200M, cta_pairs: of two CTAs with a FlashAttention-2 each the first ends a tenth of their time before the other, and
// 120 CTAs on top of two for each SM go to 120 SMs.
TEST(Tail, CtasThatMultiplyOnTensorCoresPart) {
  kernels::Program program;
  program.warps = 4;
  KernelLaunch launch;
  launch.program = std::make_shared<const kernels::Program>(program);
  launch.occupancy.ctas_per_sm = 2;
  launch.geometry = {.ctas = 264 + 120, .sms = 132};
  EXPECT_EQ(remainder_on_top(gpu_of("h200-sxm-141gb"), launch), 1);
  launch.arithmetic.tensor_cores = true;
  EXPECT_EQ(remainder_on_top(gpu_of("h200-sxm-141gb"), launch), 0);
}

// Rows sm_spread of h200_memory_micro.csv: where all CTAs run at once the last of 132 SMs has read its part of L2 1.10
// to 1.11 times as late as the mean.
TEST(WorstSm, GetsATenthLessOfL2WhereAllCtasRunAtOnce) {
  const arch::GpuSpec gpu = gpu_of("h200-sxm-141gb");
  arch::GpuSpec even = gpu;
  even.l2.slowest_rate = 0;
  const auto share = [](const arch::GpuSpec& of, std::int64_t waves) {
    PortRequest request;
    request.gpu = &of;
    request.ctas = {132 * waves, waves, 1, 132};
    return port_to_l2(request, of.clock.sustained).read_bytes_per_cycle;
  };
  EXPECT_NEAR(share(gpu, 1) / share(even, 1), 0.9, 0.01);
  EXPECT_GT(share(gpu, 8) / share(even, 8), 0.975);
}

}  // namespace

// Control bits against a scoreboard on SGEMM, and what the schedulers make of it.

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

// The queue before DRAM of CTAs that have drifted apart and open a row for every few bytes.

namespace {

double wait_at(const arch::GpuSpec& gpu, double utilisation, bool opens_rows) {
  Traffic traffic;
  traffic.opened_rows = opens_rows ? 1 : 0;
  return dram_queue(gpu.dram, traffic, gpu.clock.sustained).wait(utilisation);
}

TEST(DramWait, BanksThatOpenRowsServeSlowerThanTheBus) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  EXPECT_EQ(wait_at(gpu, 0, true), wait_at(gpu, 0, false));
  EXPECT_GT(wait_at(gpu, 0.8, true), wait_at(gpu, 0.8, false));
  EXPECT_GT(wait_at(gpu, 0.9, true), wait_at(gpu, 0.8, true));
}

// The wait makes the time and the time the wait: channels that take some of it away never cost any.
TEST(DramWait, MoreChannelsAreNeverSlower) {
  double before = 1e300;
  for (const char* bits : {"128", "160", "192", "224", "256", "320", "384"}) {
    const arch::GpuSpec gpu = gpu_of("rtx4070", {{"dram.bus_bits", bits}});
    const SimReport report = run(gpu, "naive_tiled_sgemm_t4", {.m = 4096, .n = 4096, .k = 8192});
    EXPECT_LE(report.time_us, before * 1.002) << bits;
    before = report.time_us;
  }
}

}  // namespace

}  // namespace noteg::gpu
