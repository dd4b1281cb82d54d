// One run of a kernel on a GPU while it is being worked out: each step fills in its part.
#pragma once

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/grid.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/gpu/sm_timer.hpp"
#include "sim/gpu/traffic.hpp"

namespace noteg::gpu {

struct Run {
  const arch::GpuSpec& gpu;
  const kernels::KernelConfig& config;
  const kernels::GemmShape& shape;
  const SimOptions& options;
  Hertz clock;
  Launch launch;
  int resident = 1;
  Traffic traffic;
  sm::MemoryEnvironment environment;
  SmTime sm;                 // of the busiest SM
  std::int64_t sm_ctas = 0;  // that it ran
  double dram_cycles = 0;
  double reduction_cycles = 0;  // of split-K
  double kernel_cycles = 0;     // on the GPU, without launch
};

// simulate() with a grade that options do not name: experiments ask for first looks.
[[nodiscard]] Result<SimReport> simulate_as(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                            const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache,
                                            Grade grade);

// What a launch costs before its first CTA.
[[nodiscard]] inline Seconds launch_time(const Run& run) {
  return run.options.switches.launch ? run.gpu.launch.kernel : Seconds{};
}

// Of the time that one SM takes for `ctas` CTAs: what each takes if all CTAs divide evenly.
[[nodiscard]] inline double even_share(const Run& run, std::int64_t ctas) {
  return run.launch.all_tiles / (static_cast<double>(ctas * run.launch.tiles) * run.gpu.sms);
}

}  // namespace noteg::gpu
