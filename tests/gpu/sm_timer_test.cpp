// Pilot runs rank kernels and compare machines: quick, and near enough to the run.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "sim/gpu/gemm/gemm_launch.hpp"
#include "sim/gpu/memory_port.hpp"
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

struct Pilot {
  const char *gpu, *kernel;
  int resident;
  std::int64_t ctas, iterations;
  double within;
};

std::ostream& operator<<(std::ostream& out, const Pilot& pilot) {
  return out << pilot.gpu << " " << pilot.kernel << " " << pilot.ctas << " CTAs of " << pilot.iterations
             << " iterations";
}

class PilotRun : public testing::TestWithParam<Pilot> {};

TEST_P(PilotRun, IsNearTheRunAtLittleCost) {
  const Pilot& pilot = GetParam();
  const arch::GpuSpec gpu = gpu_of(pilot.gpu);
  SmCache cache;
  const kernels::GemmShape shape{4096, 4096, 4096, 1};
  const Result<kernels::KernelConfig> config = kernels::resolve(kernel_of(pilot.kernel), shape);
  ASSERT_TRUE(config) << to_string(config.errors());
  const Result<KernelLaunch> launch = gemm_launch(gpu, *config, shape, L2State::warm, cache);
  ASSERT_TRUE(launch) << to_string(launch.errors());
  PortRequest request;
  request.gpu = &gpu;
  const sm::MemoryPort port = port_to_l2(request, gpu.clock.sustained);
  sm::SmWork work;
  work.resident = pilot.resident;
  work.ctas = pilot.ctas;
  work.iterations = pilot.iterations;
  work.cta_launch_latency = gpu.sm.cta_launch.value;
  SmTimer& timer = *sm_timer(launch->program, launch->addresses, gpu.sm, {}, cache);
  const sm::SmResult run = timer.run(port, work);
  const sm::SmResult first = timer.estimate(port, work);
  EXPECT_NEAR(first.cycles / run.cycles, 1, pilot.within);
  EXPECT_NEAR(first.counters.warp_instructions / run.counters.warp_instructions, 1, 0.02);
  EXPECT_LT(first.stepped_warp_instructions, 2.5e5);
}

// CTAs alone on the SM lay their beginnings and ends open, which is counted; those of several overlap and are not.
INSTANTIATE_TEST_SUITE_P(Cases, PilotRun,
                         testing::Values(Pilot{"rtx3070", "cutlass_simt_sgemm_256x128_8x2_nn_align1", 1, 3, 40, 0.03},
                                         Pilot{"h200-sxm-141gb", "cutlass_simt_sgemm_256x128_8x2_nn_align1", 1, 1, 16,
                                               0.03},
                                         Pilot{"rtx4070", "cutlass_simt_sgemm_128x128_8x2_nn_align1", 1, 4, 64, 0.03},
                                         Pilot{"a100-pcie-80gb", "ampere_sgemm_128x64_nn", 3, 9, 60, 0.10},
                                         Pilot{"rtx4070", "naive_tiled_sgemm_t16", 6, 24, 40, 0.115}));

}  // namespace
}  // namespace noteg::gpu
