// wgmma kernels on the whole chip: laws of boxes and tiles, exact and sampled runs, what a GPU without them says.
#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "sim/gpu/gemm/gemm_traffic.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::gpu {
namespace {

using kernels::GemmShape;

Result<SimReport> run(const std::string& name, const GemmShape& shape, bool exact = false,
                      const std::string& gpu = "h200-sxm-141gb") {
  const Result<kernels::KernelConfig> config = kernels::config_from_name(name);
  EXPECT_TRUE(config);
  SmCache cache;
  SimOptions options;
  options.exact = exact;
  options.sm_clock_mhz = 1755;
  return simulate(*arch::load_gpu(gpu), *config, shape, options, cache);
}

constexpr const char* ws = "cutlass_sm90_wgmma_f16_f32acc_128x128x64_1x1_ws";
constexpr const char* coop = "cutlass_sm90_wgmma_f16_f32acc_128x256x64_2x1_coop";
constexpr const char* pingpong = "cutlass_sm90_wgmma_f16_f32acc_64x128x64_1x1_pingpong";

// Dense f16 needs tile_n / 2 cycles per 64 rows and 16 columns of K: no kernel is faster than its multiplications.
TEST(WgmmaKernels, NeverFasterThanTheTensorCores) {
  for (const char* name : {ws, coop, pingpong}) {
    const Result<SimReport> report = run(name, {4096, 4096, 4096});
    ASSERT_TRUE(report) << to_string(report.errors());
    const double least = 4096.0 * 4096 * 4096 / (132 * 2048.0);
    EXPECT_GT(report->cycles, least) << name;
    EXPECT_LE(report->pipes.tensor, 1.0) << name;
  }
}

TEST(WgmmaKernels, ExtrapolationStaysWithinOnePercentOfExact) {
  for (const char* name : {ws, coop, pingpong, "cutlass_sm90_wgmma_e4m3_f32acc_128x128x128_2x1_coop"}) {
    for (const GemmShape& shape : {GemmShape{1024, 2048, 8192}, GemmShape{4096, 6144, 1024}}) {
      const Result<SimReport> fast = run(name, shape), exact = run(name, shape, true);
      ASSERT_TRUE(fast && exact) << name;
      EXPECT_NEAR(fast->cycles / exact->cycles, 1.0, 0.01)
          << name << ' ' << shape.m << 'x' << shape.n << 'x' << shape.k;
    }
  }
}

// Eight times the depth costs half as much again at most, sixteen times the tiles three times as much.
TEST(WgmmaKernels, CostHardlyGrowsWithDepthAndTiles) {
  const Result<SimReport> small = run(coop, {8192, 8192, 8192}), deep = run(coop, {8192, 8192, 65536}),
                          large = run(coop, {32768, 32768, 8192});
  ASSERT_TRUE(small && deep && large);
  EXPECT_LT(deep->engine.simulated_cycles, 1.5 * small->engine.simulated_cycles);
  EXPECT_LT(large->engine.simulated_cycles, 3 * small->engine.simulated_cycles);
}

double stall_of(const SimReport& r, sm::Stall stall) { return r.stalls[static_cast<std::size_t>(stall)]; }

// A warpgroup's epilogue beside another's main loop takes no time of the run, and who waits for its turn or for a free
// stage holds nothing up.
TEST(WgmmaKernels, WhatIsHiddenIsNoPhaseAndWaitsByDesignAreNoLosses) {
  const Result<SimReport> turns = run("cutlass_sm90_wgmma_f16_f32acc_128x128x64_2x1_pingpong", {4096, 4096, 4096});
  ASSERT_TRUE(turns);
  EXPECT_GT(turns->pipes.tensor, 0.85);
  EXPECT_GT(turns->phases_us.mainloop, 0.85 * turns->time_us);
  EXPECT_LT(turns->phases_us.epilogue, 0.10 * turns->time_us);
  EXPECT_GT(stall_of(*turns, sm::Stall::by_design), 0.2);
  EXPECT_LT(stall_of(*turns, sm::Stall::async_copy), 0.05);
  // One producer warp of eight or twelve waits for stages while its consumers multiply.
  const Result<SimReport> alone = run(ws, {4096, 4096, 4096});
  ASSERT_TRUE(alone);
  EXPECT_GT(stall_of(*alone, sm::Stall::by_design), 0.03);
  EXPECT_LT(stall_of(*alone, sm::Stall::by_design), 1.0 / 8);
}

TEST(WgmmaKernels, TilesOfAPersistentCtaAreNotWaves) {
  const Result<SimReport> persistent = run(coop, {4096, 4096, 4096}), once = run(ws, {4096, 4096, 4096});
  ASSERT_TRUE(persistent && once);
  EXPECT_EQ(persistent->grid_ctas, 132);
  EXPECT_NEAR(persistent->occupancy.waves, 1, 1e-9);
  EXPECT_NEAR(persistent->occupancy.tiles_per_cta, 512.0 / 132, 1e-9);
  EXPECT_NEAR(once->occupancy.tiles_per_cta, 1, 1e-9);
  EXPECT_NEAR(once->occupancy.waves, 1024.0 / (132 * once->occupancy.ctas_per_sm), 1e-9);
}

// Two consumers in turns hide the stores of one tile behind the multiplications of the next.
TEST(WgmmaKernels, PingPongHidesEpilogues) {
  const Result<SimReport> turns = run("cutlass_sm90_wgmma_f16_f32acc_128x128x64_2x1_pingpong", {8192, 8192, 512}),
                          shared = run("cutlass_sm90_wgmma_f16_f32acc_128x128x64_2x1_coop", {8192, 8192, 512});
  ASSERT_TRUE(turns && shared);
  EXPECT_LT(turns->cycles, 0.95 * shared->cycles);
}

// A sparse A of 64 x 16 values stands for 64 x 32: twice the K in n / 2 cycles with A in registers, and where A lies in
// shared memory as much longer as reading it takes (LUO24: 144 against 128 cycles for n = 256).
TEST(WgmmaKernels, SparseOperandsDoubleTheRateUnlessSharedMemoryHoldsThemUp) {
  const auto cycles = [](bool sparse, bool in_registers) {
    kernels::KernelConfig config;
    config.family = kernels::Family::wgmma;
    config.flavor = kernels::Flavor::cutlass;
    config.dtype_in = config.dtype_out = kernels::DataType::f16;
    config.layout = kernels::Layout::nt;
    config.tile = {128, 256, 64};
    config.schedule = kernels::Schedule::coop;
    config.cluster_m = 2;
    config.sparse = sparse;
    config.a_in_registers = in_registers;
    SmCache cache;
    SimOptions options;
    options.sm_clock_mhz = 1755;
    options.switches.l2 = false;  // operands come too slowly for twice the rate
    const Result<SimReport> report =
        simulate(*arch::load_gpu("h200-sxm-141gb"), config, {4224, 4096, 16384}, options, cache);
    EXPECT_TRUE(report) << to_string(report.errors());
    return report ? report->cycles : 0.0;
  };
  const double dense = cycles(false, true), registers = cycles(true, true), shared = cycles(true, false);
  EXPECT_NEAR(dense / registers, 2.0, 0.15);
  EXPECT_NEAR(shared / registers, 144.0 / 128.0, 0.05);
}

// Eight slices of a deep, narrow problem fill SMs that one CTA per tile leaves idle; the sum of slices costs a kernel.
TEST(WgmmaKernels, SlicesOfKFillIdleSms) {
  const auto time = [](int slices, kernels::SplitKMode mode) {
    kernels::KernelConfig config = *kernels::config_from_name("cutlass_sm90_wgmma_f16_f32acc_64x128x64_1x1_pingpong");
    config.split_k = slices;
    config.split_k_mode = mode;
    SmCache cache;
    SimOptions options;
    options.sm_clock_mhz = 1755;
    const Result<SimReport> report =
        simulate(*arch::load_gpu("h200-sxm-141gb"), config, {64, 512, 16384}, options, cache);
    EXPECT_TRUE(report) << to_string(report.errors());
    return report ? *report : SimReport{};
  };
  const SimReport whole = time(1, kernels::SplitKMode::none);
  for (const kernels::SplitKMode mode : {kernels::SplitKMode::serial, kernels::SplitKMode::parallel}) {
    const SimReport split = time(8, mode);
    EXPECT_EQ(split.grid_ctas, 8 * whole.grid_ctas);
    EXPECT_LT(split.time_us, 0.6 * whole.time_us);
    EXPECT_GT(split.time_us, whole.time_us / 8);
  }
}

TEST(WgmmaKernels, OneTileLeavesTheSecondConsumerIdle) {
  const Result<SimReport> report = run(pingpong, {64, 128, 512});
  ASSERT_TRUE(report) << to_string(report.errors());
  EXPECT_EQ(report->grid_ctas, 1);
}

// 16 clusters of a GPC: along a row of 64 tiles they share its rows of one operand and nothing of the other; along rows
// of eight two of them share a column. Two CTAs of a TPC merge before. More than two by two never merge.
TEST(WgmmaKernels, ReadsOfAGpcMergeTwoByTwo) {
  const SharedReads along = shared_reads(64, 1e6, 16, false), folded = shared_reads(8, 1e6, 16, false);
  EXPECT_DOUBLE_EQ(along.fast, 1);
  EXPECT_DOUBLE_EQ(along.slow, 0.5);
  EXPECT_DOUBLE_EQ(folded.fast, 0.5);
  EXPECT_DOUBLE_EQ(folded.slow, 0.5);
  const SharedReads pairs = shared_reads(64, 1e6, 16, true);
  EXPECT_DOUBLE_EQ(pairs.fast, 1);
  EXPECT_DOUBLE_EQ(pairs.slow, 0.25);
}

// With one tile along the fast axis all CTAs read it, and each a tile of its own of the other side. Products of one
// tile share nothing; of those of two by two both CTAs of a TPC read one tile of the slow side, and two TPCs one of the
// fast.
TEST(WgmmaKernels, CtasOfATpcShareOnlyWhatBothRead) {
  const SharedReads row = shared_reads(1, 64, 16, true);
  EXPECT_DOUBLE_EQ(row.slow, 1);
  EXPECT_DOUBLE_EQ(row.fast, 0.25);
  const SharedReads alone = shared_reads(1, 1, 16, true);
  EXPECT_DOUBLE_EQ(alone.fast, 1);
  EXPECT_DOUBLE_EQ(alone.slow, 1);
  const SharedReads small = shared_reads(2, 4, 16, true);
  EXPECT_DOUBLE_EQ(small.fast, 0.5);
  EXPECT_DOUBLE_EQ(small.slow, 0.5);
}

// Cycles of a block of 128 keys and heads of 128, from the difference of two lengths on one SM.
double cycles_of_flash3_block(int rows, const arch::Overrides& overrides = {}) {
  kernels::KernelConfig config;
  config.family = kernels::Family::flash3;
  config.dtype_in = kernels::DataType::bf16;
  config.tile = {rows, 256, 128};
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb", overrides);
  EXPECT_TRUE(gpu);
  SmCache cache;
  double cycles[2] = {};
  for (int i = 0; i < 2; ++i) {
    const Result<SimReport> report = simulate(*gpu, config, {rows, 256, (64 << i) * 128}, {}, cache);
    EXPECT_TRUE(report) << to_string(report.errors());
    if (report) cycles[i] = report->cycles;
  }
  return (cycles[1] - cycles[0]) / 64;
}

// Our own loop of the same plan on an H200 (tests/data/h200_wgmma_beside.csv): 2500 cycles for two warpgroups, whose
// products alone take 2048; 1754 for one. What FP32 instructions lose beside products is fitted to another kernel, what
// MUFU loses to them comes from streams of four instructions in turn.
TEST(WgmmaKernels, SoftmaxBesideProductsTakesLongerThanTheProducts) {
  EXPECT_NEAR(cycles_of_flash3_block(128), 2500, 0.04 * 2500);
  EXPECT_NEAR(cycles_of_flash3_block(64), 1754, 0.04 * 1754);
}

TEST(WgmmaKernels, PipesThatNeedNoRegisterFileFindRoomBesideProducts) {
  EXPECT_NEAR(cycles_of_flash3_block(128, {{"sm.wgmma.beside", "0 cycles"},
                                           {"sm.wgmma.beside_mufu", "0 cycles"},
                                           {"sm.wgmma.mufu_beside", "0 cycles"}}),
              2048, 0.02 * 2048);
}

TEST(WgmmaKernels, OlderGenerationsSayWhatTheyLack) {
  const Result<SimReport> report = run(ws, {1024, 1024, 1024}, false, "l4");
  ASSERT_FALSE(report);
  EXPECT_NE(to_string(report.errors()).find("compute capability 8.9 has neither warpgroup multiplications"),
            std::string::npos)
      << to_string(report.errors());
}

TEST(WgmmaKernels, UnsupportedTypesAndLayoutsAreRefused) {
  kernels::KernelConfig config = *kernels::config_from_name(ws);
  config.dtype_in = kernels::DataType::s4;
  config.dtype_acc = kernels::DataType::s32;
  Result<kernels::KernelConfig> resolved = kernels::resolve(config, {1024, 1024, 1024});
  ASSERT_FALSE(resolved);
  EXPECT_NE(to_string(resolved.errors()).find("dtype_in: expected f16, bf16, tf32"), std::string::npos);
  config = *kernels::config_from_name("cutlass_sm90_wgmma_e4m3_f32acc_128x128x128_2x1_coop");
  config.layout = kernels::Layout::nn;
  resolved = kernels::resolve(config, {1024, 1024, 1024});
  ASSERT_FALSE(resolved);
  EXPECT_NE(to_string(resolved.errors()).find("layout: expected nt"), std::string::npos);
}

}  // namespace
}  // namespace noteg::gpu
