// What one launch costs on one GPU. GEMMs are simulated; a memory kernel is a launch, one round trip to DRAM and then a
// stream at the bandwidth of L2 or DRAM; a collective is a latency and a bandwidth. Left out: kernels that run beside
// each other, communication that hides behind computation, and the energy of links.
#pragma once

#include <optional>
#include <string>

#include "arch/spec.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/power/clock.hpp"
#include "sim/workload/launches.hpp"

namespace noteg::workload {

// Between the GPUs of a tensor-parallel group. Defaults: H100s behind NVSwitch, where nccl-tests reach 366 GB/s of bus
// bandwidth (waynehacking8.github.io, nccl-collectives-bench), and a small all-reduce takes about 10 us (a guess).
struct Links {
  BytesPerSecond bandwidth{366e9};
  Seconds latency{10e-6};
};

struct Machine {
  arch::GpuSpec gpu;
  gpu::SimOptions sim;
  Links links;
  std::optional<Watts>
      board_limit{};  // where power.limit is another: a library chooses its kernels for the board's own
};

// The board with its clocks held to `cap` and below, as a lock of nvidia-smi does; the power limit still acts.
[[nodiscard]] arch::GpuSpec with_clock_cap(arch::GpuSpec gpu, Hertz cap);

struct LaunchCost {
  double time_us = 0, energy_mj = 0, power_w = 0;
  double sm_clock_mhz = 0;
  bool throttled = false;
  std::string throttle_reason = "none";  // as of gpu::SimReport
  double flops = 0, dram_bytes = 0;
  std::string kernel;             // name or configuration; empty: no GEMM
  std::string limiter;            // a name of gpu::Bottleneck, or latency, l2, dram, link
  power::ActivityAt activity_at;  // events and time at a clock
};

// The share of `bytes`, written a moment ago, that L2 still holds.
[[nodiscard]] double kept_in_l2(const arch::GpuSpec& gpu, double bytes);

[[nodiscard]] LaunchCost cost_of(const Machine& machine, const StreamLaunch& launch);
[[nodiscard]] LaunchCost cost_of(const Machine& machine, const CollectiveLaunch& launch);
[[nodiscard]] Result<LaunchCost> cost_of(const Machine& machine, const GemmLaunch& launch,
                                         const kernels::KernelConfig& kernel, gpu::SmCache& cache);

// The board with nothing to do.
[[nodiscard]] power::Activity idle_for(Seconds time);

}  // namespace noteg::workload
