// How long a run takes on its busiest SM, and from that on the whole GPU at any clock.
#pragma once

#include "kernels/ir/ir.hpp"
#include "sim/gpu/dram_wait.hpp"
#include "sim/gpu/run.hpp"

namespace noteg::gpu {

// Run time at clocks other than the stepped one: cycles of the SMs stay, DRAM takes as long as before in seconds.
struct KernelTimes {
  Seconds launch;
  Cycles sm, reduction, ends;
  Seconds dram;

  [[nodiscard]] Cycles cycles_at(Hertz clock) const {
    const Cycles stream = dram.value > 0 ? dram * clock + ends : Cycles{0};
    return std::max(sm, stream) + reduction;
  }
  [[nodiscard]] Seconds at(Hertz clock) const { return launch + cycles_at(clock) / clock; }
};

// What the busiest SM has to do.
[[nodiscard]] sm::SmWork sm_work(const Run& run);

// Steps the busiest SM through its work at the run's clock: its environment, its time, what DRAM takes, and what the
// slices of K add. `clocks`: of its environment.
void solve_time(Run& run, SmTimer& timer, const kernels::Program& program, Grade grade, const EnvironmentClocks& clocks,
                const Searched& search);

[[nodiscard]] KernelTimes kernel_times(const Run& run);

}  // namespace noteg::gpu
