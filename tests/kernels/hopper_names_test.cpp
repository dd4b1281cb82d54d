// Names of Hopper's library kernels: tile, cluster, schedule and which side gives the 64 rows of a multiplication, as
// grids and launches of the named kernels on our H200 have them (h200_gemm.csv, family cublas).
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/config/config.hpp"
#include "kernels/families/build.hpp"

namespace noteg::kernels {
namespace {

constexpr GemmShape cube{4096, 4096, 4096, 1};

struct Hopper {
  const char* name;
  bool swapped;
  DataType in, out;
  Tile tile, instruction;
  int cluster_m, cluster_n, stages;  // 0: the name does not say
  Schedule schedule;
};

const Hopper known[] = {
    {"nvjet_sm90_hsh_160x256_64x4_2x1_v_bz_coopA_TNN",
     true,
     DataType::f16,
     DataType::f16,
     {256, 160, 64},
     {64, 160, 16},
     1,
     2,
     4,
     Schedule::coop},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN",
     true,
     DataType::bf16,
     DataType::bf16,
     {192, 192, 64},
     {64, 96, 16},
     1,
     2,
     4,
     Schedule::coop},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT",
     true,
     DataType::bf16,
     DataType::bf16,
     {128, 320, 64},
     {64, 64, 16},
     2,
     1,
     3,
     Schedule::coop},
    {"nvjet_sm90_hsh_128x16_64x11_4x1_v_bz_TNT",
     true,
     DataType::f16,
     DataType::f16,
     {16, 128, 64},
     {16, 64, 16},
     1,
     4,
     11,
     Schedule::pingpong},
    {"nvjet_sm90_hss_112x64_64x9_4x1_v_bz_splitK_TNN",
     true,
     DataType::f16,
     DataType::f32,
     {64, 112, 64},
     {64, 112, 16},
     1,
     4,
     9,
     Schedule::pingpong},
    {"cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_warpspecialized_"
     "pingpong_epi_tma",
     true,
     DataType::f16,
     DataType::f16,
     {128, 128, 64},
     {128, 64, 16},
     1,
     2,
     0,
     Schedule::pingpong},
    {"cutlass3x_sm90_tensorop_s64x256x16gemm_bf16_bf16_f32_bf16_bf16_128x256x64_2x1x1_0_tnt_align8_warpspecialized_"
     "cooperative_epi_tma",
     false,
     DataType::bf16,
     DataType::bf16,
     {128, 256, 64},
     {64, 256, 16},
     2,
     1,
     0,
     Schedule::coop},
    {"cutlass3x_sm90_tensorop_i64x128x32gemm_s8_s8_s32_s32_s32_64x128x128_1x2x1_5_tnt_align16_warpspecialized_epi_tma",
     false,
     DataType::s8,
     DataType::s32,
     {64, 128, 128},
     {64, 128, 32},
     1,
     2,
     5,
     Schedule::ws},
    {"cutlass3x_sm90_sptensorop_s64x128x32spgemm_f16_f16_f32_f32_f32_128x128x128_1x1x1_0_tnt_align8_warpspecialized_"
     "cooperative_epi_tma",
     false,
     DataType::f16,
     DataType::f32,
     {128, 128, 128},
     {64, 128, 32},
     1,
     1,
     0,
     Schedule::coop},
};

TEST(HopperNames, SayWhatTheKernelIs) {
  for (const Hopper& want : known) {
    const Result<ParsedName> parsed = parse_kernel_name(want.name);
    ASSERT_TRUE(parsed) << to_string(parsed.errors());
    const KernelConfig& c = parsed->config;
    EXPECT_EQ(parsed->swapped, want.swapped) << want.name;
    EXPECT_EQ(c.family, Family::wgmma) << want.name;
    EXPECT_EQ(c.name, want.name);
    EXPECT_EQ(c.dtype_in, want.in) << want.name;
    EXPECT_EQ(c.dtype_out, want.out) << want.name;
    EXPECT_EQ(c.tile, want.tile) << want.name;
    EXPECT_EQ(c.instruction, want.instruction) << want.name;
    EXPECT_EQ(c.cluster_m, want.cluster_m) << want.name;
    EXPECT_EQ(c.cluster_n, want.cluster_n) << want.name;
    EXPECT_EQ(c.stages.value_or(0), want.stages) << want.name;
    EXPECT_EQ(c.schedule, want.schedule) << want.name;
    const Result<KernelConfig> resolved = resolve(c, cube);
    ASSERT_TRUE(resolved) << want.name << ' ' << to_string(resolved.errors());
    BuildRequest request;
    request.config = *resolved;
    EXPECT_TRUE(build_program(request)) << want.name;
  }
}

