// FlashAttention-3: what a block of keys takes, who runs what, what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/families/build.hpp"
#include "kernels/families/flash3/flash3_plan.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {
namespace {

KernelConfig usual() {
  KernelConfig config;
  config.family = Family::flash3;
  config.dtype_in = DataType::bf16;
  return config;
}

constexpr GemmShape heads_of_128{4096, 256, 4096, 32};

int in_main_loop(const Program& program, const Role& role, Opcode op) {
  int count = 0;
  for (const Loop& loop : program.loops) {
    if (!loop.is_main || loop.begin < role.begin || loop.branch >= role.end) continue;
    for (std::int32_t at = loop.begin; at <= loop.branch; ++at)
      count += program.code[static_cast<std::size_t>(at)].op == op ? 1 : 0;
  }
  return count;
}

TEST(Flash3, TakesTheBlocksOfTheLibrary) {
  EXPECT_EQ(flash3_block(64, false, false), (Tile{192, 128, 128}));
  EXPECT_EQ(flash3_block(128, false, false), (Tile{128, 256, 176}));
  EXPECT_EQ(flash3_block(128, true, false), (Tile{128, 256, 128}));
  EXPECT_EQ(flash3_block(256, false, false), (Tile{128, 512, 80}));
  EXPECT_EQ(flash3_block(256, true, true), (Tile{128, 512, 80}));
  EXPECT_EQ(flash3_block(128, false, true, true), (Tile{64, 256, 128}));
}

TEST(Flash3, GivesEachConsumerBothProductsAndOneExponentialForEachScore) {
  KernelConfig config = usual();
  config.tile = {128, 256, 128};
  const Result<KernelConfig> resolved = resolve(config, heads_of_128);
  ASSERT_TRUE(resolved) << to_string(resolved.errors());
  const Result<Program> program = build_program({*resolved, {}});
  ASSERT_TRUE(program) << to_string(program.errors());
  ASSERT_EQ(program->roles.size(), 4u);  // producer, idle warps, two consumers
  const Role& consumer = program->roles.back();
  EXPECT_EQ(in_main_loop(*program, consumer, Opcode::hgmma), 128 / 16 + 128 / 16);
  EXPECT_EQ(in_main_loop(*program, consumer, Opcode::mufu), 64 * 128 / 128 + 2);  // and the two rows' scales
  EXPECT_EQ(in_main_loop(*program, program->roles.front(), Opcode::utmaldg), 2);  // keys and values
  EXPECT_EQ(program->peeled_tiles, 1);
}

// Pages of one token: 16 bytes a copy, shared out among the four warps of the producer; no box but that of the queries.
TEST(Flash3, GathersPagesThatAreNoWholeBlocksOfKeys) {
  KernelConfig config = usual();
  config.tile = {128, 256, 128};
  for (const int page : {1, 64, 128}) {
    config.attention.page = page;
    const Result<KernelConfig> resolved = resolve(config, heads_of_128);
    ASSERT_TRUE(resolved) << to_string(resolved.errors());
    const Result<Program> program = build_program({*resolved, {}});
    ASSERT_TRUE(program) << to_string(program.errors());
    const Role& producer = program->roles.front();
    const bool gathers = page != 128;
    EXPECT_EQ(gathers_pages(*resolved), gathers);
    EXPECT_EQ(producer.warps, gathers ? 4 : 1);
    EXPECT_EQ(in_main_loop(*program, producer, Opcode::utmaldg), gathers ? 0 : 2);
    EXPECT_EQ(in_main_loop(*program, producer, Opcode::ldgsts) * producer.warps * 32 * 16,
              gathers ? 2 * 128 * 128 * 2 : 0);
  }
}

TEST(Flash3, LetsHeadsUpTo128TakeTurns) {
  KernelConfig config = usual();
  EXPECT_TRUE(plan_flash3((config.tile = {128, 256, 128}, config)).takes_turns());
  EXPECT_FALSE(plan_flash3((config.tile = {128, 512, 80}, config)).takes_turns());
  EXPECT_FALSE(plan_flash3((config.tile = {64, 256, 128}, config)).takes_turns());
}

// The first block of keys stands before the loop: a tile of one block passes it by.
TEST(Flash3, MayHaveNoIterationOfItsMainLoop) {
  const Result<KernelConfig> resolved = resolve(usual(), heads_of_128);
  ASSERT_TRUE(resolved) << to_string(resolved.errors());
  const Result<Program> program = build_program({*resolved, {}});
  ASSERT_TRUE(program) << to_string(program.errors());
  EXPECT_EQ(least_iterations(*program), 0);
  EXPECT_EQ(main_iterations(*program, resolved->tile.k), 0);
}

TEST(Flash3, HasAConsumerForEverySixtyFourRows) {
  const Result<KernelConfig> resolved = resolve(usual(), {4096, 128, 4096, 32});
  ASSERT_TRUE(resolved) << to_string(resolved.errors());
  EXPECT_EQ(resolved->threads, 512);
  EXPECT_EQ(resolved->registers, 128);
}

TEST(Flash3, RefusesWhatTheHardwareCannotHold) {
  KernelConfig config = usual();
  config.tile = {128, 512, 256};
  const Result<KernelConfig> wide = resolve(config, {4096, 512, 4096, 1});
  ASSERT_FALSE(wide);
  EXPECT_NE(to_string(wide.errors()).find("232 registers"), std::string::npos);
  config = usual();
  config.dtype_in = DataType::f32;
  config.sparse = true;
  const Result<KernelConfig> typed = resolve(config, heads_of_128);
  ASSERT_FALSE(typed);
  EXPECT_EQ(typed.errors().size(), 2u);  // all mistakes at once
}

}  // namespace
}  // namespace noteg::kernels
