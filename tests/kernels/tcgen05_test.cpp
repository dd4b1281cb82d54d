// tcgen05 kernels: what a pair of CTAs shares, what the streams hold, block scales, names of Blackwell's libraries.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/config/config.hpp"
#include "kernels/families/build.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {
namespace {

KernelConfig wide_pair() {
  KernelConfig config;
  config.family = Family::tcgen05;
  config.dtype_in = DataType::bf16;
  config.dtype_out = DataType::bf16;
  config.layout = Layout::nt;
  config.tile = {128, 256, 64};
  config.cluster_m = 2;
  return config;
}

Program program_of(const KernelConfig& config) {
  const Result<KernelConfig> resolved = resolve(config, {4096, 4096, 4096});
  EXPECT_TRUE(resolved) << to_string(resolved.errors());
  BuildRequest request;
  request.config = *resolved;
  Result<Program> program = build_program(request);
  EXPECT_TRUE(program) << to_string(program.errors());
  return program ? *program : Program{};
}

auto count(const Program& program, Opcode op) { return std::ranges::count(program.code, op, &Instruction::op); }

TEST(Tcgen05, APairCopiesHalfOfTheColumnsEach) {
  KernelConfig alone = wide_pair();
  alone.cluster_m = 1;
  const Program together = program_of(wide_pair()), single = program_of(alone);
  EXPECT_EQ(together.a_bytes_per_iteration, 128 * 64 * 2);
  EXPECT_EQ(together.b_bytes_per_iteration, 256 * 64 * 2 / 2);
  EXPECT_EQ(single.b_bytes_per_iteration, 256 * 64 * 2);
  EXPECT_EQ(together.stages, 6);  // as cuBLAS names its kernel of this tile: 64x6
  EXPECT_EQ(single.stages, 4);    // 64x4
}

TEST(Tcgen05, OneThreadMultipliesAndCommitsOncePerTile) {
  const Program program = program_of(wide_pair());
  EXPECT_EQ(count(program, Opcode::utchmma), 4);  // 64 values of K, 16 each
  EXPECT_EQ(count(program, Opcode::utcbar), 2);   // a stage is free; the sums are whole
  EXPECT_EQ(count(program, Opcode::utmaldg), 2);
  EXPECT_EQ(count(program, Opcode::ldtm), 8);  // 256 columns, 32 each
  EXPECT_EQ(program.warps, 8);
}

TEST(Tcgen05, NarrowTypesTakeTheirOwnInstructions) {
  KernelConfig config = wide_pair();
  config.dtype_in = DataType::f8e4m3;
  config.tile.k = 128;
  EXPECT_EQ(count(program_of(config), Opcode::utcqmma), 4);
  config.dtype_in = DataType::nvfp4;
  config.tile.k = 256;
  const Program program = program_of(config);
  EXPECT_EQ(count(program, Opcode::utcomma), 4);
  EXPECT_EQ(program.a_bytes_per_iteration, 128 * 256 * 0.5625);  // a byte of scale for 16 values
}

TEST(Tcgen05, RowsOf128LieAlongEitherSide) {
  KernelConfig config = wide_pair();
  config.tile = {32, 128, 64};
  config.instruction = {32, 128, 16};
  const auto frame = memory_frame(config);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->rows_along_m);
  EXPECT_EQ(frame->rows, 128);
  EXPECT_EQ(frame->columns, 32);
  config.instruction = {48, 128, 16};
  EXPECT_FALSE(memory_frame(config));
}

TEST(Tcgen05, FormsKeepTheirTypesThroughTheMnemonic) {
  for (const DataType type : {DataType::f16, DataType::bf16, DataType::tf32, DataType::f8e4m3, DataType::f8e5m2,
                              DataType::mxfp8, DataType::mxfp4, DataType::nvfp4}) {
    TensorForm form{{128, 256, 32}, type, DataType::f32, false, false, true};
    EXPECT_EQ(tensor_form_from(opcode_of(form), modifiers_of(form)), form) << name_of(type);
  }
}

TEST(Tcgen05, RefusesWhatTensorMemoryDoesNotHold) {
  KernelConfig config = wide_pair();
  config.tile = {128, 512, 64};
  EXPECT_FALSE(resolve(config, {4096, 4096, 4096}));
  config = wide_pair();
  config.dtype_in = DataType::s4;
  config.dtype_acc = DataType::s32;
  EXPECT_FALSE(resolve(config, {4096, 4096, 4096}));
}

TEST(BlackwellNames, NvjetSaysTileStagesClusterAndPair) {
  const auto config = config_from_name("nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT");
  ASSERT_TRUE(config) << to_string(config.errors());
  EXPECT_EQ(config->family, Family::tcgen05);
  EXPECT_EQ(config->tile, (Tile{256, 128, 64}));
  EXPECT_EQ(config->stages, 6);
  EXPECT_EQ(config->cluster_n, 2);
  EXPECT_EQ(config->instruction, (Tile{256, 256, 16}));
  EXPECT_TRUE(memory_frame(*config)->pair);
}

TEST(BlackwellNames, BlockScalesStandBehindTheTypes) {
  const auto config = config_from_name("nvjet_sm100_ootst_128x128_256x7_4x1_2cta_v_bx_Avec16UE4M3_Bvec16UE4M3_TNT");
  ASSERT_TRUE(config) << to_string(config.errors());
  EXPECT_EQ(config->dtype_in, DataType::nvfp4);
  EXPECT_EQ(config->tile.k, 256);
}

TEST(BlackwellNames, CutlassSaysThePairsTile) {
  const auto config =
      config_from_name("cutlass3x_sm100_tensorop_gemm_bf16_bf16_f32_void_bf16_256x256x64_2x1x1_0_tnt_align8_2sm");
  ASSERT_TRUE(config) << to_string(config.errors());
  EXPECT_EQ(config->tile, (Tile{128, 256, 64}));
  EXPECT_TRUE(memory_frame(*config)->pair);
}

TEST(BlackwellNames, TheSmallBlackwellRunsMma) {
  const auto config = config_from_name("nvjet_sm120_tst_mma_64x128x64_8_32x64x64_tmaAB_bz_TNNN");
  ASSERT_TRUE(config) << to_string(config.errors());
  EXPECT_EQ(config->family, Family::mma);
  EXPECT_EQ(config->tile, (Tile{128, 64, 64}));
  EXPECT_EQ(config->warp_m, 64);
  EXPECT_EQ(config->warp_n, 32);
}

}  // namespace
}  // namespace noteg::kernels