TEST(HopperNames, SplitKOfNvjetAddsInASecondKernel) {
  const Result<KernelConfig> config = config_from_name("nvjet_sm90_hsh_64x16_64x16_2x1_v_bz_splitK_TNT");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->split_k_mode, SplitKMode::parallel);
}

struct Refused {
  const char* name;
  const char* found;
};

TEST(HopperNames, WhatIsNotModelledIsNamed) {
  const Refused refused[] = {
      {"nvjet_sm90_qqqsq_128x256_128x4_1x2_h_bz_TNN", "\"qqqsq\""},
      {"nvjet_sm90_ootst_128x256_128x4_1x2_h_bz_TNN", "\"ootst\""},
      {"nvjet_sm90_sss_128x256_32x4_1x2_h_bz_TNN", "\"sss\""},
      {"nvjet_sm90_hsh_128x256_64x4_1x2_h_bz_2cta_TNN", "\"2cta\""},
      {"nvjet_sm90_hsh_128x256_64x4_1x2_h_bz_NNX", "\"NNX\""},
      {"nvjet_sm90_hsh_128_64x4_1x2_h_bz_NNN", "\"128\""},
      {"nvjet", "\"nvjet\""},
      {"cutlass3x_sm100_tensorop", "\"sm100\""},
      {"cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_stream_k_"
       "warpspecialized_cooperative_epi_tma",
       "\"stream_k\""},
      {"cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_void_f16_128x128x128_2x1x1_0_tnn_align16_warpspecialized_"
       "cooperative_fp8_fastaccum_epi_tma",
       "\"fp8\""},
      {"cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_warpspecialized_epi_"
       "nosmem",
       "\"nosmem\""},
      {"cutlass3x_sm90_tensorop_s64x128x16gemm_f16_e4m3_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_warpspecialized",
       "\"f16_e4m3\""},
  };
  for (const Refused& one : refused) {
    const Result<ParsedName> parsed = parse_kernel_name(one.name);
    ASSERT_FALSE(parsed) << one.name;
    EXPECT_EQ(parsed.errors().front().key, "kernel_name");
    EXPECT_EQ(parsed.errors().front().found, one.found) << one.name;
  }
}

TEST(HopperNames, DamagedNamesNeverCrash) {
  for (const Hopper& good : known) {
    const std::string name = good.name;
    for (std::size_t i = 0; i < name.size(); ++i) {
      static_cast<void>(parse_kernel_name(name.substr(0, i)));
      for (const char c : {'0', 'x', '_'}) {
        std::string changed = name;
        changed[i] = c;
        if (const Result<KernelConfig> config = config_from_name(changed)) static_cast<void>(resolve(*config, cube));
      }
    }
  }
}

long count(const Program& program, const Role& role, Opcode op) {
  return std::count_if(program.code.begin() + role.begin, program.code.begin() + role.end,
                       [op](const Instruction& in) { return in.op == op; });
}

// Rows along N, columns halved between consumers: multiplications of a k tile and consumer.
TEST(HopperNames, ConsumersShareRowsOrColumns) {
  const struct {
    const char* name;
    long multiplications, columns;
  } cases[] = {{"nvjet_sm90_hsh_320x128_64x3_1x2_h_bz_coopB_TNT", 5 * 4, 64},
               {"nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_TNT", 2 * 4, 128},
               {"nvjet_sm90_hsh_64x8_64x16_2x1_v_bz_TNT", 1 * 4, 8}};
  for (const auto& one : cases) {
    BuildRequest request;
    request.config = *resolve(*config_from_name(one.name), cube);
    const Result<Program> program = build_program(request);
    ASSERT_TRUE(program) << to_string(program.errors());
    EXPECT_EQ(count(*program, program->roles[2], Opcode::hgmma), one.multiplications) << one.name;
    for (const AsyncOp& op : program->async)
      if (op.kind == AsyncKind::matmul) {
        EXPECT_EQ(op.n, one.columns) << one.name;
      }
  }
}

}  // namespace
}  // namespace noteg::kernels
