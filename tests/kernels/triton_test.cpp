// Triton's tl.dot against what Triton 3.6 compiles for sm_80: instructions of one iteration by opcode, registers,
// shared memory; what it refuses; how configurations are written.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/config/config_file.hpp"
#include "kernels/families/build.hpp"
#include "kernels/families/triton/triton.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {
namespace {

constexpr GemmShape cube{4096, 4096, 4096, 1};

KernelConfig configured(DataType type, Layout layout, Tile tile, int stages, int warps) {
  KernelConfig config;
  config.family = Family::triton;
  config.dtype_in = type;
  config.dtype_out = type == DataType::tf32 ? DataType::f32 : type;
  config.layout = layout;
  config.tile = tile;
  config.stages = stages;
  config.threads = 32 * warps;
  return config;
}

// As compiled for sm_89: 1 LDG for each of a thread's rows and one for the columns; these change layout by STS and LDS.
TEST(ScaledDot, HasTheInstructionsAndRegistersOfTheCompiledOne) {
  KernelConfig config = configured(DataType::f8e4m3, Layout::nt, {64, 128, 128}, 2, 4);
  config.dtype_out = DataType::bf16;
  const Result<KernelConfig> resolved = resolve(config, cube);
  ASSERT_TRUE(resolved) << to_string(resolved.errors());
  EXPECT_EQ(resolved->registers, 242);
  const Result<Program> program = build_program({*resolved, {}});
  ASSERT_TRUE(program) << to_string(program.errors());
  const CodeFacts loop = mainloop_facts(*program, {});
  EXPECT_EQ(loop.count("QMMA"), 64);
  EXPECT_EQ(loop.count("FMUL"), 64);
  EXPECT_EQ(loop.count("FFMA"), 64);
  EXPECT_EQ(loop.count("LDSM"), 24);
  EXPECT_EQ(loop.count("LDGSTS"), 12);
  EXPECT_EQ(loop.count("STS"), 1);
  EXPECT_NEAR(loop.count("LDG"), 9, 4);  // warps lie 2 x 2 over the tile here, 1 x 4 there
  config.layout = Layout::nn;
  EXPECT_FALSE(resolve(config, cube));
}

struct Compiled {
  const char* name;
  DataType type;
  Layout layout;
  Tile tile;
  int stages, warps;
  int products, ldsm, copies, lds;
  int registers, shared_bytes;
};

void PrintTo(const Compiled& c, std::ostream* out) { *out << c.name; }

class CompiledDot : public testing::TestWithParam<Compiled> {};

TEST_P(CompiledDot, HasTheInstructionsAndResourcesOfTheCompiledOne) {
  const Compiled& want = GetParam();
  const Result<KernelConfig> resolved =
      resolve(configured(want.type, want.layout, want.tile, want.stages, want.warps), cube);
  ASSERT_TRUE(resolved) << to_string(resolved.errors());
  EXPECT_EQ(resolved->registers, want.registers);
  EXPECT_EQ(resolved->shared_bytes, want.shared_bytes);
  const Result<Program> program = build_program({*resolved, {}});
  ASSERT_TRUE(program) << to_string(program.errors());
  const CodeFacts loop = mainloop_facts(*program, {});
  constexpr int idle_loads = 3;  // compilers put them before the copies
  EXPECT_EQ(loop.count(want.type == DataType::f32 ? "FFMA" : "HMMA"), want.products);
  EXPECT_EQ(loop.count("LDSM"), want.ldsm);
  EXPECT_EQ(loop.count("LDGSTS"), want.copies);
  EXPECT_EQ(loop.count("LDS"), want.lds + idle_loads);
  EXPECT_EQ(loop.count("BAR.SYNC"), 2);
  EXPECT_EQ(loop.count("LDGDEPBAR"), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Triton, CompiledDot,
    testing::Values(
        Compiled{"half_128x128x32", DataType::f16, Layout::nn, {128, 128, 32}, 3, 4, 64, 16, 8, 0, 228, 32768},
        Compiled{"half_128x128x64", DataType::f16, Layout::nn, {128, 128, 64}, 3, 4, 128, 32, 16, 0, 253, 65536},
        Compiled{"half_64x64x32", DataType::f16, Layout::nn, {64, 64, 32}, 2, 4, 16, 8, 4, 0, 80, 8192},
        Compiled{"half_64x64x64", DataType::f16, Layout::nn, {64, 64, 64}, 3, 8, 16, 12, 4, 0, 64, 32768},
        Compiled{"half_16x32x32", DataType::f16, Layout::nn, {16, 32, 32}, 4, 2, 4, 4, 3, 0, 40, 9216},
        Compiled{"half_64x32x128", DataType::f16, Layout::nn, {64, 32, 128}, 5, 4, 32, 24, 12, 0, 96, 98304},
        Compiled{"half_128x64x32", DataType::f16, Layout::nn, {128, 64, 32}, 4, 8, 16, 8, 3, 0, 96, 36864},
        Compiled{"tf32_128x128x32", DataType::tf32, Layout::nn, {128, 128, 32}, 3, 4, 128, 16, 16, 64, 226, 65536},
        Compiled{"f32_64x128x32", DataType::f32, Layout::nn, {64, 128, 32}, 3, 4, 2048, 0, 12, 160, 168, 49152},
        Compiled{"f32_64x128x32_nt", DataType::f32, Layout::nt, {64, 128, 32}, 3, 4, 2048, 0, 12, 160, 168, 49152},
        Compiled{"f32_64x64x32", DataType::f32, Layout::nn, {64, 64, 32}, 2, 4, 1024, 0, 8, 96, 119, 16384},
        Compiled{"f32_16x32x32", DataType::f32, Layout::nn, {16, 32, 32}, 4, 2, 256, 0, 6, 64, 56, 18432}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(Triton, DividesATileAmongWarpsAsItsMmaLayoutDoes) {
  EXPECT_EQ(triton_warps({128, 128, 32}, 4).warps_m, 2);
  EXPECT_EQ(triton_warps({128, 64, 32}, 4).warps_m, 4);
  EXPECT_EQ(triton_warps({16, 128, 32}, 4).warps_n, 4);
}

TEST(Triton, RefusesWhatItsCompilerRefuses) {
  const auto errors = [](Tile tile, int threads) {
    KernelConfig config = configured(DataType::f16, Layout::nn, tile, 3, 4);
    config.threads = threads;
    const Result<KernelConfig> resolved = resolve(config, cube);
    return resolved ? std::string() : to_string(resolved.errors());
  };
  EXPECT_NE(errors({8, 64, 32}, 128).find("powers of two from 16"), std::string::npos);
  EXPECT_NE(errors({96, 64, 32}, 128).find("powers of two from 16"), std::string::npos);
  EXPECT_NE(errors({64, 64, 32}, 96).find("num_warps"), std::string::npos);
  EXPECT_EQ(errors({64, 64, 32}, 128), "");
}

// Compiled: 288 LDS.128 of operands for 4096 FFMA in all four layouts, though registers are short.
TEST(Triton, FfmaLoopsLoadFourWordsWhateverTheLayout) {
  for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn, Layout::tt}) {
    const Result<KernelConfig> config = resolve(configured(DataType::f32, layout, {128, 128, 32}, 3, 4), cube);
    ASSERT_TRUE(config) << to_string(config.errors());
    const Result<Program> program = build_program({*config, {}});
    ASSERT_TRUE(program) << to_string(program.errors());
    const auto loads = std::ranges::count_if(program->code, [&](const Instruction& one) {
      if (one.op != Opcode::lds || one.pattern < 0) return false;
      const AccessPattern& of = program->patterns[static_cast<std::size_t>(one.pattern)];
      return of.bytes_per_lane == 16 && (of.matrix == Matrix::a || of.matrix == Matrix::b);
    });
    EXPECT_EQ(loads, 288) << static_cast<int>(layout);
    EXPECT_EQ(mainloop_facts(*program, {}).count("FFMA"), 4096);
  }
}

TEST(Triton, CopiesThatAreTooNarrowForCpAsyncGoThroughRegisters) {
  const Result<KernelConfig> odd =
      resolve(configured(DataType::f16, Layout::nn, {64, 64, 32}, 3, 4), {4096, 4095, 4095, 1});
  ASSERT_TRUE(odd) << to_string(odd.errors());
  const TritonPlan plan = plan_triton(*odd);
  EXPECT_FALSE(plan.a.is_async);
  EXPECT_FALSE(plan.b.is_async);
  EXPECT_EQ(plan.mma.a.access_bytes, 2);
}

TEST(Triton, ReadsConfigurationsAsInductorAndTritonPrintThem) {
  const Result<KernelConfig> inductor = triton_from_text(
      "ACC_TYPE='tl.float32', ALLOW_TF32=False, BLOCK_K=32, BLOCK_M=64, BLOCK_N=128, B_PROLOGUE_CAST_TYPE=None, "
      "EVEN_K=True, GROUP_M=8, num_stages=4, num_warps=8");
  ASSERT_TRUE(inductor) << to_string(inductor.errors());
  EXPECT_EQ(inductor->tile, (Tile{64, 128, 32}));
  EXPECT_EQ(inductor->stages, 4);
  EXPECT_EQ(inductor->threads, 256);
  EXPECT_EQ(inductor->swizzle_log2, 3);
  const Result<KernelConfig> triton = triton_from_text(
      "BLOCK_SIZE_M: 64, BLOCK_SIZE_N: 128, BLOCK_SIZE_K: 32, GROUP_SIZE_M: 8, num_warps: 8, num_ctas: 1, num_stages: "
      "4, maxnreg: None");
  ASSERT_TRUE(triton) << to_string(triton.errors());
  EXPECT_EQ(*triton, *inductor);
  EXPECT_EQ(triton_text(*triton), "BLOCK_K=32, BLOCK_M=64, BLOCK_N=128, GROUP_M=8, num_stages=4, num_warps=8");
  EXPECT_FALSE(triton_from_text("BLOCK_M=64, BLOCK_N=64"));
  EXPECT_FALSE(triton_from_text("BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, SPLIT=3"));
}

TEST(Triton, ReadsListsOfConfigurations) {
  const auto list = triton_from_json(
      R"([{"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 2}, [128, 64, 32, 3, 4]])");
  ASSERT_TRUE(list) << to_string(list.errors());
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ(list->at(1).tile, (Tile{128, 64, 32}));
  EXPECT_EQ(list->at(1).stages, 3);
  EXPECT_FALSE(triton_from_json("[]"));
}

