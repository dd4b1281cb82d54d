// Kernel names: every kernel that the measured data name, in the orientation of the row-major problem.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ostream>

#include "kernels/config/config.hpp"

namespace noteg::kernels {
namespace {

constexpr GemmShape cube{4096, 4096, 4096, 1};
constexpr const char* xmma_tail = "_ffma_aligna4_alignc4_execute_kernel__5x_cublas";

struct Named {
  std::string name;
  bool swapped;
  Layout layout;
  int m, n, k;         // tile
  int warp_m, warp_n;  // 0: no warp tile
  int threads, stages, sliced_k, registers, shared_bytes;
};

void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

std::string xmma(const std::string& what) { return "sm80_xmma_gemm_f32f32_f32f32_f32_" + what + xmma_tail; }

// Threads of the NeuSight traces, registers and shared memory of the H200 measurements and of cuBLAS's kernels.
const std::vector<Named>& names() {
  static const std::vector<Named> all{
      // clang-format off
      {"ampere_sgemm_128x128_nn", true, Layout::nn, 128, 128, 8, 32, 64, 256, 2, 1, 118, 16640},
      {"ampere_sgemm_128x128_tn", true, Layout::nt, 128, 128, 8, 32, 64, 256, 2, 1, 118, 16896},
      {"ampere_sgemm_128x32_nn", true, Layout::nn, 32, 128, 8, 16, 32, 256, 2, 1, 57, 16384},
      {"ampere_sgemm_128x32_sliced1x4_tn", true, Layout::nt, 32, 128, 32, 32, 64, 256, 2, 4, 134, 43008},
      {"ampere_sgemm_128x32_tn", true, Layout::nt, 32, 128, 8, 16, 32, 256, 2, 1, 57, 16384},
      {"ampere_sgemm_128x64_tn", true, Layout::nt, 64, 128, 8, 32, 64, 128, 2, 1, 122, 12800},
      {"ampere_sgemm_32x128_nn", true, Layout::nn, 128, 32, 8, 32, 16, 256, 2, 1, 57, 16384},
      {"ampere_sgemm_32x128_tn", true, Layout::nt, 128, 32, 8, 32, 16, 256, 2, 1, 57, 16384},
      {"ampere_sgemm_32x32_sliced1x4_nn", true, Layout::nn, 32, 32, 32, 32, 32, 128, 2, 4, 86, 32768},
      {"ampere_sgemm_32x32_sliced1x4_tn", true, Layout::nt, 32, 32, 32, 32, 32, 128, 2, 4, 86, 32768},
      {"ampere_sgemm_64x32_sliced1x4_nn", true, Layout::nn, 32, 64, 32, 32, 32, 256, 2, 4, 82, 25600},
      {"ampere_sgemm_64x32_sliced1x4_tn", true, Layout::nt, 32, 64, 32, 32, 32, 256, 2, 4, 82, 26624},
      {"ampere_sgemm_64x64_tn", true, Layout::nt, 64, 64, 8, 32, 64, 64, 2, 1, 126, 8704},
      {"blocked_sgemm_128x128x16_t8x8_db", false, Layout::nn, 128, 128, 16, 0, 0, 256, 2, 1, 129, 33280},
      {"blocked_sgemm_128x128x8_t8x8_db", false, Layout::nn, 128, 128, 8, 0, 0, 256, 2, 1, 127, 16640},
      {"blocked_sgemm_128x128x8_t8x8_sb", false, Layout::nn, 128, 128, 8, 0, 0, 256, 1, 1, 119, 8320},
      {"blocked_sgemm_128x64x16_t8x4_db", false, Layout::nn, 128, 64, 16, 0, 0, 256, 2, 1, 87, 25088},
      {"blocked_sgemm_128x64x16_t8x4_sb", false, Layout::nn, 128, 64, 16, 0, 0, 256, 1, 1, 80, 12544},
      {"blocked_sgemm_32x32x16_t4x4_sb", false, Layout::nn, 32, 32, 16, 0, 0, 64, 1, 1, 64, 4352},
      {"blocked_sgemm_64x64x16_t4x4_db", false, Layout::nn, 64, 64, 16, 0, 0, 256, 2, 1, 64, 16896},
      {"blocked_sgemm_64x64x16_t4x4_sb", false, Layout::nn, 64, 64, 16, 0, 0, 256, 1, 1, 64, 8448},
      {"blocked_sgemm_64x64x8_t8x8_db", false, Layout::nn, 64, 64, 8, 0, 0, 64, 2, 1, 137, 8448},
      {"blocked_sgemm_64x64x8_t8x8_sb", false, Layout::nn, 64, 64, 8, 0, 0, 64, 1, 1, 141, 4224},
      {"cutlass_80_simt_sgemm_128x256_8x4_nn_align1", true, Layout::nn, 256, 128, 8, 64, 64, 256, 4, 1, 254, 49152},
      {"cutlass_80_simt_sgemm_128x256_8x4_tn_align1", true, Layout::nt, 256, 128, 8, 64, 64, 256, 4, 1, 254, 49152},
      {"cutlass_80_simt_sgemm_128x32_8x5_nn_align1", true, Layout::nn, 32, 128, 8, 32, 32, 128, 5, 1, 92, 25600},
      {"cutlass_80_simt_sgemm_256x128_8x4_nn_align1", true, Layout::nn, 128, 256, 8, 64, 64, 256, 4, 1, 254, 49152},
      {"cutlass_80_simt_sgemm_256x128_8x4_tn_align1", true, Layout::nt, 128, 256, 8, 64, 64, 256, 4, 1, 254, 49152},
      {"cutlass_simt_sgemm_128x128_8x2_nn_align1", false, Layout::tt, 128, 128, 8, 32, 64, 256, 2, 1, 137, 16640},
      {"cutlass_simt_sgemm_128x128_8x2_nt_align1", false, Layout::tn, 128, 128, 8, 32, 64, 256, 2, 1, 133, 16384},
      {"cutlass_simt_sgemm_128x128_8x2_tn_align1", false, Layout::nt, 128, 128, 8, 32, 64, 256, 2, 1, 133, 16896},
      {"cutlass_simt_sgemm_128x128_8x2_tt_align1", false, Layout::nn, 128, 128, 8, 32, 64, 256, 2, 1, 137, 16640},
      {"cutlass_simt_sgemm_128x128_8x3_tn_align1", false, Layout::nt, 128, 128, 8, 32, 64, 256, 3, 1, 108, 24576},
      {"cutlass_simt_sgemm_128x128_8x4_nn_align1", false, Layout::tt, 128, 128, 8, 32, 64, 256, 4, 1, 132, 32768},
      {"cutlass_simt_sgemm_128x128_8x4_tn_align1", false, Layout::nt, 128, 128, 8, 32, 64, 256, 4, 1, 128, 32768},
      {"cutlass_simt_sgemm_128x128_8x5_tn_align1", false, Layout::nt, 128, 128, 8, 32, 64, 256, 5, 1, 108, 40960},
      {"cutlass_simt_sgemm_128x32_8x4_nn_align1", false, Layout::tt, 128, 32, 8, 64, 32, 64, 4, 1, 130, 20480},
      {"cutlass_simt_sgemm_128x32_8x4_tn_align1", false, Layout::nt, 128, 32, 8, 64, 32, 64, 4, 1, 128, 20480},
      {"cutlass_simt_sgemm_128x64_8x4_nn_align1", false, Layout::tt, 128, 64, 8, 64, 32, 128, 4, 1, 128, 24576},
      {"cutlass_simt_sgemm_128x64_8x4_tn_align1", false, Layout::nt, 128, 64, 8, 64, 32, 128, 4, 1, 128, 24576},
      {"cutlass_simt_sgemm_256x128_8x4_nn_align1", false, Layout::tt, 256, 128, 8, 64, 64, 256, 4, 1, 254, 49152},
      {"cutlass_simt_sgemm_256x128_8x4_tn_align1", false, Layout::nt, 256, 128, 8, 64, 64, 256, 4, 1, 254, 49152},
      {"cutlass_simt_sgemm_32x128_8x4_nn_align1", false, Layout::tt, 32, 128, 8, 32, 64, 64, 4, 1, 130, 20480},
      {"cutlass_simt_sgemm_32x128_8x4_tn_align1", false, Layout::nt, 32, 128, 8, 32, 64, 64, 4, 1, 128, 20480},
      {"cutlass_simt_sgemm_64x128_8x4_nn_align1", false, Layout::tt, 64, 128, 8, 32, 64, 128, 4, 1, 137, 24576},
      {"cutlass_simt_sgemm_64x128_8x4_tn_align1", false, Layout::nt, 64, 128, 8, 32, 64, 128, 4, 1, 106, 24576},
      {"cutlass_simt_sgemm_64x64_8x3_nn_align1", false, Layout::tt, 64, 64, 8, 32, 64, 64, 3, 1, 138, 12288},
      {"cutlass_simt_sgemm_64x64_8x4_nn_align1", false, Layout::tt, 64, 64, 8, 32, 64, 64, 4, 1, 138, 16384},
      {"cutlass_simt_sgemm_64x64_8x4_tn_align1", false, Layout::nt, 64, 64, 8, 32, 64, 64, 4, 1, 135, 16384},
      {"cutlass_simt_sgemm_64x64_8x5_nn_align1", false, Layout::tt, 64, 64, 8, 32, 64, 64, 5, 1, 138, 20480},
      {"naive_static_sgemm_t16", false, Layout::nn, 16, 16, 16, 0, 0, 256, 1, 1, 32, 2048},
      {"naive_tiled_sgemm_t1", false, Layout::nn, 1, 1, 1, 0, 0, 1, 1, 1, 32, 8},
      {"naive_tiled_sgemm_t12", false, Layout::nn, 12, 12, 12, 0, 0, 144, 1, 1, 32, 1152},
      {"naive_tiled_sgemm_t16", false, Layout::nn, 16, 16, 16, 0, 0, 256, 1, 1, 32, 2048},
      {"naive_tiled_sgemm_t2", false, Layout::nn, 2, 2, 2, 0, 0, 4, 1, 1, 32, 32},
      {"naive_tiled_sgemm_t24", false, Layout::nn, 24, 24, 24, 0, 0, 576, 1, 1, 32, 4608},
      {"naive_tiled_sgemm_t32", false, Layout::nn, 32, 32, 32, 0, 0, 1024, 1, 1, 32, 8192},
      {"naive_tiled_sgemm_t4", false, Layout::nn, 4, 4, 4, 0, 0, 16, 1, 1, 32, 128},
      {"naive_tiled_sgemm_t5", false, Layout::nn, 5, 5, 5, 0, 0, 25, 1, 1, 32, 200},
      {"naive_tiled_sgemm_t8", false, Layout::nn, 8, 8, 8, 0, 0, 64, 1, 1, 32, 512},
      {xmma("nn_n_tilesize128x128x8_stage3_warpsize2x2x1"), false, Layout::nn, 128, 128, 8, 64, 64, 128, 3, 1, 254, 33792},
      {xmma("nn_n_tilesize128x32x8_stage3_warpsize2x2x1"), false, Layout::nn, 128, 32, 8, 64, 16, 128, 3, 1, 118, 15744},
      {xmma("nn_n_tilesize128x64x8_stage3_warpsize2x2x1"), false, Layout::nn, 128, 64, 8, 64, 32, 128, 3, 1, 224, 18816},
      {xmma("nn_n_tilesize256x64x8_stage3_warpsize2x2x1"), false, Layout::nn, 256, 64, 8, 128, 32, 128, 3, 1, 255, 31104},
      {xmma("nn_n_tilesize32x32x8_stage3_warpsize1x2x1"), false, Layout::nn, 32, 32, 8, 32, 16, 64, 3, 1, 80, 6528},
      {xmma("nn_n_tilesize32x64x8_stage3_warpsize1x2x1"), false, Layout::nn, 32, 64, 8, 32, 32, 64, 3, 1, 102, 9600},
      {xmma("nn_n_tilesize64x128x8_stage3_warpsize1x4x1"), false, Layout::nn, 64, 128, 8, 64, 32, 128, 3, 1, 220, 18816},
      {xmma("nn_n_tilesize64x256x8_stage3_warpsize1x4x1"), false, Layout::nn, 64, 256, 8, 64, 64, 128, 3, 1, 255, 33280},
      {xmma("nn_n_tilesize64x32x8_stage3_warpsize1x2x1"), false, Layout::nn, 64, 32, 8, 64, 16, 64, 3, 1, 121, 9600},
      {xmma("nn_n_tilesize64x64x8_stage3_warpsize1x4x1"), false, Layout::nn, 64, 64, 8, 64, 16, 128, 3, 1, 121, 12672},
      {xmma("tn_n_tilesize128x128x8_stage3_warpsize2x2x1"), false, Layout::nt, 128, 128, 8, 64, 64, 128, 3, 1, 255, 33792},
      {xmma("tn_n_tilesize128x32x8_stage3_warpsize2x2x1"), false, Layout::nt, 128, 32, 8, 64, 16, 128, 3, 1, 126, 16128},
      {xmma("tn_n_tilesize128x64x8_stage3_warpsize2x2x1"), false, Layout::nt, 128, 64, 8, 64, 32, 128, 3, 1, 218, 19200},
      {xmma("tn_n_tilesize256x64x8_stage3_warpsize2x2x1"), false, Layout::nt, 256, 64, 8, 128, 32, 128, 3, 1, 255, 31488},
      {xmma("tn_n_tilesize32x128x8_stage3_warpsize1x2x1"), false, Layout::nt, 32, 128, 8, 32, 64, 64, 3, 1, 254, 16896},
      {xmma("tn_n_tilesize32x32x8_stage3_warpsize1x2x1"), false, Layout::nt, 32, 32, 8, 32, 16, 64, 3, 1, 80, 6912},
      {xmma("tn_n_tilesize64x128x8_stage3_warpsize1x4x1"), false, Layout::nt, 64, 128, 8, 64, 32, 128, 3, 1, 190, 19200},
      {xmma("tn_n_tilesize64x256x8_stage3_warpsize1x4x1"), false, Layout::nt, 64, 256, 8, 64, 64, 128, 3, 1, 255, 33280},
      {xmma("tn_n_tilesize64x32x8_stage3_warpsize1x2x1"), false, Layout::nt, 64, 32, 8, 64, 16, 64, 3, 1, 126, 9984},
      {xmma("tn_n_tilesize64x64x8_stage3_warpsize1x4x1"), false, Layout::nt, 64, 64, 8, 64, 16, 128, 3, 1, 128, 13056},
      // clang-format on
  };
  return all;
}

class KernelName : public testing::TestWithParam<Named> {};

TEST_P(KernelName, SaysWhatTheKernelIs) {
  const Named& want = GetParam();
  const Result<ParsedName> parsed = parse_kernel_name(want.name);
  ASSERT_TRUE(parsed) << to_string(parsed.errors());
  EXPECT_EQ(parsed->swapped, want.swapped);
  EXPECT_EQ(parsed->config.name, want.name);
  const Result<KernelConfig> r = resolve(parsed->config, cube);
  ASSERT_TRUE(r) << to_string(r.errors());
  EXPECT_EQ(r->layout, want.layout);
  EXPECT_EQ(r->tile.m, want.m);
  EXPECT_EQ(r->tile.n, want.n);
  EXPECT_EQ(r->tile.k, want.k);
  EXPECT_EQ(r->warp_m.value_or(0), want.warp_m);
  EXPECT_EQ(r->warp_n.value_or(0), want.warp_n);
  EXPECT_EQ(r->threads, want.threads);
  EXPECT_EQ(r->stages, want.stages);
  EXPECT_EQ(r->sliced_k, want.sliced_k);
  EXPECT_EQ(r->registers, want.registers);
  EXPECT_EQ(r->shared_bytes, want.shared_bytes);
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelName, testing::ValuesIn(names()), [](const auto& tested) {
  std::string id = tested.param.name;
  std::replace_if(
      id.begin(), id.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return id;
});

TEST(KernelNames, TheNaiveKernelOfGpperfLeavesItsTileToTheLaunch) {
  const Result<ParsedName> parsed = parse_kernel_name("op_mm_kernel");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->config.family, Family::naive);
  EXPECT_EQ(parsed->config.tile.m, 0);
}

TEST(KernelNames, TemplatesAreLookedThrough) {
  const Result<ParsedName> parsed = parse_kernel_name(
      "void cutlass::Kernel<cutlass_80_simt_sgemm_256x128_8x4_tn_align1>(cutlass_80_simt_sgemm_256x128_8x4_tn_align1"
      "::Params)");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->config.tile.m, 128);
  EXPECT_EQ(parsed->config.tile.n, 256);
}

struct TensorName {
  const char* name;
  Family family;
  bool swapped;
  DataType in, acc, out;
  Layout layout;
  int m, n, k, stages;  // stages 0: the name does not say
};

constexpr std::array<TensorName, 16> tensor_names{{
    {"cutlass_tensorop_f16_f32acc_128x64_32x4_w64x32_tn", Family::mma, false, DataType::f16, DataType::f32,
     DataType::f32, Layout::nt, 128, 64, 32, 4},
    {"cutlass_tensorop_s8_s32acc_256x128_64x3_w64x64_tn", Family::mma, false, DataType::s8, DataType::s32,
     DataType::s32, Layout::nt, 256, 128, 64, 3},
    {"cutlass_tensorop_f16_f32acc_128x128_32x4_w64x64_nn", Family::mma, false, DataType::f16, DataType::f32,
     DataType::f32, Layout::tt, 128, 128, 32, 4},
    {"cutlass_tensorop_f16_f32acc_128x128_32x4_w64x64_tn_splitkserial", Family::mma, false, DataType::f16,
     DataType::f32, DataType::f32, Layout::nt, 128, 128, 32, 4},
    {"cutlass_tensorop_f16_s16816gemm_f16_128x128_32x4_tn_align8", Family::mma, false, DataType::f16, DataType::f32,
     DataType::f16, Layout::nt, 128, 128, 32, 4},
    {"cutlass_80_tensorop_s1688gemm_64x128_32x6_tn_align1", Family::mma, true, DataType::tf32, DataType::f32,
     DataType::f32, Layout::nt, 128, 64, 32, 6},
    {"cutlass_80_tensorop_i16832gemm_s8_128x64_128x3_tn_align16", Family::mma, true, DataType::s8, DataType::s32,
     DataType::s32, Layout::nt, 64, 128, 128, 3},
    {"cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_nn_align2", Family::mma, true, DataType::bf16,
     DataType::f32, DataType::bf16, Layout::nn, 128, 256, 64, 3},
    {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", Family::mma, true, DataType::f16, DataType::f32,
     DataType::f16, Layout::nt, 64, 128, 64, 4},
    {"ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_nn", Family::mma, true, DataType::bf16, DataType::f32,
     DataType::bf16, Layout::nn, 128, 256, 64, 3},
    {"ampere_h16816gemm_128x128_ldg8_stages_32x5_tn", Family::mma, true, DataType::f16, DataType::f16, DataType::f16,
     Layout::nt, 128, 128, 32, 5},
    {"cutlass_sm90_wgmma_f16_f32acc_128x256x64_2x1_coop", Family::wgmma, false, DataType::f16, DataType::f32,
     DataType::f16, Layout::nt, 128, 256, 64, 0},
    {"cutlass_sm90_wgmma_e4m3_f32acc_64x128x128_1x1_pingpong", Family::wgmma, false, DataType::f8e4m3, DataType::f32,
     DataType::f16, Layout::nt, 64, 128, 128, 0},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     Family::wgmma, false, DataType::tf32, DataType::f32, DataType::f32, Layout::nt, 128, 256, 32, 0},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     Family::wgmma, false, DataType::bf16, DataType::f32, DataType::bf16, Layout::nt, 64, 64, 64, 0},
    {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_execute_kernel__5x_"
     "cublas",
     Family::mma, false, DataType::f16, DataType::f32, DataType::f16, Layout::nt, 128, 128, 32, 4},
}};

