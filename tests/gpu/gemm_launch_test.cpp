// How a grid falls onto the chip: CTAs, iterations, batches, split K, and what follows for the time.
#include "sim/gpu/gemm/gemm_launch.hpp"

#include "sim/gpu/sm_cache.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

constexpr const char* gpu_id = "a100-pcie-80gb";
constexpr const char* kernel = "ampere_sgemm_128x128_nn";

kernels::KernelConfig split(int slices, kernels::SplitKMode mode) {
  kernels::KernelConfig config = kernel_of(kernel);
  config.split_k = slices;
  config.split_k_mode = mode;
  return config;
}

double mainloop_of(const char* gpu, const char* name, kernels::GemmShape shape) {
  return run(gpu_of(gpu), name, shape).phases_us.mainloop;
}

GemmGrid grid_of(const kernels::KernelConfig& config, const kernels::GemmShape& shape, int sms) {
  kernels::Program program;
  program.k_per_iteration = config.tile.k > 0 ? config.tile.k : 8;
  return plan_grid(config, shape, program, sms);
}

LaunchGeometry geometry_of(const kernels::KernelConfig& config, const kernels::GemmShape& shape, int sms) {
  return grid_of(config, shape, sms).geometry;
}

TEST(Grid, CountsPartialTilesAndPartialIterationsAsWholeOnes) {
  const kernels::KernelConfig config = kernel_of(kernel);
  const LaunchGeometry exact = geometry_of(config, {1024, 512, 800, 3}, 108);
  EXPECT_EQ(exact.ctas, 8 * 4 * 3);
  const LaunchGeometry partial = geometry_of(config, {1024 - 127, 512 - 1, 800 - 7, 3}, 108);
  EXPECT_EQ(partial.ctas, exact.ctas);
  EXPECT_EQ(partial.iterations, exact.iterations);
  EXPECT_EQ(geometry_of(config, {1025, 512, 801, 3}, 108).ctas, 9 * 4 * 3);
  EXPECT_EQ(geometry_of(config, {1025, 512, 801, 3}, 108).iterations, exact.iterations + 1);
}

TEST(Grid, TheBusiestSmHoldsTheRoundedUpShare) {
  const kernels::KernelConfig config = kernel_of(kernel);
  for (const std::int64_t batch : {1, 107, 108, 109, 216, 217}) {
    const LaunchGeometry launch = geometry_of(config, {128, 128, 64, batch}, 108);
    EXPECT_EQ(launch.ctas_of_busiest(), (batch + 107) / 108) << batch;
    EXPECT_EQ(launch.active_sms(), std::min<std::int64_t>(batch, 108)) << batch;
  }
}

// Counted on one H200, by cudaOccupancyMaxActiveClusters.
TEST(Grid, ClustersOfMoreThanTwoLeaveSmsIdle) {
  const arch::GpuSpec h200 = gpu_of("h200-sxm-141gb");
  for (const auto& [ctas, sms] : {std::pair{1, 132}, {2, 132}, {4, 120}, {8, 120}, {16, 112}})
    EXPECT_EQ(sms_for_clusters(h200, ctas), sms) << ctas;
  const arch::GpuSpec a100 = gpu_of("a100-pcie-40gb");
  EXPECT_EQ(sms_for_clusters(a100, 1), a100.sms);
}

TEST(Grid, TwiceTheDepthTakesTwiceTheMainLoopWithinTwoPercent) {
  const struct {
    const char *gpu, *name;
    kernels::GemmShape shape;
  } deep[] = {{"a100-pcie-40gb", "ampere_sgemm_128x64_tn", {4096, 4096, 4096, 1}},
              {"h100-sxm5-80gb", "cutlass_simt_sgemm_256x128_8x4_nn_align1", {4096, 4096, 4096, 1}},
              {"rtx4070", "cutlass_simt_sgemm_128x128_8x2_nn_align1", {2048, 2048, 4096, 1}}};
  for (const auto& c : deep) {
    kernels::GemmShape twice = c.shape;
    twice.k *= 2;
    EXPECT_NEAR(mainloop_of(c.gpu, c.name, twice) / mainloop_of(c.gpu, c.name, c.shape), 2, 0.04) << c.name;
  }
}

// A batch is a grid as many times as large: the same CTAs do the same work, whatever matrices they belong to.
TEST(Grid, ABatchTakesAsLongAsAGridAsManyTimesAsLarge) {
  const arch::GpuSpec gpu = gpu_of(gpu_id);
  for (const std::int64_t batch : {2, 7, 64}) {
    const SimReport batched = run(gpu, kernel, {256, 256, 512, batch});
    const SimReport wide = run(gpu, kernel, {256 * batch, 256, 512, 1});
    EXPECT_EQ(batched.grid_ctas, wide.grid_ctas);
    EXPECT_NEAR(batched.time_us / wide.time_us, 1, 0.02) << batch;
    EXPECT_DOUBLE_EQ(batched.warp_instructions, wide.warp_instructions) << batch;
  }
}

