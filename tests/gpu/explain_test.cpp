// A run's bottleneck is what experiments find dearest, in a plain run and in the whole table alike.
#include "sim/gpu/limits/explain.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/gpu/limits/bottleneck.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

struct Case {
  const char* gpu;
  const char* kernel;
  kernels::GemmShape shape;
  const char* limit;
};

Explanation explained(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
                      Experiments experiments, const SimOptions& options = {}) {
  SmCache cache;
  const Result<Explanation> out = explain(gpu, kernel, shape, options, cache, experiments);
  EXPECT_TRUE(out) << to_string(out.errors());
  return out ? *out : Explanation{};
}

kernels::KernelConfig kernel_file(const std::string& name) {
  const Result<kernels::KernelConfig> kernel =
      kernels::load_kernel_file(std::string(NOTEG_SOURCE_DIR "/kernels/library/") + name);
  EXPECT_TRUE(kernel) << to_string(kernel.errors());
  return kernel ? *kernel : kernels::KernelConfig{};
}

void expect_same_answer(const Explanation& some, const Explanation& all) {
  EXPECT_EQ(some.report.bottleneck.name, all.report.bottleneck.name);
  EXPECT_EQ(some.report.bottleneck.because, all.report.bottleneck.because);
  EXPECT_EQ(some.report.bottleneck.below_roof_by, all.report.bottleneck.below_roof_by);
  EXPECT_EQ(some.report.bottleneck.speedup_if_removed, all.report.bottleneck.speedup_if_removed);
  EXPECT_EQ(all.report.bottleneck.name, all.costs.front().limit);
  EXPECT_FALSE(all.report.bottleneck.estimated);
}

// Gains lie within their bounds, largest first, and no limit but the pipe itself was keeping the kernel from more than
// the pipes have.
void expect_lawful(const Explanation& e) {
  const SimReport& r = e.report;
  for (std::size_t i = 0; i < e.costs.size(); ++i) {
    const LimitCost& cost = e.costs[i];
    EXPECT_GE(cost.gain_us, 0) << cost.limit;
    EXPECT_NEAR(cost.time_us + cost.gain_us, r.time_us, 1e-9 * r.time_us) << cost.limit;
    if (i > 0) {
      EXPECT_LE(cost.gain_us, e.costs[i - 1].gain_us);
    }
    if (cost.limit != "power") {
      EXPECT_LE(cost.gain_us, limit_bound(cost.limit, r) * r.time_us * (1 + 1e-9)) << cost.limit;
    }
    if (cost.limit != "tensor_pipe" && cost.limit != "fma_pipe") {
      EXPECT_LE(cost.pct_of_peak, 100 + 1e-6) << cost.limit;
    }
  }
  EXPECT_NEAR(e.steps.roof_us + e.steps.clock_us + e.steps.below_us, r.time_us, 1e-9 * r.time_us);
  EXPECT_NEAR(e.steps.below_us, (1 - r.bottleneck.share_of_roof_pct / 100) * r.time_us, 1e-9 * r.time_us);
}

class Agreement : public testing::TestWithParam<Case> {};

TEST_P(Agreement, APlainRunAndTheWholeTableNameTheSameLimit) {
  const Case& c = GetParam();
  const Explanation some = explained(gpu_of(c.gpu), kernel_of(c.kernel), c.shape, Experiments::decisive);
  const Explanation all = explained(gpu_of(c.gpu), kernel_of(c.kernel), c.shape, Experiments::all);
  EXPECT_EQ(all.report.bottleneck.name, c.limit) << all.report.bottleneck.because;
  expect_same_answer(some, all);
  expect_lawful(all);
  EXPECT_LE(some.costs.size(), all.costs.size());
}

constexpr const char* cutlass_128 = "cutlass_simt_sgemm_128x128_8x4_nn_align1";
constexpr const char* ampere_128 = "ampere_sgemm_128x128_nn";

