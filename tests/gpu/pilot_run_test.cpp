// First looks settle clock and load before the real run: quick, and near enough to it.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "sim/gpu/environment.hpp"
#include "sim/gpu/sm_cache.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

struct Look {
  const char *gpu, *kernel;
  int resident;
  std::int64_t ctas, trips;
  double within;
};

std::ostream& operator<<(std::ostream& out, const Look& look) {
  return out << look.gpu << " " << look.kernel << " " << look.ctas << " CTAs of " << look.trips << " trips";
}

class FirstLook : public testing::TestWithParam<Look> {};

TEST_P(FirstLook, IsNearTheRunAtLittleCost) {
  const Look& look = GetParam();
  const arch::GpuSpec gpu = gpu_of(look.gpu);
  SmCache cache;
  const kernels::GemmShape shape{4096, 4096, 4096, 1};
  const Result<kernels::KernelConfig> config = kernels::resolve(kernel_of(look.kernel), shape);
  ASSERT_TRUE(config) << to_string(config.errors());
  const Result<std::shared_ptr<BuiltKernel>> built = built_kernel(gpu, *config, shape, {}, cache);
  ASSERT_TRUE(built) << to_string(built.errors());
  EnvironmentRequest request;
  request.gpu = &gpu;
  request.clocks = {gpu.clock.sustained, gpu.clock.sustained};
  const sm::MemoryEnvironment environment = memory_environment(request, TileSource::l2);
  sm::SmWork work;
  work.resident = look.resident;
  work.ctas = look.ctas;
  work.trips = look.trips;
  work.cta_launch_latency = gpu.sm.cta_launch.value;
  SmTimer& timer = *(*built)->timer;
  const SmTime run = timer.time(environment, work, Grade::exact);
  const SmTime first = timer.time(environment, work, Grade::search);
  EXPECT_NEAR(first.cycles / run.cycles, 1, look.within);
  EXPECT_NEAR(first.counters.warp_instructions / run.counters.warp_instructions, 1, 0.02);
  EXPECT_LT(first.simulated_warp_instructions, 6e4);
}

// CTAs alone on the SM lay their beginnings and ends open, which is counted; those of several overlap and are not.
INSTANTIATE_TEST_SUITE_P(Cases, FirstLook,
                         testing::Values(Look{"rtx3070", "cutlass_simt_sgemm_256x128_8x2_nn_align1", 1, 3, 40, 0.03},
                                         Look{"h200-sxm-141gb", "cutlass_simt_sgemm_256x128_8x2_nn_align1", 1, 1, 16,
                                              0.03},
                                         Look{"rtx4070", "cutlass_simt_sgemm_128x128_8x2_nn_align1", 1, 4, 64, 0.03},
                                         Look{"a100-pcie-80gb", "ampere_sgemm_128x64_nn", 3, 9, 60, 0.10},
                                         Look{"rtx4070", "naive_tiled_sgemm_t16", 6, 24, 40, 0.10}));

}  // namespace
}  // namespace noteg::gpu