TEST(KernelNames, TensorCoreNamesAreReadAndResolved) {
  for (const TensorName& want : tensor_names) {
    const Result<ParsedName> parsed = parse_kernel_name(want.name);
    ASSERT_TRUE(parsed) << to_string(parsed.errors());
    const KernelConfig& c = parsed->config;
    EXPECT_EQ(c.family, want.family) << want.name;
    EXPECT_EQ(parsed->swapped, want.swapped) << want.name;
    EXPECT_EQ(c.dtype_in, want.in) << want.name;
    EXPECT_EQ(c.dtype_acc, want.acc) << want.name;
    EXPECT_EQ(c.dtype_out, want.out) << want.name;
    EXPECT_EQ(c.layout, want.layout) << want.name;
    EXPECT_EQ(c.tile.m, want.m) << want.name;
    EXPECT_EQ(c.tile.n, want.n) << want.name;
    EXPECT_EQ(c.tile.k, want.k) << want.name;
    EXPECT_EQ(c.stages.value_or(0), want.stages) << want.name;
    EXPECT_TRUE(resolve(c, cube)) << want.name;
  }
}

TEST(KernelNames, WhatIsNotUnderstoodIsRefused) {
  for (const char* name : {"ampere",
                           "ampere_sgemm",
                           "ampere_sgemm_128x64",
                           "ampere_sgemm_128x64_tx",
                           "ampere_sgemm_128_tn",
                           "ampere_sgemm_128x64_sliced2x4_tn",
                           "ampere_sgemm_0x64_tn",
                           "ampere_sgemm_128x64_tn_new",
                           "ampere_sgemm_99999999999999x64_tn",
                           "cutlass_simt_sgemm_128x128_8x4_tn",
                           "cutlass_90_simt_sgemm_128x128_8x4_tn",
                           "cutlass_simt_dgemm_128x128_8x4_tn_align1",
                           "blocked_sgemm_128x64x16_t8x4",
                           "blocked_sgemm_128x64_t8x4_db",
                           "naive_tiled_sgemm_16",
                           "CLBlast_Xgemm",
                           "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8",
                           "____",
                           "_",
                           "cutlass::Kernel<",
                           "cutlass::Kernel2<>(x)"})
    EXPECT_FALSE(parse_kernel_name(name)) << name;
}

