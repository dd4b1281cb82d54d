// Tensor-core kernels on whole GPUs: what a generation lacks, accumulation at half rate, the published ladder of
// shared-memory layouts.
#include <gtest/gtest.h>

#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

kernels::KernelConfig hgemm(kernels::DataType in = kernels::DataType::f16,
                            kernels::DataType acc = kernels::DataType::f32) {
  kernels::KernelConfig config;
  config.family = kernels::Family::mma;
  config.flavor = kernels::Flavor::cutlass;
  config.dtype_in = in;
  config.dtype_acc = acc;
  config.dtype_out = acc == kernels::DataType::s32 ? acc : kernels::DataType::f16;
  config.layout = kernels::Layout::nt;
  config.tile = {128, 128, 0};
  return config;
}

constexpr kernels::GemmShape large{4096, 4096, 4096, 1};

Result<SimReport> run_on(const std::string& gpu, const kernels::KernelConfig& config) {
  SmCache cache;
  SimOptions options;
  options.sm_clock_mhz = 1410;
  return simulate(gpu_of(gpu), config, large, options, cache);
}

double tflops(const std::string& gpu, const kernels::KernelConfig& config) {
  const Result<SimReport> report = run_on(gpu, config);
  EXPECT_TRUE(report) << to_string(report.errors());
  return report ? report->tflops : 0;
}

std::string refusal(const std::string& gpu, const kernels::KernelConfig& config) {
  const Result<SimReport> report = run_on(gpu, config);
  return report ? "" : to_string(report.errors());
}

TEST(Mma, WhatAGenerationLacksIsSaid) {
  using kernels::DataType;
  const std::string f8 = refusal("a100-sxm4-40gb", hgemm(DataType::f8e4m3));
  EXPECT_NE(f8.find("sm_80 has: m16n8k16_f16_f16"), std::string::npos) << f8;
  EXPECT_NE(f8.find("found m16n8k32_e4m3_f32"), std::string::npos) << f8;
  const std::string s4 = refusal("h200-sxm-141gb", hgemm(DataType::s4, DataType::s32));
  EXPECT_NE(s4.find("found m16n8k64_s4_s32"), std::string::npos) << s4;
  EXPECT_EQ(refusal("l4", hgemm(DataType::f8e4m3)), "");
}

TEST(Mma, GeForcePartsAddInF32AtHalfRate) {
  using kernels::DataType;
  const double half = tflops("rtx4070", hgemm()), full = tflops("rtx4070", hgemm(DataType::f16, DataType::f16));
  EXPECT_GT(full / half, 1.6);
  EXPECT_LT(full / half, 2.1);
  EXPECT_LT(tflops("l4", hgemm(DataType::f16, DataType::f16)) / tflops("l4", hgemm()), 1.2);
}

TEST(Mma, ShareOfPeakIsOfTheKernelsTypes) {
  const Result<SimReport> f16 = run_on("a100-sxm4-40gb", hgemm());
  ASSERT_TRUE(f16) << to_string(f16.errors());
  // 1024 multiply-accumulates per clock and SM.
  EXPECT_NEAR(f16->pct_of_peak, 100 * f16->tflops / (2 * 1024 * 108 * 1410e-6), 0.1);
  EXPECT_GT(f16->pipes.tensor, 0.5);
}

// SGLang's loop on an L40S, one CTA an SM: L2 holds a tile's 16 KB back for 1187 cycles where all SMs ask together.
TEST(Mma, LoopsOfTwoBuffersGetTheirTilesWhileOtherSmsMultiply) {
  kernels::KernelConfig config = hgemm(kernels::DataType::f8e4m3);
  config.tile = {128, 128, 64};
  config.warp_m = 64;
  config.warp_n = 32;
  config.stages = 2;
  const Result<SimReport> report = run_on("l40s", config);
  ASSERT_TRUE(report) << to_string(report.errors());
  EXPECT_GT(report->pipes.tensor, 0.65);
}

// Published for an A100 (f16, f32 accumulators), one buffer: 59.9 TFLOP/s with bank conflicts, 166.8 with padded rows,
// 190.9 swizzled; 220.8 with two. Nothing else is said of the kernels; ours have four warps of 64x64. Padded rows are
// as free of conflicts as swizzled ones here, which the published ones were not.
TEST(Mma, LayoutsOfSharedMemoryFormThePublishedLadder) {
  using kernels::SharedLayout;
  const auto at = [](SharedLayout layout, int stages) {
    kernels::KernelConfig config = hgemm();
    config.tile.k = 64;  // rows of 128 bytes: all eight of a matrix in the same banks
    config.warp_m = 64;
    config.warp_n = 64;
    config.shared_layout = layout;
    config.stages = stages;
    config.async_copy = true;
    return tflops("a100-sxm4-40gb", config);
  };
  const double conflicts = at(SharedLayout::plain, 1), padded = at(SharedLayout::padded, 1),
               swizzled = at(SharedLayout::swizzled, 1), ahead = at(SharedLayout::swizzled, 2);
  EXPECT_LT(conflicts, padded);
  EXPECT_LE(padded, swizzled * 1.01);
  EXPECT_LT(swizzled, ahead);
  EXPECT_NEAR(conflicts, 59.9, 0.1 * 59.9);
  EXPECT_NEAR(padded, 166.8, 0.25 * 166.8);
  EXPECT_NEAR(swizzled, 190.9, 0.1 * 190.9);
  EXPECT_NEAR(ahead, 220.8, 0.1 * 220.8);
}

}  // namespace
}  // namespace noteg::gpu