// From one number of SMs to the next a run may lose what the last round's idle slots cost, never more.
TEST(Grid, MoreSmsAreNotSlowerThanTheirTail) {
  const kernels::GemmShape shape{4096, 4096, 256, 1};
  double before = 1e300;
  for (const char* sms : {"27", "54", "81", "108"}) {
    const double now = run(gpu_of(gpu_id, {{"sms", sms}}), kernel, shape).time_us;
    EXPECT_LE(now, 1.01 * before) << sms;
    before = now;
  }
}

TEST(SplitK, MoreSmsAreNoSlower) {
  const kernels::GemmShape shape{300, 450, 42, 1};
  const kernels::KernelConfig slices = split(8, kernels::SplitKMode::serial);
  SmCache cache;
  double before = 1e300;
  for (const char* sms : {"46", "60", "72", "80", "88"}) {
    const double now = run(gpu_of("rtx4070", {{"sms", sms}}), slices, shape, {}, cache).time_us;
    EXPECT_LE(now, 1.01 * before) << sms;
    before = now;
  }
}

// 14 slices of 30 tiles: in two waves on 82 SMs, all at once on 140.
TEST(SplitK, MoreSmsAreNoSlowerWhereAllSlicesFitAtOnce) {
  kernels::KernelConfig slices = split(14, kernels::SplitKMode::serial);
  slices.tile = {32, 128, 16};
  SmCache cache;
  double before = 1e300;
  for (const char* sms : {"82", "100", "120", "140", "203", "300", "420"}) {
    const double now = run(gpu_of("rtx3090", {{"sms", sms}}), slices, {960, 95, 2475, 1}, {}, cache).time_us;
    EXPECT_LE(now, 1.01 * before) << sms;
    before = now;
  }
}

TEST(SplitK, SerialSlicesWaitForEachOther) {
  const arch::GpuSpec gpu = gpu_of(gpu_id);
  SmCache cache;
  const auto time = [&](int slices) {
    return run(gpu, split(slices, kernels::SplitKMode::serial), {128, 128, 64 * slices, 1}, {}, cache).time_us;
  };
  // Every slice has the same K, so that one more costs one more turn and nothing else.
  const double turn = time(3) - time(2);
  EXPECT_GT(turn, 0.5);
  EXPECT_NEAR(time(9) - time(8), turn, 0.05 * turn);
}

TEST(SplitK, AParallelReductionCostsAboutTheSameForAnyNumberOfSlices) {
  const arch::GpuSpec gpu = gpu_of(gpu_id);
  SmCache cache;
  const auto time = [&](int slices, kernels::SplitKMode mode) {
    return run(gpu, split(slices, mode), {128, 128, 64 * slices, 1}, {}, cache).time_us;
  };
  EXPECT_NEAR(time(32, kernels::SplitKMode::parallel), time(2, kernels::SplitKMode::parallel), 1.0);
  EXPECT_LT(time(32, kernels::SplitKMode::parallel), time(32, kernels::SplitKMode::serial));
}

// Five stages and two k tiles: the copies of two move data, as many instructions as before are issued.
TEST(ShortLoop, CopiesOnlyTheTilesThatThereAre) {
  const arch::GpuSpec gpu = gpu_of("a100-sxm4-80gb");
  kernels::KernelConfig config = kernel_of("cutlass_tensorop_f16_s16816gemm_f16_64x64_32x5_tn_align8");
  SmCache cache;
  const auto moved = [&](std::int64_t k, std::int64_t tiles) {
    const auto resolved = kernels::resolve(config, {4096, 4096, k, 1});
    EXPECT_TRUE(resolved);
    const auto program = gemm_program(gpu, *resolved, cache, tiles);
    EXPECT_TRUE(program);
    return std::ranges::count_if((*program)->code, [&](const kernels::Instruction& in) {
      return in.op == kernels::Opcode::ldgsts && in.pattern >= 0 &&
             (*program)->patterns[static_cast<std::size_t>(in.pattern)].active_mask != 0;
    });
  };
  const auto all = moved(64, 0);
  EXPECT_EQ(all % 5, 0) << "four tiles before the loop, one in it";
  EXPECT_EQ(moved(64, 2), all / 5 * 2);
  EXPECT_EQ(moved(4096, 128), all);
  config = {};
  config.family = kernels::Family::triton;
  config.dtype_in = config.dtype_out = kernels::DataType::f16;
  config.tile = {64, 64, 32};
  config.stages = 5;
  const double l1 = run(gpu, config, {4096, 4096, 64, 1}, {}, cache).memory.l1_bytes;
  EXPECT_NEAR(l1 / run(gpu, config, {4096, 4096, 128, 1}, {}, cache).memory.l1_bytes, 0.5, 0.15);
}

}  // namespace
}  // namespace noteg::gpu
