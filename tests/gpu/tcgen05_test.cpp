// tcgen05 kernels on the whole chip: never faster than the tensor cores, nearly as fast where nothing else limits; what
// block scales add to the memory traffic; which GPUs have no tensor memory.
#include <gtest/gtest.h>

#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

constexpr const char* wide = "nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT";

SimReport at_1500(const std::string& name, const kernels::GemmShape& shape, bool exact = false,
                  const arch::Overrides& overrides = {}) {
  SimOptions options;
  options.sm_clock_mhz = 1500;
  options.exact = exact;
  return run(gpu_of("b200-sxm-180gb", overrides), name, shape, options);
}

TEST(Tcgen05Kernels, ComeCloseToTheTensorCoresAndNeverBeyond) {
  const SimReport report = at_1500(wide, {8192, 8192, 8192});
  const double least = 8192.0 * 8192 * 8192 / (148 * 4096.0);
  EXPECT_GT(report.cycles, least);
  EXPECT_LT(report.cycles, 1.2 * least);
}

TEST(Tcgen05Kernels, ExtrapolationStaysWithinOnePercentOfExact) {
  const double fast = at_1500(wide, {2048, 4096, 4096}).cycles, exact = at_1500(wide, {2048, 4096, 4096}, true).cycles;
  EXPECT_NEAR(fast / exact, 1, 0.01);
}

// Half the products a cycle: a large GEMM takes about twice as long, one that streams its weights as long as before.
TEST(Tcgen05Kernels, SlowerTensorCoresCostWhereTheyLimit) {
  const arch::Overrides half{{"sm.tcgen05.forms", "m128n256k16_bf16_f32=256/256 cycles"}};
  const auto ratio = [&](const char* name, const kernels::GemmShape& shape) {
    return at_1500(name, shape, false, half).cycles / at_1500(name, shape).cycles;
  };
  EXPECT_NEAR(ratio(wide, {8192, 8192, 8192}), 2, 0.2);
  EXPECT_NEAR(ratio("nvjet_sm100_tst_128x16_64x10_1x1_v_bz_TNT", {16, 16384, 16384}), 1, 0.05);
}

TEST(Tcgen05Kernels, BlockScalesComeFromMemoryToo) {
  const SimReport report =
      at_1500("nvjet_sm100_ootst_128x64_256x7_1x1_v_bz_Avec16UE4M3_Bvec16UE4M3_TNT", {64, 32768, 32768});
  EXPECT_NEAR(report.memory.dram_read_bytes / (32768.0 * 32768 * 0.5625), 1, 0.02);
}

// Short tiles wait for their scales; behind deep ones the epilogue hides them.
TEST(Tcgen05Kernels, ScalesOfRowsAndColumnsCostShortTiles) {
  const auto ratio = [](std::int64_t k) {
    kernels::KernelConfig plain;
    plain.family = kernels::Family::tcgen05;
    plain.tile = {128, 128, 128};
    plain.dtype_in = kernels::DataType::f8e4m3;
    plain.dtype_out = kernels::DataType::bf16;
    plain.layout = kernels::Layout::nt;
    kernels::KernelConfig scaled = plain;
    scaled.scale_vectors = true;
    const kernels::GemmShape shape{4096, 8192, k};
    const arch::GpuSpec gpu = gpu_of("b200-sxm-180gb");
    SmCache cache;
    return run(gpu, scaled, shape, {}, cache).cycles / run(gpu, plain, shape, {}, cache).cycles;
  };
  EXPECT_GT(ratio(128), 1.3);
  EXPECT_NEAR(ratio(16384), 1, 0.02);
}

TEST(Tcgen05Kernels, AreRefusedWhereThereIsNoTensorMemory) {
  SmCache cache;
  for (const char* gpu : {"h200-sxm-141gb", "rtx5090"}) {
    const Result<SimReport> report = simulate(gpu_of(gpu), kernel_of(wide), {4096, 4096, 4096}, {}, cache);
    ASSERT_FALSE(report) << gpu;
    EXPECT_NE(to_string(report.errors()).find("no multiplications into tensor memory"), std::string::npos) << gpu;
  }
}

}  // namespace
}  // namespace noteg::gpu
