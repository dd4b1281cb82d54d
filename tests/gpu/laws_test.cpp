// Laws that every answer obeys, whatever the machine's numbers are.
#include <cmath>

#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

struct Case {
  const char* gpu;
  const char* kernel;
  kernels::GemmShape shape;
};

const Case cases[] = {
    {"rtx4070", "cutlass_simt_sgemm_128x128_8x2_nn_align1", {2048, 2048, 2048, 1}},
    {"l4", "ampere_sgemm_128x128_tn", {4096, 1024, 777, 1}},
    {"a100-pcie-80gb", "ampere_sgemm_64x64_nn", {1000, 999, 100, 3}},
    {"a100-pcie-40gb", "ampere_sgemm_32x32_sliced1x4_tn", {64, 64, 8192, 1}},
    {"h100-sxm5-80gb", "cutlass_simt_sgemm_256x128_8x4_tn_align1", {8192, 8192, 8192, 1}},
    {"h200-sxm-141gb", "blocked_sgemm_128x128x8_t8x8_db", {1, 1, 1, 1}},
    {"h200-sxm-141gb", "naive_tiled_sgemm_t32", {1500, 700, 300, 1}},
    {"rtx-a6000", "naive_tiled_sgemm_t8", {333, 444, 555, 2}},
    {"rtx3090", "cutlass_simt_sgemm_64x64_8x4_nn_align1", {16384, 16384, 8, 1}},
};

void expect_fraction(double value, const std::string& what) {
  EXPECT_GE(value, 0) << what;
  EXPECT_LE(value, 1) << what;
}

TEST(Laws, PhasesSumToTheTime) {
  for (const Case& c : cases) {
    const SimReport r = run(gpu_of(c.gpu), c.kernel, c.shape);
    EXPECT_GT(r.time_us, 0) << c.kernel;
    EXPECT_NEAR(r.phases_us.total(), r.time_us, 1e-9 * r.time_us) << c.kernel;
    EXPECT_NEAR(r.cycles, r.time_us * r.sm_clock_mhz, 1e-9 * r.cycles) << c.kernel;
    for (const double phase :
         {r.phases_us.launch, r.phases_us.prologue, r.phases_us.mainloop, r.phases_us.epilogue, r.phases_us.tail}) {
      EXPECT_GE(phase, 0) << c.kernel;
    }
  }
}

TEST(Laws, FractionsAreFractionsAndStallsSumToOne) {
  for (const Case& c : cases) {
    const SimReport r = run(gpu_of(c.gpu), c.kernel, c.shape);
    double sum = 0;
    for (std::size_t i = 0; i < r.stalls.size(); ++i) {
      expect_fraction(r.stalls[i], std::string(c.kernel) + " stall " + std::to_string(i));
      sum += r.stalls[i];
    }
    EXPECT_NEAR(sum, 1, 1e-9) << c.kernel;
    expect_fraction(r.pipes.fma, c.kernel);
    expect_fraction(r.pipes.alu, c.kernel);
    expect_fraction(r.pipes.lsu, c.kernel);
    expect_fraction(r.pipes.issue, c.kernel);
    expect_fraction(r.memory.l2_hit_rate, c.kernel);
    expect_fraction(r.pct_of_peak / 100, c.kernel);
    EXPECT_GE(r.bottleneck.speedup_if_removed, 1) << c.kernel;
    double instructions = 0;
    for (const auto& [opcode, count] : r.instructions_by_opcode) instructions += count;
    EXPECT_NEAR(instructions, r.warp_instructions, 1e-9 * r.warp_instructions) << c.kernel;
  }
}

TEST(Laws, AColdStartReadsEveryInputByteOnceAndWritesEveryOutputByte) {
  for (const Case& c : cases) {
    const SimReport r = run(gpu_of(c.gpu), c.kernel, c.shape, starting_from(L2State::cold));
    const auto m = static_cast<double>(c.shape.m), n = static_cast<double>(c.shape.n);
    const auto k = static_cast<double>(c.shape.k), batch = static_cast<double>(c.shape.batch);
    EXPECT_GE(r.memory.dram_read_bytes, (1 - 1e-12) * 4 * batch * (m * k + k * n)) << c.kernel;
    EXPECT_GE(r.memory.dram_write_bytes, (1 - 1e-12) * 4 * batch * m * n) << c.kernel;
  }
}

TEST(Laws, AWarmStartIsNeverSlowerThanAColdOne) {
  for (const Case& c : cases) {
    const arch::GpuSpec gpu = gpu_of(c.gpu);
    EXPECT_LE(run(gpu, c.kernel, c.shape, starting_from(L2State::warm)).time_us,
              1.01 * run(gpu, c.kernel, c.shape, starting_from(L2State::cold)).time_us)
        << c.kernel;
  }
}

