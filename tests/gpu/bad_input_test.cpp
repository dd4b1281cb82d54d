// What cannot be simulated is said in a diagnostic, never by a crash or a wrong number.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

// The diagnostics of a simulation that must be refused.
std::string refusal(const kernels::KernelConfig& config, const kernels::GemmShape& shape = {1024, 1024, 1024, 1},
                    const std::string& gpu = "rtx4070") {
  SmCache cache;
  const Result<SimReport> report = simulate(gpu_of(gpu), config, shape, {}, cache);
  EXPECT_FALSE(report) << config.name;
  return report ? "" : to_string(report.errors());
}

kernels::KernelConfig sgemm() { return kernel_of("cutlass_simt_sgemm_128x128_8x2_nn_align1"); }

TEST(BadInput, TilesBeyondTheSharedMemoryAreRefused) {
  kernels::KernelConfig config = sgemm();
  config.shared_bytes = 200 * 1024;
  EXPECT_NE(refusal(config).find("shared"), std::string::npos);
  // (128 + 128) x 32 floats in four stages are 128 KiB: more than the 99 KiB of Ada.
  kernels::KernelConfig deep = kernel_of("cutlass_simt_sgemm_128x128_8x4_tn_align1");
  deep.tile.k = 32;
  deep.shared_bytes.reset();
  EXPECT_NE(refusal(deep).find("shared"), std::string::npos) << refusal(deep);
}

TEST(BadInput, TilesBeyondTheRegistersAreRefused) {
  kernels::KernelConfig config = sgemm();
  config.registers = 256;
  EXPECT_FALSE(refusal(config).empty());
  kernels::KernelConfig wide = sgemm();
  wide.registers.reset();
  wide.tile = {256, 256, 8};
  wide.warp_m = 128;
  wide.warp_n = 64;
  wide.thread_m = 16;
  wide.thread_n = 16;
  wide.threads.reset();
  EXPECT_FALSE(refusal(wide).empty());
}

TEST(BadInput, EmptyAndHugeProblemsAreRefused) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const kernels::GemmShape& shape : {kernels::GemmShape{0, 1, 1, 1},
                                          {1, 0, 1, 1},
                                          {1, 1, 0, 1},
                                          {1, 1, 1, 0},
                                          {-1, 1, 1, 1},
                                          {1, 1, -1, 1},
                                          {1, 1, 1, -1},
                                          {most, most, most, most},
                                          {most, 1, 1, 1},
                                          {1, 1, most, 1},
                                          {1, 1, 1, most},
                                          {std::int64_t{1} << 31, 1, 1, 1},
                                          {std::numeric_limits<std::int64_t>::min(), 1, 1, 1},
                                          {2147483647, 2147483647, 2147483647, 1}}) {
    EXPECT_FALSE(refusal(sgemm(), shape).empty()) << shape.m << "x" << shape.n << "x" << shape.k << "x" << shape.batch;
  }
}

TEST(BadInput, TheLargestLegalProblemsGiveAFiniteTime) {
  for (const kernels::GemmShape& shape : {kernels::GemmShape{2147483647, 1, 1, 1},
                                          {1, 2147483647, 1, 1},
                                          {1, 1, 2147483647, 1},
                                          {1, 1, 1, 2147483647},
                                          {1 << 19, 1 << 19, 1 << 19, 1}}) {
    SmCache cache;
    const Result<SimReport> report = simulate(gpu_of("rtx4070", {{"dram.size", "4096 GB"}}), sgemm(), shape, {}, cache);
    ASSERT_TRUE(report) << to_string(report.errors());
    EXPECT_TRUE(std::isfinite(report->time_us));
    EXPECT_GT(report->time_us, 0);
  }
}

// Three square matrices of 4 bytes in 12 GiB: 32768 fits, 32769 does not.
TEST(BadInput, OperandsThatDoNotFitTheMemoryAreRefused) {
  const std::string found = refusal(sgemm(), {32769, 32769, 32769, 1});
  EXPECT_NE(
      found.find("shape: expected operands that fit the memory of rtx4070, 12 GiB (dram.size), found A, B and C of"),
      std::string::npos)
      << found;
  EXPECT_GT(run(gpu_of("rtx4070"), "cutlass_simt_sgemm_128x128_8x2_nn_align1", {32768, 32768, 32768, 1}).time_us, 0);
  refusal(sgemm(), {32768, 32768, 32768, 2});
}

TEST(BadInput, TensorCoresTakeNoF32) {
  kernels::KernelConfig config = sgemm();
  config.family = kernels::Family::mma;
  EXPECT_NE(refusal(config).find("dtype_in"), std::string::npos) << refusal(config);
  config.family = kernels::Family::wgmma;  // of which this GPU has nothing
  EXPECT_NE(refusal(config).find("family"), std::string::npos) << refusal(config);
}

TEST(BadInput, NonsenseConfigurationsAreRefused) {
  EXPECT_FALSE(refusal(kernels::KernelConfig{}).empty());
  for (const kernels::Tile tile :
       {kernels::Tile{0, 128, 8}, {128, -128, 8}, {2147483647, 2147483647, 2147483647}, {1, 1, 1}, {127, 129, 8}}) {
    kernels::KernelConfig config = sgemm();
    config.tile = tile;
    EXPECT_FALSE(refusal(config).empty()) << tile.m << "x" << tile.n << "x" << tile.k;
  }
  for (const int value : {0, -1, 2147483647}) {
    kernels::KernelConfig config = sgemm();
    config.stages = value;
    EXPECT_FALSE(refusal(config).empty()) << "stages " << value;
    config = sgemm();
    config.threads = value;
    EXPECT_FALSE(refusal(config).empty()) << "threads " << value;
    config = sgemm();
    config.registers = value;
    EXPECT_FALSE(refusal(config).empty()) << "registers " << value;
    config = sgemm();
    config.split_k = value;
    EXPECT_FALSE(refusal(config).empty()) << "split_k " << value;
    config = sgemm();
    config.swizzle_log2 = value == 0 ? 64 : value;
    EXPECT_FALSE(refusal(config).empty()) << "swizzle " << config.swizzle_log2;
  }
}

}  // namespace
}  // namespace noteg::gpu
