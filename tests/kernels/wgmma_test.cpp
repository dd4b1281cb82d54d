// The streams of wgmma kernels: roles, barriers that fit together, and the instructions of an epilogue as our listings
// of the same kernels for sm_90 have them (h200_loops.csv).
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/passes/passes.hpp"

namespace noteg::kernels {
namespace {

Program built(const std::string& name) {
  const Result<KernelConfig> config = resolve(*config_from_name(name), {4096, 4096, 4096, 1});
  EXPECT_TRUE(config) << name << ' ' << to_string(config.errors());
  BuildRequest request;
  request.config = *config;
  Result<Program> program = build_program(request);
  EXPECT_TRUE(program) << name << ' ' << to_string(program.errors());
  return program ? *program : Program{};
}

// Static count in one role.
long count(const Program& program, const Role& role, Opcode op) {
  return std::count_if(program.code.begin() + role.begin, program.code.begin() + role.end,
                       [op](const Instruction& in) { return in.op == op; });
}

struct Epilogue {
  const char* name;
  int multiplications;  // per k tile and consumer
  int packs, stores, bulk_stores, barriers;
};

const Epilogue epilogues[] = {
    {"cutlass_sm90_wgmma_f16_f32acc_64x128x64_1x1_ws", 4, 32, 8, 4, 8},
    {"cutlass_sm90_wgmma_f16_f32acc_128x128x64_1x1_ws", 8, 64, 16, 8, 16},
    {"cutlass_sm90_wgmma_f16_f32acc_128x128x64_1x1_coop", 4, 32, 8, 4, 8},
    {"cutlass_sm90_wgmma_f16_f32acc_128x128x64_2x1_pingpong", 8, 64, 16, 8, 16},
    {"cutlass_sm90_wgmma_f16_f32acc_128x256x64_1x1_coop", 4, 64, 16, 8, 16},
    {"cutlass_sm90_wgmma_f16_f32acc_256x128x64_2x1_coop", 8, 64, 16, 8, 16},
    {"cutlass_sm90_wgmma_e4m3_f32acc_64x128x128_1x1_pingpong", 4, 32, 8, 4, 8},
};

TEST(WgmmaStreams, HaveTheInstructionsOfListings) {
  for (const Epilogue& listed : epilogues) {
    const Program program = built(listed.name);
    ASSERT_GE(program.roles.size(), 3u);
    const Role& consumer = program.roles[2];
    EXPECT_EQ(count(program, consumer, Opcode::hgmma), listed.multiplications) << listed.name;
    EXPECT_EQ(count(program, consumer, Opcode::f2fp), listed.packs) << listed.name;
    EXPECT_EQ(count(program, consumer, Opcode::stsm), listed.stores) << listed.name;
    EXPECT_EQ(count(program, consumer, Opcode::utmastg), listed.bulk_stores) << listed.name;
    EXPECT_EQ(count(program, consumer, Opcode::membar), listed.bulk_stores) << listed.name;
  }
}

// CUTLASS counts the products until it promotes, so that its compiler clears sums; DeepGEMM's unrolled code says for
// which product they count as zero. Each sum is then scaled and added by one instruction, block after block of 64 rows.
TEST(WgmmaStreams, OfDeepGemmScaleWithoutClearing) {
  KernelConfig config = *config_from_name("cutlass_sm90_wgmma_e4m3_f32acc_128x128x128_1x1_coop");
  for (const int rows : {128, 256}) {
    config.tile.m = rows;
    config.flavor = Flavor::deep_gemm;
    BuildRequest request;
    const Result<KernelConfig> resolved = resolve(config, {4096, 4096, 4096, 1});
    ASSERT_TRUE(resolved) << to_string(resolved.errors());
    request.config = *resolved;
    const Result<Program> scaled = build_program(request);
    ASSERT_TRUE(scaled) << to_string(scaled.errors());
    EXPECT_EQ(count(*scaled, scaled->roles[2], Opcode::cs2r), 0);
    EXPECT_EQ(count(*scaled, scaled->roles[2], Opcode::ffma), rows * 128 / 256);
    EXPECT_TRUE(check_control_bits(*scaled, LatencyModel{}).empty());
  }
  const Program promoted = built("cutlass_sm90_wgmma_e4m3_f32acc_128x128x128_1x1_coop");
  EXPECT_EQ(count(promoted, promoted.roles[2], Opcode::cs2r), 64);
}

TEST(WgmmaStreams, EveryWarpHasARole) {
  for (const Epilogue& listed : epilogues) {
    const Program program = built(listed.name);
    int warps = 0;
    for (const Role& role : program.roles) {
      EXPECT_EQ(role.first_warp, warps) << listed.name;
      warps += role.warps;
      EXPECT_EQ(program.code[static_cast<std::size_t>(role.end - 1)].op, Opcode::exit);
    }
    EXPECT_EQ(warps, program.warps);
  }
}

// Who waits on a ring finds somebody who arrives at it.
TEST(WgmmaStreams, EveryRingThatIsWaitedForIsArrivedAt) {
  for (const Epilogue& listed : epilogues) {
    const Program program = built(listed.name);
    for (std::size_t ring = 0; ring < program.rings.size(); ++ring) {
      const auto any = [&](AsyncKind kind) {
        return std::any_of(program.async.begin(), program.async.end(),
                           [&](const AsyncOp& op) { return op.kind == kind && op.ring == static_cast<int>(ring); });
      };
      EXPECT_TRUE(!any(AsyncKind::wait) || any(AsyncKind::arrive)) << listed.name << ' ' << program.rings[ring].name;
    }
  }
}

TEST(WgmmaStreams, ControlBitsAreSafe) {
  for (const Epilogue& listed : epilogues) {
    const std::vector<std::string> hazards = check_control_bits(built(listed.name), LatencyModel{});
    EXPECT_TRUE(hazards.empty()) << listed.name << ": " << (hazards.empty() ? "" : hazards.front());
  }
}

TEST(WgmmaStreams, TilesThatDoNotFitTheRegistersAreRefused) {
  KernelConfig config = *config_from_name("cutlass_sm90_wgmma_f16_f32acc_128x256x64_2x1_coop");
  config.schedule = Schedule::pingpong;  // each consumer would keep 256 sums per thread
  const Result<KernelConfig> resolved = resolve(config, {4096, 4096, 4096, 1});
  ASSERT_FALSE(resolved);
  EXPECT_NE(to_string(resolved.errors()).find("tile: expected 64 rows per consumer warpgroup"), std::string::npos);
}

TEST(Wgmma, BothOperandsNeedRowsOfWholeChunksOf16Bytes) {
  KernelConfig config;
  config.family = Family::wgmma;
  config.dtype_in = config.dtype_out = DataType::f16;
  config.tile = {128, 128, 64};
  for (const auto& [layout, shape] :
       {std::pair{Layout::tt, GemmShape{640, 128, 5002, 1}}, std::pair{Layout::nn, GemmShape{640, 130, 5000, 1}},
        std::pair{Layout::tn, GemmShape{642, 128, 5000, 1}}, std::pair{Layout::nt, GemmShape{640, 128, 5002, 1}}}) {
    config.layout = layout;
    EXPECT_FALSE(resolve(config, shape)) << name_of(layout);
    EXPECT_TRUE(resolve(config, {640, 128, 5000, 1})) << name_of(layout);
  }
}

}  // namespace
}  // namespace noteg::kernels
