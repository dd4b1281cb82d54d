// The mma builder against main loops that nvcc compiled for sm_90 (H200 measurements): instructions of one iteration by
// opcode, and the sum of stall counts.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kernels/access/wavefronts.hpp"
#include "kernels/assembly/assembly.hpp"
#include "kernels/families/build.hpp"
#include "kernels/ir/listing.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "kernels/passes/passes.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {
namespace {

constexpr GemmShape cube{4096, 4096, 4096, 1};

// What the compiler for sm_90 knows of matrix instructions.
LatencyModel hopper() {
  LatencyModel model;
  model.tensor = 24;
  model.tensor_interval = 6;
  return model;
}

Program built(const KernelConfig& config) {
  const Result<KernelConfig> resolved = resolve(config, cube);
  EXPECT_TRUE(resolved) << to_string(resolved.errors());
  if (!resolved) return {};
  const Result<Program> program = build_program({*resolved, hopper()});
  EXPECT_TRUE(program) << to_string(program.errors());
  return program ? *program : Program{};
}

CodeFacts loop_of(const std::string& name) {
  const Result<KernelConfig> config = config_from_name("cutlass_tensorop_" + name);
  EXPECT_TRUE(config) << to_string(config.errors());
  return config ? mainloop_facts(built(*config), hopper()) : CodeFacts{};
}

struct CompiledLoop {
  const char* name;
  const char* mma;
  int mmas, ldsm, ldgsts, lds, instructions, stalls;
};

class CompiledMainLoop : public testing::TestWithParam<CompiledLoop> {};

TEST_P(CompiledMainLoop, HasTheInstructionsOfTheCompiledOne) {
  const CompiledLoop& want = GetParam();
  const CodeFacts have = loop_of(want.name);
  EXPECT_EQ(have.count(want.mma), want.mmas);
  EXPECT_EQ(have.count("LDSM"), want.ldsm);
  EXPECT_EQ(have.count("LDGSTS"), want.ldgsts);
  EXPECT_EQ(have.count("LDS"), want.lds);
  EXPECT_EQ(have.count("BAR.SYNC"), 1);
  EXPECT_NEAR(have.instructions, want.instructions, 0.06 * want.instructions);
  EXPECT_NEAR(have.stall_sum, want.stalls, 0.11 * want.stalls);
}

INSTANTIATE_TEST_SUITE_P(
    Cutlass, CompiledMainLoop,
    testing::Values(CompiledLoop{"f16_f32acc_64x64_32x4_w32x32_tn", "HMMA", 16, 8, 4, 3, 80, 145},
                    CompiledLoop{"f16_f32acc_64x64_64x3_w32x32_tn", "HMMA", 32, 16, 8, 9, 130, 246},
                    CompiledLoop{"f16_f32acc_128x64_32x3_w64x32_tn", "HMMA", 32, 12, 6, 3, 115, 233},
                    CompiledLoop{"f16_f32acc_128x64_64x3_w64x32_tn", "HMMA", 64, 24, 12, 9, 204, 440},
                    CompiledLoop{"f16_f32acc_128x128_32x4_w64x64_tn", "HMMA", 64, 16, 8, 3, 164, 393},
                    CompiledLoop{"f16_f32acc_128x128_32x4_w64x64_nn", "HMMA", 64, 16, 8, 3, 160, 393},
                    CompiledLoop{"f16_f32acc_128x128_64x3_w64x64_tn", "HMMA", 128, 32, 16, 9, 300, 783},
                    CompiledLoop{"f16_f32acc_256x128_32x3_w64x64_tn", "HMMA", 64, 16, 6, 3, 150, 393},
                    CompiledLoop{"tf32_f32acc_128x128_16x4_w64x64_tn", "HMMA", 64, 16, 8, 3, 164, 393},
                    CompiledLoop{"s8_s32acc_128x128_64x4_w64x64_tn", "IMMA", 64, 16, 8, 3, 164, 393}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(MmaBuilder, TwoStagesGoThroughRegisters) {
  const CodeFacts loop = loop_of("f16_f32acc_128x128_32x2_w64x64_tn");
  EXPECT_EQ(loop.by_mnemonic.at("LDG"), 8);
  EXPECT_EQ(loop.by_mnemonic.at("STS"), 8);
  EXPECT_EQ(loop.by_mnemonic.at("CS2R"), 16);
  EXPECT_FALSE(loop.by_mnemonic.contains("LDGSTS"));
}

KernelConfig hgemm() {
  KernelConfig config;
  config.family = Family::mma;
  config.flavor = Flavor::cutlass;
  config.dtype_in = config.dtype_out = DataType::f16;
  config.dtype_acc = DataType::f32;
  config.layout = Layout::nt;
  config.tile = {128, 128, 32};
  return config;
}

// SGLang's product of 8-bit floats on sm_89 as nvcc 13.0 compiles it: 198 registers with three stages, 146 with two.
TEST(MmaBuilder, MultistageLoopsOfEightBitFloatsStageTheSumsOfATile) {
  KernelConfig config;
  config.family = Family::mma;
  config.flavor = Flavor::cutlass;
  config.dtype_in = DataType::f8e4m3;
  config.dtype_out = DataType::bf16;
  config.layout = Layout::nt;
  config.tile = {128, 128, 64};
  config.warp_m = 64;
  config.warp_n = 32;
  const auto loop_with = [&](int stages) {
    config.stages = stages;
    return built(config);
  };
  const Program staged = loop_with(3), plain = loop_with(2);
  EXPECT_NEAR(staged.registers, 198, 5);
  EXPECT_EQ(plain.registers, 146);
  EXPECT_EQ(mainloop_facts(staged, hopper()).count("FADD"), 64);  // accumulators of a thread
  EXPECT_EQ(mainloop_facts(plain, hopper()).count("FADD"), 0);
}

TEST(MmaBuilder, LoopsOfTwoStagesStoreBehindHalfOfTheLastGroup) {
  const Result<KernelConfig> config = config_from_name("cutlass_tensorop_f16_f32acc_128x128_32x2_w64x64_tn");
  ASSERT_TRUE(config) << to_string(config.errors());
  const Program program = built(*config);
  int products = 0, before_first_store = 0;
  for (int at = program.loops.at(0).begin; at < program.epilogue_begin; ++at) {
    const Opcode op = program.code[static_cast<std::size_t>(at)].op;
    if (op == Opcode::hmma) ++products;
    if (op == Opcode::sts && before_first_store == 0) before_first_store = products;
  }
  EXPECT_EQ(products, 64);
  EXPECT_NEAR(before_first_store, 48, 1);  // as compiled
}

TEST(MmaBuilder, EveryTypeLayoutAndSparsityIsBuilt) {
  for (const DataType type :
       {DataType::f16, DataType::bf16, DataType::tf32, DataType::f8e4m3, DataType::s8, DataType::s4}) {
    for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn, Layout::tt}) {
      if (bytes_of(type) < 2 && layout != Layout::nt) continue;
      for (const bool sparse : {false, true}) {
        KernelConfig config = hgemm();
        config.dtype_in = type;
        config.dtype_acc = config.dtype_out = accumulators_for(type).type[0];
        config.layout = layout;
        config.sparse = sparse;
        config.tile = {128, 64, 0};
        const Program program = built(config);
        EXPECT_GT(program.code.size(), 100u) << name_of(type) << name_of(layout) << sparse;
      }
    }
  }
}

TEST(MmaBuilder, NamesOfLibrariesAreBuilt) {
  for (const char* name : {"cutlass_tensorop_f16_s16816gemm_f16_128x128_32x4_tn_align8",
                           "cutlass_80_tensorop_s1688gemm_64x128_32x6_tn_align1",
                           "cutlass_80_tensorop_i16832gemm_s8_128x64_128x3_tn_align16",
                           "cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_nn_align2",
                           "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn",
                           "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn",
                           "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_"
                           "tensor16x8x16_execute_kernel__5x_"
                           "cublas"}) {
    const Result<KernelConfig> config = config_from_name(name);
    ASSERT_TRUE(config) << name << ": " << to_string(config.errors());
    EXPECT_GT(built(*config).code.size(), 100u) << name;
  }
}

TEST(MmaBuilder, SharedMemoryConflictsFollowTheLayout) {
  const auto wavefronts = [](SharedLayout layout) {
    KernelConfig config = hgemm();
    config.shared_layout = layout;
    const Program program = built(config);
    for (const AccessPattern& pattern : program.patterns) {
      if (pattern.space == Space::shared && pattern.matrix == Matrix::a && !pattern.store)
        return shared_wavefronts(pattern);
    }
    return 0;
  };
  EXPECT_EQ(wavefronts(SharedLayout::swizzled), 4);
  EXPECT_EQ(wavefronts(SharedLayout::padded), 4);
  EXPECT_EQ(wavefronts(SharedLayout::plain), 16);
}

TEST(TensorForm, SassNamesReadBackTheSame) {
  for (const DataType in : {DataType::f16, DataType::bf16, DataType::tf32, DataType::f8e4m3, DataType::f8e5m2,
                            DataType::s8, DataType::s4}) {
    const AccumulatorTypes fit = accumulators_for(in);
    for (int i = 0; i < fit.count; ++i) {
      for (const bool sparse : {false, true}) {
        const TensorForm form{{16, 8, 32}, in, fit.type[static_cast<std::size_t>(i)], sparse, false};
        EXPECT_EQ(tensor_form_from(opcode_of(form), modifiers_of(form)), form) << name_of(form);
      }
    }
  }
  const TensorForm group{{64, 128, 16}, DataType::f16, DataType::f32, false, true};
  EXPECT_EQ(tensor_form_from(opcode_of(group), modifiers_of(group)), group);
}

// 15 cycles are the most that a stall count holds; a chain of 24 needs a NOP between.
TEST(Passes, NopsCoverWhatStallCountsCannot) {
  const std::string chain = "  HMMA.16816.F32 R16, R4, R8, R16\n  HMMA.16816.F32 R16, R4, R8, R16\n";
  Result<Program> program = parse_assembly(".warps 1\n" + chain, "chain.nsass");
  ASSERT_TRUE(program) << to_string(program.errors());
  assign_control_bits(*program, LatencyModel{});
  ASSERT_EQ(program->code[1].op, Opcode::nop);
  EXPECT_EQ(program->code[0].control.stall + program->code[1].control.stall, LatencyModel{}.tensor);
}

}  // namespace
}  // namespace noteg::kernels