TEST(Triton, InductorsBlocksAreNoLargerThanTheProblem) {
  for (const KernelConfig& config : inductor_configs({24, 4096, 4096, 1})) EXPECT_LE(config.tile.m, 32);
  EXPECT_EQ(inductor_configs(cube).size(), 29U);
}

// Instructions before the loop and behind it, as Triton 3.6 compiled them for sm_80 (behind K of 4096, 64 and 256).
TEST(Triton, ExecutesAboutAsManyInstructionsAroundTheLoopAsTheCompiledOne) {
  const auto around = [](const KernelConfig& config, const GemmShape& shape) {
    const Program program = *build_program({*resolve(config, shape), {}});
    const CodeFacts loop = mainloop_facts(program, {});
    return static_cast<double>(std::ssize(program.code)) - loop.instructions;
  };
  const auto half = [](Layout layout, Tile tile, int stages, int warps) {
    return configured(DataType::f16, layout, tile, stages, warps);
  };
  EXPECT_NEAR(around(half(Layout::nn, {64, 64, 32}, 3, 4), cube), 154 + 101, 35);
  EXPECT_NEAR(around(half(Layout::nn, {128, 64, 64}, 3, 4), cube), 259 + 137, 50);
  EXPECT_NEAR(around(half(Layout::nn, {128, 64, 32}, 3, 4), {401408, 64, 64, 1}), 185 + 144, 35);
  EXPECT_NEAR(around(half(Layout::nt, {64, 32, 128}, 3, 4), {313600, 48, 256, 1}), 212 + 64, 35);
  KernelConfig experts = half(Layout::nt, {64, 64, 32}, 3, 4);  // the listing holds a way out beside these
  experts.gathers_rows = true;
  EXPECT_NEAR(around(experts, cube), 357 + 172, 70);
}

