// One kernel on one GPU, as a pipeline of values, each step a function:
//   GpuSpec + KernelConfig + GemmShape -> KernelLaunch (gemm_launch: grid, occupancy, traffic)      for GEMMs
//   KernelLaunch -> PortRequest -> SmRuns (kernel_time: the busiest SM at two memory ports)
//   SmRuns -> KernelTime -> OperatingPoint (clock, power and DRAM load in one fixed point)
//   the runs once more at that point, where its ports are others -> SimReport (kernel_report, bottleneck, confidence)
#pragma once

#include <optional>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/launch.hpp"
#include "sim/gpu/operating_point.hpp"
#include "sim/gpu/report.hpp"
#include "sim/gpu/sim_options.hpp"
#include "sim/gpu/sm_cache.hpp"
#include "sim/support/result.hpp"

namespace noteg::gpu {

// A launch that was timed.
struct TimedKernel {
  PortRequest ports;
  SmRuns runs;
  KernelTime time;
  ChipEvents events;
  power::OperatingPoint point;
  double stepped_cycles = 0, stepped_warp_instructions = 0;

  [[nodiscard]] double cycles() const { return time.cycles_at(point.clock); }
};

// What a simulation keeps so that its SM can be watched, and other machines compared with it, afterwards.
struct SmRun {
  std::shared_ptr<const kernels::Program> code;
  std::shared_ptr<SmTimer> timer;
  TimedKernel timed;
  int active_sms = 1;
  int kernel_sms = 1, sub_cores = 4;  // of the GPU, at work or not; of one of them
  double sector = 32;                 // bytes that L1 asks L2 for at a time
  power::Toggling operands;

  [[nodiscard]] const sm::SmWork& work() const { return timed.runs.work; }
  [[nodiscard]] const sm::MemoryPort& port() const { return timed.runs.port; }
  [[nodiscard]] const ChipEvents& events() const { return timed.events; }
  [[nodiscard]] Hertz clock() const { return timed.point.clock; }
};

// Error: warps that wait for ever.
[[nodiscard]] Result<TimedKernel> time_kernel(const arch::GpuSpec& gpu, const KernelLaunch& launch,
                                              const SimOptions& options, SmCache& cache);

// What a launch takes at least, whatever its SMs do: DRAM moves its bytes, slices of K meet. No run of a kernel is
// made.
[[nodiscard]] Seconds least_time(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options,
                                 SmCache& cache);

// Any kernel: everything of the report but the configuration, the shape and the confidence. Error: as time_kernel.
[[nodiscard]] Result<SimReport> simulate_launch(const arch::GpuSpec& gpu, const KernelLaunch& launch,
                                                const SimOptions& options, SmCache& cache);

// What keeps A, B and C out of the GPU's memory (dram.size); nothing where they fit.
[[nodiscard]] std::optional<Diagnostic> beyond_memory(const arch::GpuSpec& gpu, const kernels::KernelConfig& types,
                                                      const kernels::GemmShape& shape);

// A GEMM. Errors: tiles that exceed shared memory or registers, families the GPU does not have, impossible shapes,
// operands beyond the GPU's memory.
[[nodiscard]] Result<SimReport> simulate(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                         const kernels::GemmShape& shape, const SimOptions& options, SmCache& cache);

// Its launch, with the same errors.
[[nodiscard]] Result<KernelLaunch> launch_of(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                             const kernels::GemmShape& shape, const SimOptions& options,
                                             SmCache& cache);

}  // namespace noteg::gpu
