// How long a kernel takes at any clock, from two runs of its busiest SM: one in which all misses are served by L2, one
// in which all steps wait for DRAM. CTAs that share a tile walk K in lockstep, held together by the first of them that
// waits: measured, a step of a group of 132 CTAs that share its tiles takes as long as a step of one CTA alone. So a
// step waits for DRAM in full or not at all, and the times of both are mixed, not the latencies:
//   T(L)      = (1 - w) T_l2 + w (T_l2 + (T_dram - T_l2) (L - L_l2) / (L_dram - L_l2))     w: steps that wait
//   u         = D f / max(D f, T(L(u, f)))               load of DRAM, which needs D seconds; L(u, f): dram_latency()
//   cycles(f) = max(T, D f + ends) + reduction
// u is solved by bisection at each clock f, so that power::solve_clock settles clock, power and load together.
#pragma once

#include <memory>

#include "arch/spec.hpp"
#include "sim/gpu/launch.hpp"
#include "sim/gpu/memory_port.hpp"
#include "sim/gpu/sim_options.hpp"
#include "sim/gpu/sm_timer.hpp"

namespace noteg::gpu {

// The busiest SM, run at two ports.
struct SmRuns {
  sm::SmWork work;      // with what it takes on top of its even part
  sm::MemoryPort port;  // to L2
  sm::SmResult from_l2, from_dram;
  double l2_latency = 0, dram_latency = 0;  // of the two ports
  double waiting = 0;                       // 0: nothing waits, from_dram is empty
  bool tell_waits = false;  // the two differ by their waits: neither by phases alone, nor are they one pilot run

  // Cycles and counters as measured.
  [[nodiscard]] sm::SmResult mixed() const { return waiting > 0 ? blend(from_l2, from_dram, waiting) : from_l2; }
  [[nodiscard]] double cycles_at(double latency) const;
  // What it costs to wait so long, of the cycles of from_l2, if all steps waited.
  [[nodiscard]] double cost_of_waiting(double latency) const;
};

// What an earlier solution says of memory: the latency of DRAM, what waiting for it costs (SmRuns::cost_of_waiting), if
// it tells, and how long loads wait for L2.
struct MemoryWait {
  double dram_latency = 0;
  std::optional<double> dram_cost;
  double l2 = 0;
};

class KernelTime {
 public:
  KernelTime(const arch::GpuSpec& gpu, const KernelLaunch& launch, const PortRequest& ports, const SmRuns& runs,
             const SimOptions& options, double reduction);

  // Of DRAM, 0..1.
  [[nodiscard]] double load_at(Hertz clock) const;
  [[nodiscard]] double dram_latency_at(Hertz clock) const;
  // SM cycles that L2 is busy: with reads, and with what goes the way of stores, masks among it. On that way SMs send
  // so many bytes.
  struct L2Work {
    double reads = 0, stores = 0, masks = 0, sent_bytes = 0;
  };
  [[nodiscard]] L2Work l2_work(Hertz clock) const;
  // Cycles that a load waits for L2, which is busy with what all SMs ask of it.
  [[nodiscard]] double l2_wait_at(Hertz clock) const;
  [[nodiscard]] MemoryWait memory_wait_at(Hertz clock) const;
  // Of the busiest SM, and of the kernel without its launch.
  [[nodiscard]] double sm_cycles_at(Hertz clock) const;
  [[nodiscard]] double cycles_at(Hertz clock) const { return cycles_at(clock, sm_cycles_at(clock)); }
  [[nodiscard]] Seconds at(Hertz clock) const { return at(clock, sm_cycles_at(clock)); }
  // Whose SM takes so long at that clock.
  [[nodiscard]] Seconds at(Hertz clock, double sm_cycles) const {
    return launch_ + Cycles{cycles_at(clock, sm_cycles)} / clock;
  }

  [[nodiscard]] Seconds launch() const { return launch_; }
  [[nodiscard]] Seconds dram() const { return dram_; }
  [[nodiscard]] double reduction() const { return reduction_; }

  // The same kernel at other ports and without some limits, with the SM's cycles scaled.
  [[nodiscard]] KernelTime elsewhere(const PortRequest& ports, const Switches& switches, double sm_factor) const;

 private:
  [[nodiscard]] double cycles_at(Hertz clock, double sm_cycles) const;
  [[nodiscard]] double dram_idle_cycles(Hertz clock) const;
  void meet(const PortRequest& ports, const Switches& switches);

  std::shared_ptr<const arch::GpuSpec> gpu_;  // of its own: reports ask for other clocks when the caller's is gone
  PortRequest ports_;                         // of gpu_
  SmRuns runs_;
  double factor_ = 1;  // of the SM's cycles: even shares without a tail, experiments
  Seconds launch_, dram_;
  double reduction_ = 0;
  double apart_ = 1;     // CoreCounters::stored_apart()
  double prologue_ = 0;  // SmResult::prologue
  double epilogue_ = 0;  // cycles of a CTA behind its last read
  Seconds first_wait_;
};

[[nodiscard]] PortRequest port_request(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SimOptions& options);

// Runs the busiest SM at a clock. wait: for DRAM, where it is known; else for that of the load that a kernel would have
// whose steps all find their data in L2, which is the highest. Where what a known wait costs, by the part of the steps
// that a run is for, is next to nothing, that run is not made: it is the other one, longer or shorter by the wait.
[[nodiscard]] SmRuns run_busiest_sm(const arch::GpuSpec& gpu, const KernelLaunch& launch, const PortRequest& ports,
                                    Hertz clock, std::optional<MemoryWait> wait, const SimOptions& options,
                                    SmTimer& timer);

}  // namespace noteg::gpu
