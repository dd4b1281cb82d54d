// The bottleneck that a report names at once is the limit that experiments find dearest.
#include "sim/chip/explain.hpp"
#include "kernels/config_file.hpp"
#include "tests/chip/chip_setup.hpp"

namespace noteg::chip {
namespace {

struct Case {
  const char* gpu;
  const char* kernel;
  kernels::GemmShape shape;
  const char* limit;
};

class Agreement : public testing::TestWithParam<Case> {};

TEST_P(Agreement, EstimateAndExperimentNameTheSameLimit) {
  const Case& c = GetParam();
  SmCache cache;
  SimOptions options;
  options.share_runs = true;  // the quick grade: a dozen experiments each
  const Result<Explanation> e = explain(gpu_of(c.gpu), kernel_of(c.kernel), c.shape, options, cache);
  ASSERT_TRUE(e) << to_string(e.errors());
  const SimReport quick = run(gpu_of(c.gpu), kernel_of(c.kernel), c.shape, options, cache);
  EXPECT_EQ(e->report.bottleneck.name, c.limit);
  EXPECT_EQ(quick.bottleneck.name, c.limit);
  EXPECT_EQ(e->costs.front().limit, c.limit);
  EXPECT_DOUBLE_EQ(e->report.bottleneck.speedup_if_removed, e->costs.front().speedup());
  EXPECT_EQ(e->report.time_us, quick.time_us);
  for (std::size_t i = 0; i < e->costs.size(); ++i) {
    EXPECT_GE(e->costs[i].gain_us, 0);
    EXPECT_NEAR(e->costs[i].time_us + e->costs[i].gain_us, quick.time_us, 1e-9 * quick.time_us);
    if (i > 0) {
      EXPECT_LE(e->costs[i].gain_us, e->costs[i - 1].gain_us);
    }
  }
}

constexpr const char* cutlass_128 = "cutlass_simt_sgemm_128x128_8x4_nn_align1";
constexpr const char* ampere_128 = "ampere_sgemm_128x128_nn";

INSTANTIATE_TEST_SUITE_P(
    Kernels, Agreement,
    testing::Values(
        // FP32 lanes: half a warp wide, and a whole warp wide
        Case{"a100-pcie-80gb", ampere_128, {4096, 4096, 4096, 1}, "fma_pipe"},
        Case{"h200-sxm-141gb", "cutlass_simt_sgemm_256x128_8x4_tn_align1", {8192, 8192, 512, 1}, "fma_pipe"},
        Case{"l4", "ampere_sgemm_128x128_tn", {8192, 8192, 1024, 1}, "fma_pipe"},
        // shared memory
        Case{"rtx4070", "naive_tiled_sgemm_t16", {2048, 2048, 512, 1}, "shared_memory"},
        Case{"h200-sxm-141gb", "naive_tiled_sgemm_t16", {4096, 4096, 512, 1}, "shared_memory"},
        Case{"rtx-a6000", "naive_tiled_sgemm_t8", {512, 512, 1024, 1}, "shared_memory"},
        Case{"h200-sxm-141gb", "blocked_sgemm_64x64x16_t4x4_sb", {4096, 4096, 1024, 1}, "shared_memory"},
        // thread tiles of 16x4 read it in twelve wavefronts where 8x8 take eight
        Case{"h100-sxm5-80gb", "cutlass_simt_sgemm_128x64_8x5_nn_align1", {4096, 4096, 4096, 1}, "shared_memory"},
        // register banks of a compiler that knows no better order
        Case{"h200-sxm-141gb", "blocked_sgemm_128x128x8_t8x8_db", {4096, 4096, 4096, 1}, "register_ports"},
        // DRAM: thin products that write much
        Case{"rtx4070", "cutlass_simt_sgemm_128x128_8x2_nn_align1", {8192, 8192, 8, 1}, "dram_bandwidth"},
        Case{"rtx3090", "cutlass_simt_sgemm_64x64_8x4_nn_align1", {16384, 16384, 8, 1}, "dram_bandwidth"},
        // ragged grids
        Case{"h200-sxm-141gb", "cutlass_simt_sgemm_128x128_8x4_tn_align1", {2176, 1024, 4096, 1}, "ragged_tail"},
        Case{"rtx3090", cutlass_128, {64, 8192, 4096, 1}, "ragged_tail"},
        Case{"a100-pcie-40gb", "ampere_sgemm_32x32_sliced1x4_tn", {64, 64, 8192, 1}, "ragged_tail"},
        // one small CTA for every SM: latency where K is long, the launch where it is short
        Case{"h200-sxm-141gb", "naive_tiled_sgemm_t16", {16, 2112, 4096, 1}, "memory_latency"},
        Case{"rtx4070", "cutlass_simt_sgemm_64x64_8x2_nn_align1", {64, 2560, 4096, 1}, "memory_latency"},
        Case{"a100-pcie-80gb", "naive_tiled_sgemm_t8", {8, 864, 16, 1}, "kernel_launch"}));

TEST(Explain, RefusesWhatSimulateRefuses) {
  SmCache cache;
  kernels::KernelConfig impossible = kernel_of(ampere_128);
  impossible.tile = {4096, 4096, 8};
  EXPECT_FALSE(explain(gpu_of("l4"), impossible, {64, 64, 64, 1}, {}, cache));
}

// The power limit settles on a clock a little off the one at which the run was stepped: that is no limit's doing.
TEST(Explain, GainsNothingFromWhatCostsNothing) {
  const Result<kernels::KernelConfig> kernel =
      kernels::load_kernel_file(NOTEG_SOURCE_DIR "/kernels/sgemm_128x128x8.yaml");
  ASSERT_TRUE(kernel) << to_string(kernel.errors());
  SmCache cache;
  const Result<Explanation> e = explain(gpu_of("rtx4070"), *kernel, {4096, 4096, 4096, 1}, {}, cache);
  ASSERT_TRUE(e) << to_string(e.errors());
  ASSERT_TRUE(e->report.throttled);
  for (const LimitCost& cost : e->costs) {
    if (cost.limit == "kernel_launch" || cost.limit == "bank_conflicts" || cost.limit == "instruction_cache") {
      EXPECT_LE(cost.gain_us, 0.002 * e->report.time_us) << cost.limit;
    }
  }
}

TEST(Explain, JudgesARunWithSwitchesChangedByThatRun) {
  SmCache cache;
  SimOptions options;
  options.switches.launch = false;
  const Result<Explanation> e = explain(gpu_of("l4"), kernel_of(ampere_128), {128, 128, 16, 1}, options, cache);
  ASSERT_TRUE(e) << to_string(e.errors());
  for (const LimitCost& cost : e->costs)
    if (cost.limit == "kernel_launch") {
      EXPECT_EQ(cost.gain_us, 0);
    }
}

}  // namespace
}  // namespace noteg::chip
