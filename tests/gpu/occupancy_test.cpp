// Occupancy: the reference vectors of the CUDA rules, and what the occupancy API said of the kernels measured on H200.
#include "sim/gpu/occupancy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "arch/load.hpp"

namespace noteg::gpu {
namespace {

// One GPU of each SM generation; the limits come from its architecture file.
arch::OccupancySpec limits_of(const char* gpu) {
  const Result<arch::GpuSpec> spec = arch::load_gpu(gpu);
  EXPECT_TRUE(spec) << gpu;
  return spec ? spec->sm.occupancy : arch::OccupancySpec{};
}

struct Vector {
  const char* gpu;
  CtaResources cta;
  int ctas, warps;
};

// The occupancy reference notes, by compute capability 8.9, 8.6, 8.0 and 9.0.
constexpr std::array<Vector, 12> reference_vectors{{
    {"rtx4070", {256, 32, 0}, 6, 48},
    {"rtx4070", {256, 128, 33792}, 2, 16},
    {"rtx4070", {128, 255, 0}, 2, 8},
    {"rtx4070", {1024, 32, 8192}, 1, 32},
    {"rtx4070", {64, 32, 0}, 24, 48},
    {"rtx4070", {16, 32, 128}, 24, 24},
    {"rtx4070", {384, 40, 20480}, 4, 48},
    {"rtx3090", {64, 32, 0}, 16, 32},
    {"a100-pcie-40gb", {256, 128, 49152}, 2, 16},
    {"a100-pcie-40gb", {1024, 64, 0}, 1, 32},
    {"h200-sxm-141gb", {384, 168, 196672}, 1, 12},
    {"h200-sxm-141gb", {128, 64, 16384}, 8, 32},
}};

TEST(Occupancy, FollowsTheReferenceVectors) {
  for (const Vector& v : reference_vectors) {
    const Result<SmOccupancy> found = occupancy_of(limits_of(v.gpu), v.cta);
    ASSERT_TRUE(found) << to_string(found.errors());
    const std::string which = std::string(v.gpu) + " " + std::to_string(v.cta.threads) + " threads " +
                              std::to_string(v.cta.registers) + " registers";
    EXPECT_EQ(found->ctas_per_sm, v.ctas) << which;
    EXPECT_EQ(found->warps_per_sm, v.warps) << which;
  }
}

struct Measured {
  const char* kernel;
  int threads, registers, shared_bytes, ctas;
};

// Every kernel of the H200 measurements: threads, registers, shared memory, CTAs per SM of the occupancy API.
constexpr std::array<Measured, 88> h200_kernels{{
    // clang-format off
    {"naive_tiled_sgemm_t1", 1, 32, 8, 32},
    {"naive_tiled_sgemm_t2", 4, 32, 32, 32},
    {"naive_tiled_sgemm_t4", 16, 32, 128, 32},
    {"naive_tiled_sgemm_t5", 25, 32, 200, 32},
    {"naive_tiled_sgemm_t8", 64, 32, 512, 32},
    {"naive_tiled_sgemm_t12", 144, 32, 1152, 12},
    {"naive_tiled_sgemm_t16", 256, 32, 2048, 8},
    {"naive_tiled_sgemm_t24", 576, 32, 4608, 3},
    {"naive_tiled_sgemm_t32", 1024, 32, 8192, 2},
    {"blocked_sgemm_128x128x8_t8x8_sb", 256, 119, 8320, 2},
    {"blocked_sgemm_128x128x8_t8x8_db", 256, 127, 16640, 2},
    {"blocked_sgemm_64x64x8_t8x8_sb", 64, 141, 4224, 6},
    {"blocked_sgemm_64x64x8_t8x8_db", 64, 137, 8448, 6},
    {"blocked_sgemm_64x64x16_t4x4_sb", 256, 64, 8448, 4},
    {"blocked_sgemm_64x64x16_t4x4_db", 256, 64, 16896, 4},
    {"blocked_sgemm_128x64x16_t8x4_sb", 256, 80, 12544, 3},
    {"blocked_sgemm_128x64x16_t8x4_db", 256, 87, 25088, 2},
    {"blocked_sgemm_32x32x16_t4x4_sb", 64, 64, 4352, 16},
    {"blocked_sgemm_128x128x16_t8x8_db", 256, 129, 33280, 1},
    {"cutlass_simt_sgemm_128x128_8x4_tn_align1", 256, 128, 32768, 2},
    {"cutlass_simt_sgemm_128x128_8x4_nn_align1", 256, 132, 32768, 1},
    {"cutlass_simt_sgemm_128x64_8x4_tn_align1", 128, 128, 24576, 4},
    {"cutlass_simt_sgemm_128x64_8x4_nn_align1", 128, 128, 24576, 4},
    {"cutlass_simt_sgemm_64x128_8x4_tn_align1", 128, 106, 24576, 4},
    {"cutlass_simt_sgemm_64x128_8x4_nn_align1", 128, 137, 24576, 3},
    {"cutlass_simt_sgemm_64x64_8x4_tn_align1", 64, 135, 16384, 6},
    {"cutlass_simt_sgemm_64x64_8x4_nn_align1", 64, 138, 16384, 6},
    {"cutlass_simt_sgemm_128x32_8x4_tn_align1", 64, 128, 20480, 8},
    {"cutlass_simt_sgemm_128x32_8x4_nn_align1", 64, 130, 20480, 6},
    {"cutlass_simt_sgemm_32x128_8x4_tn_align1", 64, 128, 20480, 8},
    {"cutlass_simt_sgemm_32x128_8x4_nn_align1", 64, 130, 20480, 6},
    {"cutlass_simt_sgemm_256x128_8x4_tn_align1", 256, 254, 49152, 1},
    {"cutlass_simt_sgemm_256x128_8x4_nn_align1", 256, 254, 49152, 1},
    {"cutlass_simt_sgemm_128x128_8x3_tn_align1", 256, 108, 24576, 2},
    {"cutlass_simt_sgemm_128x128_8x5_tn_align1", 256, 108, 40960, 2},
    {"cutlass_simt_sgemm_128x128_8x2_nn_align1", 256, 137, 16640, 1},
    {"cutlass_simt_sgemm_64x64_8x3_nn_align1", 64, 138, 12288, 6},
    {"cutlass_simt_sgemm_64x64_8x5_nn_align1", 64, 138, 20480, 6},
    {"cutlass_tensorop_f16_f32acc_64x64_32x4_w32x32_tn", 128, 96, 32768, 5},
    {"cutlass_tensorop_f16_f32acc_64x64_64x3_w32x32_tn", 128, 94, 49152, 4},
    {"cutlass_tensorop_f16_f32acc_128x64_32x3_w64x32_tn", 128, 146, 36864, 3},
    {"cutlass_tensorop_f16_f32acc_128x64_64x3_w64x32_tn", 128, 160, 73728, 3},
    {"cutlass_tensorop_f16_f32acc_64x128_32x4_w32x64_tn", 128, 146, 49152, 3},
    {"cutlass_tensorop_f16_f32acc_128x128_32x2_w64x64_tn", 128, 250, 32768, 2},
    {"cutlass_tensorop_f16_f32acc_128x128_32x3_w64x64_tn", 128, 228, 49152, 2},
    {"cutlass_tensorop_f16_f32acc_128x128_32x4_w64x64_tn", 128, 228, 65536, 2},
    {"cutlass_tensorop_f16_f32acc_128x128_32x5_w64x64_tn", 128, 228, 81920, 2},
    {"cutlass_tensorop_f16_f32acc_128x128_64x3_w64x64_tn", 128, 242, 98304, 2},
    {"cutlass_tensorop_f16_f32acc_256x128_32x3_w64x64_tn", 256, 226, 73728, 1},
    {"cutlass_tensorop_f16_f32acc_256x128_64x3_w64x64_tn", 256, 242, 147456, 1},
    {"cutlass_tensorop_f16_f32acc_128x256_32x3_w64x64_tn", 256, 224, 73728, 1},
    {"cutlass_tensorop_f16_f32acc_128x256_64x3_w64x64_tn", 256, 242, 147456, 1},
    {"cutlass_tensorop_f16_f32acc_256x64_32x4_w64x64_tn", 128, 230, 81920, 2},
    {"cutlass_tensorop_f16_f32acc_128x128_32x4_w64x64_nn", 128, 228, 65536, 2},
    {"cutlass_tensorop_f16_f32acc_128x128_32x4_w64x64_nt", 128, 218, 65536, 2},
    {"cutlass_tensorop_f16_f32acc_128x128_32x4_w32x64_tn", 256, 132, 65536, 1},
    {"cutlass_tensorop_f16_f32acc_128x128_32x4_w64x64_tn_splitkserial", 128, 230, 65536, 2},
    {"cutlass_tensorop_f16_f32acc_64x64_64x3_w32x32_tn_splitkserial", 128, 96, 49152, 4},
    {"cutlass_tensorop_bf16_f32acc_64x64_32x4_w32x32_tn", 128, 96, 32768, 5},
    {"cutlass_tensorop_bf16_f32acc_128x64_32x4_w64x32_tn", 128, 146, 49152, 3},
    {"cutlass_tensorop_bf16_f32acc_128x128_32x4_w64x64_tn", 128, 228, 65536, 2},
    {"cutlass_tensorop_bf16_f32acc_128x256_64x3_w64x64_tn", 256, 242, 147456, 1},
    {"cutlass_tensorop_tf32_f32acc_64x64_32x3_w32x32_tn", 128, 94, 49152, 4},
    {"cutlass_tensorop_tf32_f32acc_128x64_16x5_w64x32_tn", 128, 146, 61440, 3},
    {"cutlass_tensorop_tf32_f32acc_128x128_16x4_w64x64_tn", 128, 228, 65536, 2},
    {"cutlass_tensorop_tf32_f32acc_128x128_32x3_w64x64_tn", 128, 242, 98304, 2},
    {"cutlass_tensorop_tf32_f32acc_256x128_16x3_w64x64_tn", 256, 226, 73728, 1},
    {"cutlass_tensorop_s8_s32acc_64x64_64x5_w32x32_tn", 128, 96, 40960, 5},
    {"cutlass_tensorop_s8_s32acc_128x64_64x4_w64x32_tn", 128, 146, 49152, 3},
    {"cutlass_tensorop_s8_s32acc_128x128_64x4_w64x64_tn", 128, 234, 65536, 2},
    {"cutlass_tensorop_s8_s32acc_128x128_128x3_w64x64_tn", 128, 246, 98304, 2},
    {"cutlass_tensorop_s8_s32acc_256x128_64x3_w64x64_tn", 256, 226, 73728, 1},
    {"cutlass_tensorop_f16_f16acc_64x64_32x4_w32x32_tn", 128, 80, 32768, 6},
    {"cutlass_tensorop_f16_f16acc_128x128_32x4_w64x64_tn", 128, 164, 65536, 3},
    {"cutlass_tensorop_f16_f16acc_256x128_32x3_w64x64_tn", 256, 162, 73728, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_64x128x64_1x1_ws", 256, 90, 221696, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_64x128x64_1x1_pingpong", 384, 168, 230400, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_64x128x64_2x1_pingpong", 384, 168, 230400, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_128x128x64_1x1_ws", 256, 154, 197120, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_128x128x64_1x1_coop", 384, 168, 214016, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_128x128x64_2x1_coop", 384, 168, 214016, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_128x128x64_2x1_pingpong", 384, 168, 205824, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_128x256x64_1x1_coop", 384, 168, 214016, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_128x256x64_2x1_coop", 384, 168, 214016, 1},
    {"cutlass_sm90_wgmma_f16_f32acc_256x128x64_2x1_coop", 384, 168, 214016, 1},
    {"cutlass_sm90_wgmma_bf16_f32acc_128x256x64_2x1_coop", 384, 168, 214016, 1},
    {"cutlass_sm90_wgmma_e4m3_f32acc_128x128x128_2x1_coop", 384, 168, 214016, 1},
    {"cutlass_sm90_wgmma_e4m3_f32acc_64x128x128_1x1_pingpong", 384, 168, 230400, 1},
    // clang-format on
}};

TEST(Occupancy, AgreesWithTheOccupancyApiOnEveryH200Kernel) {
  const arch::OccupancySpec h200 = limits_of("h200-sxm-141gb");
  for (const Measured& kernel : h200_kernels) {
    const Result<SmOccupancy> found = occupancy_of(h200, {kernel.threads, kernel.registers, kernel.shared_bytes});
    ASSERT_TRUE(found) << kernel.kernel << ": " << to_string(found.errors());
    EXPECT_EQ(found->ctas_per_sm, kernel.ctas) << kernel.kernel;
  }
}

TEST(Occupancy, NamesTheResourceThatRunsOutFirst) {
  const arch::OccupancySpec ada = limits_of("rtx4070");
  EXPECT_EQ(occupancy_of(ada, {256, 128, 1024})->limiter, Limiter::registers);
  EXPECT_EQ(occupancy_of(ada, {128, 32, 49152})->limiter, Limiter::shared_memory);
  EXPECT_EQ(occupancy_of(ada, {512, 32, 0})->limiter, Limiter::warps);
  EXPECT_EQ(occupancy_of(ada, {32, 32, 0})->limiter, Limiter::ctas);
}

// 64 registers give 8 CTAs of 128 threads; one register more takes the next unit of 256 per warp.
TEST(Occupancy, RegistersAreTakenInUnitsAndWarpsInFours) {
  const arch::OccupancySpec hopper = limits_of("h200-sxm-141gb");
  EXPECT_EQ(occupancy_of(hopper, {128, 64, 0})->ctas_per_sm, 8);
  EXPECT_EQ(occupancy_of(hopper, {128, 65, 0})->ctas_per_sm, 7);
  EXPECT_EQ(occupancy_of(hopper, {128, 72, 0})->ctas_per_sm, 7);
  EXPECT_EQ(occupancy_of(hopper, {128, 73, 0})->ctas_per_sm, 6);
}

TEST(Occupancy, L1GetsWhatTheCarveOutLeaves) {
  const arch::OccupancySpec ada = limits_of("rtx4070");
  const Result<SmOccupancy> none = occupancy_of(ada, {256, 32, 0});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->shared_carve_out.value, 0);
  EXPECT_EQ(none->l1_bytes.value, 128 * 1024);
  // Two CTAs of 16640 + 1024 reserved bytes need more than 32 KiB: the next carve-out is 64 KiB.
  const Result<SmOccupancy> two = occupancy_of(ada, {256, 118, 16640});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->ctas_per_sm, 2);
  EXPECT_EQ(two->shared_carve_out.value, 64 * 1024);
  EXPECT_EQ(two->l1_bytes.value, 64 * 1024);
}

TEST(Occupancy, ACtaMayTakeAllButTheReservedKilobyte) {
  const arch::OccupancySpec ada = limits_of("rtx4070");
  EXPECT_TRUE(occupancy_of(ada, {256, 32, 99 * 1024}));
  const Result<SmOccupancy> more = occupancy_of(ada, {256, 32, 99 * 1024 + 1});
  ASSERT_FALSE(more);
  EXPECT_EQ(to_string(more.errors()),
            "shared_bytes: expected at most 101376 bytes of shared memory per CTA, found 101377\n");
}

TEST(Occupancy, SaysWhatDoesNotFit) {
  const arch::OccupancySpec ada = limits_of("rtx4070");
  const Result<SmOccupancy> nothing = occupancy_of(ada, {1024, 128, 0});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(to_string(nothing.errors()),
            "registers: expected a CTA that fits one SM, found 32 warps of 128 registers and 0 bytes of shared "
            "memory\n");
  const Result<SmOccupancy> several = occupancy_of(ada, {1025, 256, 200000});
  ASSERT_FALSE(several);
  EXPECT_EQ(several.errors().size(), 3U);
  EXPECT_FALSE(occupancy_of(ada, {0, 32, 0}));
  EXPECT_FALSE(occupancy_of(ada, {-1, -1, -1}));
  EXPECT_FALSE(occupancy_of(ada, {32, 32, std::numeric_limits<std::int64_t>::max()}));
}

}  // namespace
}  // namespace noteg::gpu
