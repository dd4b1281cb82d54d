// FlashAttention-2's loop: products, exponentials and copies of one block of keys, as the published kernels execute
// them (counters of PyTorch's flash_fwd_kernel on an H100).
#include <gtest/gtest.h>

#include "kernels/families/build.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {
namespace {

struct Block {
  int head, rows, keys, warps;
};

CodeFacts loop_of(const Block& block, bool paged = false) {
  KernelConfig config;
  config.family = Family::attention;
  config.dtype_in = DataType::bf16;
  config.tile = {block.rows, 2 * block.head, block.keys};
  config.threads = 32 * block.warps;
  config.attention.page = paged ? 16 : 0;
  const Result<KernelConfig> resolved = resolve(config, {4096, 2 * block.head, 4096, 32});
  EXPECT_TRUE(resolved) << to_string(resolved.errors());
  if (!resolved) return {};
  const Result<Program> program = build_program({*resolved, {}});
  EXPECT_TRUE(program) << to_string(program.errors());
  return program ? mainloop_facts(*program, {}) : CodeFacts{};
}

// 34,603,008 HMMA of 1024 CTAs with 33 blocks each on average: 256 a warp; 9,220,096 on the XU pipe: 68 a warp.
TEST(Attention, MultipliesAndExponentiatesAsOftenAsThePublishedKernel) {
  const CodeFacts loop = loop_of({128, 128, 64, 4});
  EXPECT_EQ(loop.by_mnemonic.at("HMMA"), 256);
  EXPECT_EQ(loop.by_mnemonic.at("MUFU"), 68);
  EXPECT_EQ(loop.by_mnemonic.at("LDGSTS"), 16);
  EXPECT_EQ(loop.by_mnemonic.at("SHFL"), 8);
  EXPECT_EQ(loop.by_mnemonic.at("BAR.SYNC"), 2);
}

TEST(Attention, ShortHeadsTakeLongBlocksOfKeys) {
  EXPECT_EQ(loop_of({64, 128, 128, 4}).by_mnemonic.at("HMMA"), 256);
  EXPECT_EQ(loop_of({96, 128, 64, 4}).by_mnemonic.at("HMMA"), 192);
  EXPECT_EQ(loop_of({256, 64, 64, 4}).by_mnemonic.at("HMMA"), 256);
}

TEST(Attention, AsksForThePageOfABlockFirst) {
  const auto loads = [](const CodeFacts& f) { return f.by_mnemonic.contains("LDG") ? f.by_mnemonic.at("LDG") : 0; };
  EXPECT_EQ(loads(loop_of({128, 64, 128, 4})), 0);
  EXPECT_EQ(loads(loop_of({128, 64, 128, 4}, true)), 2);
}

TEST(Attention, HeadsAreHalfTheColumns) {
  KernelConfig config;
  config.family = Family::attention;
  config.dtype_in = DataType::f16;
  const Result<KernelConfig> odd = resolve(config, {128, 130, 128, 1});
  ASSERT_FALSE(odd);
  EXPECT_NE(to_string(odd.errors()).find("twice a head size"), std::string::npos);
}

TEST(Attention, IsReadFromTheNameThatProfilersPrint) {
  const Result<KernelConfig> config = config_from_name(
      "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, 0, 0, cutlass::bfloat16_t, "
      "Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t>>, 0, 1, 0, 0, 1, 1, 0, "
      "0>(pytorch_flash::Flash_fwd_params)");
  ASSERT_TRUE(config) << to_string(config.errors());
  EXPECT_EQ(config->family, Family::attention);
  EXPECT_EQ(config->tile, (Tile{128, 256, 64}));
  EXPECT_EQ(config->threads, 128);
}

TEST(Attention, OfWarpgroupsIsReadFromTheNameThatProfilersPrint) {
  const Result<KernelConfig> config = config_from_name(
      "void "
      "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<"
      "2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1>>, cute::tuple<cute::C<128>, cute::C<176>, cute::C<128>>, 128, "
      "cutlass::bfloat16_t, float, cutlass::arch::Sm90, false, false>>>>");
  ASSERT_TRUE(config) << to_string(config.errors());
  EXPECT_EQ(config->family, Family::flash3);
  EXPECT_EQ(config->tile, (Tile{128, 256, 176}));
  EXPECT_FALSE(config->attention.causal);
}

TEST(Attention, NamesOfMarlinAndDeepGemmSayWhatToAskForInstead) {
  for (const char* name :
       {"void marlin::Marlin<256, 1, 8, 8, 4, 8>(int4 const*)", "void deep_gemm::fp8_gemm<7168u>()"}) {
    const Result<KernelConfig> config = config_from_name(name);
    ASSERT_FALSE(config);
    EXPECT_NE(to_string(config.errors()).find("--family"), std::string::npos);
  }
}

TEST(Attention, NamesOfInductorDoNotTellTheTile) {
  const Result<KernelConfig> config = config_from_name("triton_mm_12");
  ASSERT_FALSE(config);
  EXPECT_NE(to_string(config.errors()).find("--config"), std::string::npos);
}

}  // namespace
}  // namespace noteg::kernels