TEST(KernelNames, OddNamesAreRefusedInWords) {
  EXPECT_EQ(to_string(config_from_name("").errors()),
            "kernel_name: expected a kernel name such as ampere_sgemm_128x64_tn or "
            "cutlass_simt_sgemm_128x128_8x4_tn_align1, found an empty name\n");
  EXPECT_EQ(config_from_name(std::string(513, 'a')).errors()[0].found, "a name of 513 characters");
  EXPECT_EQ(config_from_name(std::string(512, 'a')).errors()[0].found.size(), 514U);
  EXPECT_EQ(config_from_name("ampere_sgemm\n").errors()[0].found, "a name with bytes that are not printable");
  EXPECT_EQ(config_from_name(std::string("a\0b", 3)).errors()[0].found, "a name with bytes that are not printable");
  EXPECT_EQ(config_from_name("\xff\xfe").errors()[0].found, "a name with bytes that are not printable");
}

// What stands behind the instruction is the type of A and B, what stands before it that of C.
TEST(KernelNames, TypesGoByTheirPlace) {
  const struct {
    const char* name;
    DataType in, acc, out;
  } cases[] = {
      {"ampere_s16816gemm_bf16_64x64_ldg8_stages_64x5_tn", DataType::bf16, DataType::f32, DataType::f32},
      {"ampere_fp16_s1688gemm_fp16_128x64_ldg8_f2f_tn", DataType::f16, DataType::f32, DataType::f16},
      {"cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_nn_align4", DataType::f16, DataType::f32,
       DataType::f16},
      {"cutlass_80_tensorop_s1688gemm_128x64_32x6_tn_align4", DataType::tf32, DataType::f32, DataType::f32},
      {"cutlass_tensorop_h16816gemm_128x128_32x4_nn_align8", DataType::f16, DataType::f16, DataType::f16},
      {"sm90_xmma_gemm_bf16f32_bf16f32_f32_nt_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
       "cublas",
       DataType::bf16, DataType::f32, DataType::f32},
      {"nvjet_hss_64x8_64x16_1x1_v_bz_NNT", DataType::f16, DataType::f32, DataType::f32},
  };
  for (const auto& want : cases) {
    const Result<KernelConfig> config = config_from_name(want.name);
    ASSERT_TRUE(config) << to_string(config.errors());
    EXPECT_EQ(config->dtype_in, want.in) << want.name;
    EXPECT_EQ(config->dtype_acc, want.acc) << want.name;
    EXPECT_EQ(config->dtype_out, want.out) << want.name;
  }
}

