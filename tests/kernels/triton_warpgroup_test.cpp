// tl.dot on warpgroups against what Triton 3.6 compiled for sm_90 from a template like Inductor's (f16, row-major, our
// H100 run): multiplications and copies of an iteration, shared memory exactly; registers within a fifth.
#include <gtest/gtest.h>

#include "kernels/families/build.hpp"
#include "kernels/families/triton/triton.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {
namespace {

struct Compiled {
  Tile tile;
  int stages, warps, products, copies, registers, shared_bytes;
};

constexpr Compiled compiled[] = {
    {{64, 64, 32}, 2, 4, 2, 4, 58, 16384},      {{64, 128, 32}, 3, 4, 2, 6, 96, 36864},
    {{128, 64, 32}, 4, 8, 2, 3, 59, 49152},     {{128, 128, 32}, 3, 4, 4, 8, 166, 49152},
    {{128, 128, 64}, 3, 8, 4, 8, 112, 98304},   {{128, 128, 64}, 4, 4, 8, 16, 208, 131072},
    {{128, 256, 64}, 3, 8, 4, 12, 202, 147456}, {{256, 128, 64}, 3, 8, 8, 12, 197, 147456},
    {{64, 64, 64}, 3, 4, 4, 8, 64, 49152},      {{64, 256, 64}, 3, 4, 4, 20, 216, 122880},
    {{64, 16, 64}, 3, 4, 4, 5, 38, 30720},      {{128, 32, 64}, 3, 4, 8, 10, 80, 61440},
};

KernelConfig configured(const Compiled& c) {
  KernelConfig config;
  config.family = Family::triton;
  config.dtype_in = config.dtype_out = DataType::f16;
  config.tile = c.tile;
  config.stages = c.stages;
  config.threads = 32 * c.warps;
  config.instruction = *triton_warpgroup_instruction(config);
  return config;
}

TEST(TritonOnWarpgroups, HasTheInstructionsAndSharedMemoryOfTheCompiledOne) {
  for (const Compiled& want : compiled) {
    const Result<KernelConfig> resolved = resolve(configured(want), {4096, 4096, 4096, 1});
    ASSERT_TRUE(resolved) << to_string(resolved.errors());
    EXPECT_EQ(resolved->shared_bytes, want.shared_bytes) << want.tile.m << "x" << want.tile.n << "x" << want.tile.k;
    EXPECT_NEAR(*resolved->registers, want.registers, 0.2 * want.registers);
    const Result<Program> program = build_program({*resolved, {}});
    ASSERT_TRUE(program) << to_string(program.errors());
    const CodeFacts loop = mainloop_facts(*program, {});
    EXPECT_EQ(loop.by_mnemonic.at("HGMMA"), want.products);
    EXPECT_EQ(loop.by_mnemonic.at("LDGSTS"), want.copies);
  }
}

TEST(TritonOnWarpgroups, BlocksBelowSixtyFourRowsStayWithTheirWarps) {
  KernelConfig config = configured(compiled[0]);
  config.tile.m = 32;
  EXPECT_FALSE(triton_warpgroup_instruction(config));
  config.tile.m = 64;
  config.threads = 64;
  EXPECT_FALSE(triton_warpgroup_instruction(config));
}

}  // namespace
}  // namespace noteg::kernels