INSTANTIATE_TEST_SUITE_P(
    Kernels, Agreement,
    testing::Values(
        // FP32 lanes: half a warp wide, and a whole warp wide
        Case{"a100-pcie-80gb", ampere_128, {4096, 4096, 4096, 1}, "fma_pipe"},
        Case{"h200-sxm-141gb", "cutlass_simt_sgemm_256x128_8x4_tn_align1", {8192, 8192, 512, 1}, "fma_pipe"},
        // 72 W: less than half of the highest clock
        Case{"l4", "ampere_sgemm_128x128_tn", {8192, 8192, 1024, 1}, "power"},
        // shared memory
        Case{"rtx4070", "naive_tiled_sgemm_t16", {2048, 2048, 512, 1}, "shared_memory"},
        Case{"h200-sxm-141gb", "naive_tiled_sgemm_t16", {4096, 4096, 512, 1}, "shared_memory"},
        Case{"rtx-a6000", "naive_tiled_sgemm_t8", {512, 512, 1024, 1}, "shared_memory"},
        Case{"h200-sxm-141gb", "blocked_sgemm_64x64x16_t4x4_sb", {4096, 4096, 1024, 1}, "shared_memory"},
        Case{"h100-sxm5-80gb", "cutlass_simt_sgemm_128x64_8x5_nn_align1", {4096, 4096, 4096, 1}, "shared_memory"},
        // two operands of one bank
        Case{"h200-sxm-141gb", "blocked_sgemm_64x64x8_t8x8_db", {4096, 4096, 4096, 1}, "register_ports"},
        // DRAM: thin products that write much
        Case{"rtx4070", "cutlass_simt_sgemm_128x128_8x2_nn_align1", {8192, 8192, 8, 1}, "dram_bandwidth"},
        // and the same where L2 takes stores hardly faster
        Case{"rtx3090", "cutlass_simt_sgemm_64x64_8x4_nn_align1", {16384, 16384, 8, 1}, "l2_bandwidth"},
        // partial grids
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
  EXPECT_FALSE(explain(gpu_of("l4"), impossible, {64, 64, 64, 1}, {}, cache, Experiments::decisive));
}

// The power limit settles on a clock a little off the one at which the run was stepped: that is no limit's doing.
TEST(Explain, GainsNothingFromWhatCostsNothing) {
  const Explanation e =
      explained(gpu_of("rtx4070"), kernel_file("sgemm_128x128x8.yaml"), {4096, 4096, 4096, 1}, Experiments::all);
  ASSERT_TRUE(e.report.throttled);
  for (const LimitCost& cost : e.costs) {
    if (cost.limit == "kernel_launch" || cost.limit == "bank_conflicts" || cost.limit == "instruction_cache") {
      EXPECT_LE(cost.gain_us, 0.002 * e.report.time_us) << cost.limit;
    }
  }
}

TEST(Explain, JudgesARunWithSwitchesChangedByThatRun) {
  SimOptions options;
  options.switches.launch = false;
  const Explanation e = explained(gpu_of("l4"), kernel_of(ampere_128), {128, 128, 16, 1}, Experiments::all, options);
  for (const LimitCost& cost : e.costs)
    if (cost.limit == "kernel_launch") {
      EXPECT_EQ(cost.gain_us, 0);
    }
}

double gain_of(const Explanation& e, std::string_view limit) {
  for (const LimitCost& cost : e.costs)
    if (cost.limit == limit) return cost.gain_us / e.report.time_us;
  return -1;
}

// Four warps, one for each sub-core, that keep the tensor cores busy: more issue slots are of no use to them.
TEST(Explain, TensorKernelsAreHeldByTensorCoresAndPower) {
  const arch::GpuSpec gpu = gpu_of("a100-pcie-80gb");
  const kernels::KernelConfig kernel = kernel_file("hgemm_128x128x32.yaml");
  const Explanation held = explained(gpu, kernel, {4096, 4096, 4096, 1}, Experiments::all);
  expect_lawful(held);
  EXPECT_EQ(held.report.bottleneck.name, "power");
  EXPECT_EQ(held.report.bottleneck.roof, "tensor");
  EXPECT_EQ(held.report.bottleneck.clock_held_by, "the power limit of 300 W");
  // Issue slots are 29 % busy: more of them feed the tensor cores with fewer gaps, but the cores stay what is short.
  EXPECT_LT(gain_of(held, "issue_slots"), gain_of(held, "tensor_pipe"));
  SimOptions slow;
  slow.sm_clock_mhz = 900;
  const Explanation free = explained(gpu, kernel, {4096, 4096, 4096, 1}, Experiments::all, slow);
  expect_lawful(free);
  EXPECT_EQ(free.report.bottleneck.name, "tensor_pipe");
  EXPECT_EQ(free.report.bottleneck.clock_held_by, "none");
  EXPECT_EQ(gain_of(free, "power"), 0);
}

// What power costs is the difference between two clocks, where cycles know nothing of the clock.
TEST(Explain, PowerCostsWhatTheClockHasLost) {
  SimOptions unlimited;
  unlimited.switches = *with_switch({}, "memory.latency", "l1");  // DRAM has a clock of its own
  const Explanation e = explained(gpu_of("rtx4070"), kernel_file("sgemm_128x128x8.yaml"), {4096, 4096, 4096, 1},
                                  Experiments::all, unlimited);
  const Bottleneck& b = e.report.bottleneck;
  EXPECT_NEAR(gain_of(e, "power"), 1 - e.report.sm_clock_mhz / b.highest_clock_mhz, 0.01);
  unlimited.switches.power = false;
  EXPECT_NEAR(run(gpu_of("rtx4070"), "ampere_sgemm_128x128_nn", {4096, 4096, 4096, 1}, unlimited).sm_clock_mhz,
              b.highest_clock_mhz, 1e-6);
}

// The same run at the clock that power left it: there a faster pipe keeps all that it gains.
TEST(EstimatedBottleneck, PowerTakesBackAPartOfWhatAPipeGains) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  const kernels::KernelConfig kernel = kernel_file("sgemm_128x128x8.yaml");
  SmCache cache;
  const SimReport held = run(gpu, kernel, {4096, 4096, 1024, 1}, {}, cache);
  ASSERT_TRUE(held.throttled);
  SimOptions options;
  options.sm_clock_mhz = held.sm_clock_mhz;
  const SimReport given = run(gpu, kernel, {4096, 4096, 1024, 1}, options, cache);
  EXPECT_EQ(given.bottleneck.name, "fma_pipe");
  EXPECT_EQ(held.bottleneck.name, "fma_pipe");
  EXPECT_LT(held.bottleneck.speedup_if_removed, given.bottleneck.speedup_if_removed);
}

}  // namespace
}  // namespace noteg::gpu
