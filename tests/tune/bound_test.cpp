// A bound that a simulation can beat would throw away winners.
#include "sim/tune/bound.hpp"

#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/tune/candidates.hpp"

namespace noteg::tune {
namespace {

// Bursts at the highest clock, and repeated until the board's limit holds the clock down: of the boards here the L4's
// does for every kernel.
void expect_no_faster_simulation(const arch::GpuSpec& gpu, const Problem& problem, gpu::SmCache& cache, int& compared) {
  for (const kernels::KernelConfig& config : configurations(gpu, problem, {{}, 12})) {
    const Result<kernels::KernelConfig> resolved = kernels::resolve(config, problem.shape);
    if (!resolved) continue;
    const Result<StaticLoad> load = static_load(gpu, *resolved, problem.shape);
    const bool has_list = resolved->family != kernels::Family::wgmma;
    for (const auto mode : {power::ClockMode::burst, power::ClockMode::sustained}) {
      gpu::SimOptions options;
      options.clock_mode = mode;
      const Result<gpu::SimReport> report = gpu::simulate(gpu, *resolved, problem.shape, options, cache);
      if (!report) continue;
      ++compared;
      ASSERT_TRUE(load);
      const Seconds bound = lower_bound(gpu, *resolved, problem.shape, options, has_list ? &*load : nullptr);
      EXPECT_LE(bound.value * 1e6, report->time_us * 1.0001)
          << gpu.id << " " << resolved->tile.m << "x" << resolved->tile.n;
    }
  }
}

TEST(LowerBound, NoSimulationIsFaster) {
  gpu::SmCache cache;
  int compared = 0;
  kernels::KernelConfig f16;
  f16.dtype_in = kernels::DataType::f16;
  for (const char* name : {"a100-pcie-40gb", "rtx4070", "l4", "h200-sxm-141gb"}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    for (const kernels::GemmShape& shape : {kernels::GemmShape{2048, 1536, 96, 1}, {100, 4000, 256, 1}})
      for (const kernels::KernelConfig& frame : {kernels::KernelConfig{}, f16})
        expect_no_faster_simulation(gpu, {shape, frame}, cache, compared);
  }
  expect_no_faster_simulation(*arch::load_gpu("h200-sxm-141gb"), {{8192, 8192, 4096, 1}, f16}, cache, compared);
  EXPECT_GT(compared, 160);
}

// Weights of 4 bits are a quarter of what as many of 16 are.
TEST(LowerBound, CountsNarrowWeightsAsTheyLieInMemory) {
  gpu::SmCache cache;
  const arch::GpuSpec gpu = *arch::load_gpu("l40s");
  const kernels::GemmShape shape{16, 4096, 16384, 1};
  kernels::KernelConfig kernel;
  kernel.family = kernels::Family::mma;
  kernel.flavor = kernels::Flavor::cutlass;
  kernel.layout = kernels::Layout::nt;
  kernel.dtype_in = kernel.dtype_out = kernels::DataType::f16;
  kernel.tile = {16, 128, 64};
  kernel.warp_m = 16;
  kernel.warp_n = 32;
  for (const kernels::DataType weights : {kernels::DataType::s4, kernels::DataType::s8}) {
    kernel.dtype_b = weights;
    const Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, shape);
    ASSERT_TRUE(resolved) << to_string(resolved.errors());
    const Result<gpu::SimReport> report = gpu::simulate(gpu, *resolved, shape, {}, cache);
    ASSERT_TRUE(report) << to_string(report.errors());
    EXPECT_LE(lower_bound(gpu, *resolved, shape).value * 1e6, report->time_us) << name_of(weights);
  }
}

// Copies of 4 bytes that transpose an operand keep the load/store path busy long after the arithmetic is done: the list
// of instructions tells, the tile does not.
TEST(LowerBound, KnowsNarrowCopiesFromTheInstructions) {
  const arch::GpuSpec gpu = *arch::load_gpu("rtx4070");
  const kernels::GemmShape shape{4096, 4096, 4096, 1};
  kernels::KernelConfig kernel;
  kernel.flavor = kernels::Flavor::cutlass;
  kernel.tile = {64, 64, 16};
  kernel.warp_m = kernel.warp_n = 32;
  kernel.stages = 3;
  const kernels::KernelConfig resolved = *kernels::resolve(kernel, shape);
  const StaticLoad load = *static_load(gpu, resolved, shape);
  const double by_tile = lower_bound(gpu, resolved, shape).value;
  const double by_list = lower_bound(gpu, resolved, shape, {}, &load).value;
  EXPECT_GT(by_list, 1.5 * by_tile);
  gpu::SmCache cache;
  const Result<gpu::SimReport> report = gpu::simulate(gpu, resolved, shape, {}, cache);
  ASSERT_TRUE(report);
  EXPECT_GT(by_list * 1e6, 0.8 * report->time_us);
}

TEST(LowerBound, GrowsWithTheWorkOfTheBusiestSm) {
  const arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  kernels::KernelConfig kernel;
  kernel.tile = {128, 128, 8};
  const kernels::KernelConfig resolved = *kernels::resolve(kernel, {128 * 108, 128, 4096, 1});
  const double one = lower_bound(gpu, resolved, {128 * 108, 128, 4096, 1}).value - gpu.launch.kernel.value;
  const double partial = lower_bound(gpu, resolved, {128 * 109, 128, 4096, 1}).value - gpu.launch.kernel.value;
  EXPECT_NEAR(partial / one, 2, 1e-9);
}

}  // namespace
}  // namespace noteg::tune