TEST(Triton, ALoopOfOneTileIsNoPipeline) {
  const KernelConfig config = configured(DataType::f16, Layout::nn, {64, 64, 64}, 5, 4);
  EXPECT_EQ(resolve(config, {4096, 4096, 64, 1})->stages, 1);
  EXPECT_EQ(resolve(config, {4096, 4096, 65, 1})->stages, 5);
}

TEST(Triton, WeightsOfEightBitsHalveTheSharedMemoryOfB) {
  KernelConfig config = configured(DataType::f16, Layout::nt, {16, 128, 128}, 4, 4);
  config.dtype_b = DataType::s8;
  const Result<KernelConfig> resolved = resolve(config, cube);
  ASSERT_TRUE(resolved) << to_string(resolved.errors());
  EXPECT_EQ(resolved->shared_bytes, 61440);  // as compiled
  EXPECT_EQ(resolved->registers, 96);
}

TEST(Triton, CopiesComeBehindTheProductsOfWeightsCastInTheLoop) {
  KernelConfig config = configured(DataType::f16, Layout::nt, {16, 32, 128}, 2, 2);
  config.dtype_b = DataType::s8;
  const Result<KernelConfig> resolved = resolve(config, cube);
  ASSERT_TRUE(resolved) << to_string(resolved.errors());
  const Result<Program> program = build_program({*resolved, {}});
  ASSERT_TRUE(program) << to_string(program.errors());
  int left = mainloop_facts(*program, {}).count("HMMA");
  for (int at = program->mainloop_begin; at < program->epilogue_begin; ++at) {
    const Opcode op = program->code[static_cast<std::size_t>(at)].op;
    if (op == Opcode::hmma) --left;
    if (op == Opcode::ldgsts) {
      EXPECT_EQ(left, 0);
    }
  }
}

}  // namespace
}  // namespace noteg::kernels
