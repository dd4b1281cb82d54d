#include "sim/chip/dram_wait.hpp"

#include <algorithm>

namespace noteg::chip {

namespace {

// How busy DRAM is while a kernel of `sm_cycles` runs.
double utilisation(const DramLoad& load, double sm_cycles) {
  return load.cycles / std::max({1.0, load.cycles, sm_cycles});
}

}  // namespace

SmTime time_with_dram(SmTimer& timer, EnvironmentRequest request, const core::SmWork& work, Grade grade,
                      const DramLoad& load) {
  const core::MemoryEnvironment l2 = memory_environment(request, TileSource::l2);
  if (load.waiting_steps <= 0) return timer.time(l2, work, grade);
  if (grade == Grade::rough) {  // half the runs: one environment with the mean latency
    core::MemoryEnvironment mean = memory_environment(request, TileSource::dram);
    mean.latency = l2.latency + (mean.latency - l2.latency) * load.waiting_steps;
    return timer.time(mean, work, grade);
  }
  const auto mixed = [&](Grade of) {
    const core::MemoryEnvironment dram = memory_environment(request, TileSource::dram);
    return blend(timer.time(l2, work, of), timer.time(dram, work, of), load.waiting_steps);
  };
  // The wait depends on the load and the load on the time. Both modes take the load from the rough grade, so that they
  // see the same environment; a queue shorter than half an access needs no second look.
  const Grade fast = grade == Grade::shared ? grade : Grade::rough;
  request.dram_utilisation = utilisation(load, timer.time(l2, work, fast).cycles);
  if (request.dram_utilisation > 0.5) request.dram_utilisation = utilisation(load, mixed(fast).cycles);
  return mixed(grade);
}

}  // namespace noteg::chip
