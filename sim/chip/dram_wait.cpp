#include "sim/chip/dram_wait.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace noteg::chip {

namespace {

// How busy DRAM is while a kernel of `sm_cycles` runs.
double utilisation(const DramLoad& load, double sm_cycles) {
  return load.cycles / std::max({1.0, load.cycles, sm_cycles});
}

// Where the two environments differ by little of the time, only that of most steps is stepped through and the other put
// in proportion by a first look, which is good to some tenths of that little.
SmTime mostly(SmTimer& timer, const core::MemoryEnvironment& l2, const core::MemoryEnvironment& dram,
              const core::SmWork& work, Grade grade, Grade first_look, double waiting, unsigned jobs) {
  constexpr double little = 0.006, cheap = 2e5;
  const core::MemoryEnvironment &most = waiting > 0.5 ? dram : l2, &rest = waiting > 0.5 ? l2 : dram;
  const double share = std::min(waiting, 1.0 - waiting);
  if (share <= 0) return timer.time(most, work, grade);
  timer.prepare({most, rest}, work, first_look, jobs);
  const SmTime a = timer.time(most, work, first_look), b = timer.time(rest, work, first_look);
  const bool differ = share * std::abs(b.cycles / a.cycles - 1.0) > little;
  timer.prepare(differ ? std::vector{most, rest} : std::vector{most}, work, grade, jobs);
  SmTime out = timer.time(most, work, grade);
  if (differ || out.simulated_warp_instructions < cheap) return blend(out, timer.time(rest, work, grade), share);
  const double scale = share * out.cycles / a.cycles;
  out.cycles += (b.cycles - a.cycles) * scale;
  for (std::size_t i = 0; i < core::stall_count; ++i)
    out.counters.stall_cycles[i] =
        std::max(0.0, out.counters.stall_cycles[i] + (b.counters.stall_cycles[i] - a.counters.stall_cycles[i]) * scale);
  out.simulated_cycles += a.simulated_cycles + b.simulated_cycles;
  out.simulated_warp_instructions += a.simulated_warp_instructions + b.simulated_warp_instructions;
  return out;
}

}  // namespace

SmTime time_with_dram(SmTimer& timer, EnvironmentRequest request, const core::SmWork& work, Grade grade,
                      const DramLoad& load, unsigned jobs) {
  const core::MemoryEnvironment l2 = memory_environment(request, TileSource::l2);
  if (load.waiting_steps <= 0) {
    timer.prepare({l2}, work, grade, jobs);
    return timer.time(l2, work, grade);
  }
  const auto on_average = [&](Grade of) {
    core::MemoryEnvironment mean = memory_environment(request, TileSource::dram);
    mean.latency = l2.latency + (mean.latency - l2.latency) * load.waiting_steps;
    timer.prepare({mean}, work, of, jobs);
    return timer.time(mean, work, of);
  };
  if (grade >= Grade::search) return on_average(grade);  // half the runs
  const bool all_wait = load.waiting_steps >= 1;
  const auto mixed = [&](Grade of) {
    const SmTime waiting = timer.time(memory_environment(request, TileSource::dram), work, of);
    return all_wait ? waiting : blend(timer.time(l2, work, of), waiting, load.waiting_steps);
  };
  // The wait depends on the load and the load on the time. All modes take the load from a first look, so that they see
  // the same environment; a queue shorter than half an access needs no second one. Else the load lies between that
  // without a wait and that with the wait of this highest load, and is halved in: it falls as the wait grows.
  const auto settle_load = [&](double unloaded_cycles, const auto& loaded_cycles) {
    constexpr int halvings = 4;
    request.dram_utilisation = utilisation(load, unloaded_cycles);
    if (request.dram_utilisation <= 0.5) return;
    double high = request.dram_utilisation, low = utilisation(load, loaded_cycles());
    for (int i = 0; i < halvings && high - low > 0.02; ++i) {
      request.dram_utilisation = 0.5 * (low + high);
      (utilisation(load, loaded_cycles()) > request.dram_utilisation ? low : high) = request.dram_utilisation;
    }
    request.dram_utilisation = 0.5 * (low + high);
  };
  const bool is_short = grade == Grade::shared && !timer.flows(work);
  const bool quick = timer.has_quick_rate(work) && !is_short;
  const Grade fast = is_short ? grade : quick ? Grade::search : Grade::rough;
  const auto searched = [&] { return is_short ? mixed(fast).cycles : on_average(fast).cycles; };
  settle_load(is_short             ? timer.time(l2, work, fast).cycles
              : load.sm_cycles > 0 ? load.sm_cycles
                                   : searched(),
              searched);
  const core::MemoryEnvironment dram = memory_environment(request, TileSource::dram);
  const bool both = grade == Grade::exact || (quick && timer.is_cheap(work));
  if (both) timer.prepare(all_wait ? std::vector{dram} : std::vector{l2, dram}, work, grade, jobs);
  if (both || is_short) return mixed(grade);
  return mostly(timer, l2, dram, work, grade, fast, load.waiting_steps, jobs);
}

}  // namespace noteg::chip