TEST(Laws, TwiceTheDepthTakesTwiceTheMainLoop) {
  const Case deep[] = {{"a100-pcie-80gb", "ampere_sgemm_128x128_nn", {4096, 4096, 8192, 1}},
                       {"h200-sxm-141gb", "cutlass_simt_sgemm_128x128_8x4_tn_align1", {4096, 4096, 8192, 1}},
                       {"h200-sxm-141gb", "blocked_sgemm_64x64x16_t4x4_sb", {4096, 4096, 8192, 1}},
                       {"rtx4070", "naive_tiled_sgemm_t16", {1024, 1024, 8192, 1}}};
  for (const Case& c : deep) {
    const arch::GpuSpec gpu = gpu_of(c.gpu);
    kernels::GemmShape twice = c.shape;
    twice.k *= 2;
    EXPECT_NEAR(run(gpu, c.kernel, twice).phases_us.mainloop / run(gpu, c.kernel, c.shape).phases_us.mainloop, 2, 0.04)
        << c.kernel;
  }
}

// Twice the number of a field, as an override.
arch::Overrides scaled(const char* key, double value, double factor, const char* unit) {
  return {{key, std::to_string(value * factor) + unit}};
}

TEST(Laws, MoreBandwidthNeverSlowsAKernel) {
  for (const Case& c : cases) {
    const arch::GpuSpec gpu = gpu_of(c.gpu);
    const double before = run(gpu, c.kernel, c.shape).time_us;
    const arch::GpuSpec l2 = gpu_of(c.gpu, scaled("l2.read_bandwidth", gpu.l2.read_bandwidth.value, 2, " B/clk"));
    ASSERT_NEAR(l2.l2.read_bandwidth.value, 2 * gpu.l2.read_bandwidth.value, 1e-3);
    EXPECT_LE(run(l2, c.kernel, c.shape).time_us, 1.01 * before) << c.kernel;
    const arch::GpuSpec dram = gpu_of(c.gpu, scaled("dram.bandwidth", gpu.dram.bandwidth.value * 1e-9, 2, " GB/s"));
    ASSERT_NEAR(dram.dram.bandwidth.value, 2 * gpu.dram.bandwidth.value, 1e6);
    EXPECT_LE(run(dram, c.kernel, c.shape).time_us, 1.01 * before) << c.kernel;
  }
}

TEST(Laws, HalfTheDramBandwidthSlowsOnlyWhatDramLimits) {
  const arch::GpuSpec full = gpu_of("a100-pcie-80gb");
  const arch::GpuSpec half =
      gpu_of("a100-pcie-80gb", scaled("dram.bandwidth", full.dram.bandwidth.value * 1e-9, 0.5, " GB/s"));
  const auto slowdown = [&](const kernels::GemmShape& shape) {
    return run(half, "ampere_sgemm_128x128_nn", shape).time_us / run(full, "ampere_sgemm_128x128_nn", shape).time_us;
  };
  const kernels::GemmShape writes_much{16384, 16384, 8, 1}, computes_much{8192, 8192, 8192, 1};
  EXPECT_EQ(run(full, "ampere_sgemm_128x128_nn", writes_much).roofline.bound, Bound::dram);
  EXPECT_GE(slowdown(writes_much), 1.6);
  EXPECT_LE(slowdown(writes_much), 2.1);
  EXPECT_NEAR(slowdown(computes_much), 1, 0.02);
}

TEST(Laws, MoreSmsAreNotSlower) {
  // The grid of 64 x 64 tiles divides by neither number of SMs; the tail of the last round stays below 1 %.
  const kernels::GemmShape shape{8192, 8192, 2048, 1};
  double before = 1e300;
  for (const char* sms : {"16", "32", "64", "108", "128"}) {
    const double now = run(gpu_of("a100-pcie-80gb", {{"sms", sms}}), "ampere_sgemm_128x128_nn", shape).time_us;
    EXPECT_LE(now, 1.01 * before) << sms;
    before = now;
  }
}

// While the last CTAs store, DRAM takes what they store: it is not idle behind the last reads.
TEST(Laws, OneWaveThatStoresToDramIsNoSlowerThanALittleMoreThanOne) {
  SimOptions cold = starting_from(L2State::cold);
  cold.sm_clock_mhz = 2040;
  SmCache cache;
  const auto time_on = [&](const char* sms) {
    return run(gpu_of("a40", {{"sms", sms}}),
               kernel_of("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_"
                         "alignc4_execute_kernel__5x_cublas"),
               {238, 10894, 64, 1}, cold, cache)
        .time_us;
  };
  EXPECT_LE(time_on("171"), 1.01 * time_on("170"));  // of two CTAs each, 342 in all
}

TEST(Laws, SplitKMultipliesTheCtasAndHelpsADeepNarrowProblem) {
  const arch::GpuSpec gpu = gpu_of("a100-pcie-80gb");
  const kernels::GemmShape deep{256, 256, 65536, 1};
  kernels::KernelConfig config = kernel_of("ampere_sgemm_128x128_nn");
  SmCache cache;
  const SimReport whole = run(gpu, config, deep, {}, cache);
  config.split_k = 8;
  config.split_k_mode = kernels::SplitKMode::parallel;
  const SimReport split = run(gpu, config, deep, {}, cache);
  EXPECT_EQ(whole.grid_ctas, 4);
  EXPECT_EQ(split.grid_ctas, 32);
  EXPECT_LT(split.time_us, 0.5 * whole.time_us);
}

}  // namespace
}  // namespace noteg::gpu
