// A bound that a simulation can beat would throw away winners.
#include "sim/tune/bound.hpp"

#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "sim/chip/simulate.hpp"
#include "sim/tune/space.hpp"

namespace noteg::tune {
namespace {

// Bursts at the highest clock, and repeated until the board's limit holds the clock down: of the boards here the L4's
// does for every kernel.
TEST(LowerBound, NoSimulationIsFaster) {
  chip::SmCache cache;
  int compared = 0;
  for (const char* name : {"a100-pcie-40gb", "rtx4070", "l4"}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    for (const kernels::GemmShape& shape : {kernels::GemmShape{2048, 1536, 96, 1}, {100, 4000, 256, 1}}) {
      for (const kernels::KernelConfig& config : configurations(gpu, {shape, {}}, {{}, 12})) {
        const Result<kernels::KernelConfig> resolved = kernels::resolve(config, shape);
        if (!resolved) continue;
        for (const auto mode : {power::ClockMode::burst, power::ClockMode::sustained}) {
          chip::SimOptions options;
          options.clock_mode = mode;
          options.share_runs = true;
          const Result<chip::SimReport> report = chip::simulate(gpu, *resolved, shape, options, cache);
          if (!report) continue;
          ++compared;
          EXPECT_LE(lower_bound(gpu, *resolved, shape, options).value * 1e6, report->time_us * 1.0001);
        }
      }
    }
  }
  EXPECT_GT(compared, 60);
}

TEST(LowerBound, GrowsWithTheWorkOfTheBusiestSm) {
  const arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  kernels::KernelConfig kernel;
  kernel.tile = {128, 128, 8};
  const kernels::KernelConfig resolved = *kernels::resolve(kernel, {128 * 108, 128, 4096, 1});
  const double one = lower_bound(gpu, resolved, {128 * 108, 128, 4096, 1}).value - gpu.launch.kernel.value;
  const double ragged = lower_bound(gpu, resolved, {128 * 109, 128, 4096, 1}).value - gpu.launch.kernel.value;
  EXPECT_NEAR(ragged / one, 2, 1e-9);
}

}  // namespace
}  // namespace noteg::tune