TEST(KernelNames, AMistypedNameGetsTheNearestKnownOne) {
  const auto found = [](const char* name) { return config_from_name(name).errors().front().found; };
  EXPECT_NE(found("ampere_sgem_128x64_tn").find("did you mean ampere_sgemm_128x64_tn?"), std::string::npos);
  EXPECT_NE(found("amper_sgemm_128x128_nn").find("did you mean ampere_sgemm_128x128_nn?"), std::string::npos);
  EXPECT_NE(found("nvjt_hsh_128x256_64x4_2x1_v_bz_coopA_TNN").find("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNN?"),
            std::string::npos);
  EXPECT_EQ(found("a_kernel_of_my_own"), "\"a_kernel_of_my_own\"");
}

// Every prefix and every single change of a good name is either understood or refused.
TEST(KernelNames, DamagedNamesNeverCrash) {
  for (const Named& good : names()) {
    for (std::size_t i = 0; i <= good.name.size(); ++i) {
      static_cast<void>(parse_kernel_name(good.name.substr(0, i)));
      std::string changed = good.name;
      if (i == changed.size()) continue;
      for (const char c : {'0', '9', 'x', '_', ' '}) {
        changed[i] = c;
        if (const Result<KernelConfig> config = config_from_name(changed)) static_cast<void>(resolve(*config, cube));
      }
    }
  }
}

}  // namespace
}  // namespace noteg::kernels
