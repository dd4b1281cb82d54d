#include "sim/chip/dram_wait.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace noteg::chip {

namespace {

// DRAM less busy than this makes nobody wait for long.
constexpr double waits_from = 0.5;

// How busy DRAM is while a kernel of `sm_cycles` runs.
double utilisation(const DramLoad& load, double sm_cycles) {
  return load.cycles / std::max({1.0, load.cycles, sm_cycles});
}

// Where a step finds its tiles.
struct Sources {
  core::MemoryEnvironment l2, dram;
};

Sources sources(const EnvironmentRequest& request) {
  return {memory_environment(request, TileSource::l2), memory_environment(request, TileSource::dram)};
}

// Where the two environments differ by little of the time, only that of most steps is stepped through and the other put
// in proportion by first looks, which is good to some tenths of that little. They look at `seen`, which may be what a
// search has seen already: the way from DRAM is longer or shorter there, by a factor.
SmTime mostly(SmTimer& timer, const Sources& real, const Sources& seen, const core::SmWork& work, Grade grade,
              Grade first_look, double waiting, unsigned jobs) {
  constexpr double little = 0.006, cheap = 1e5;
  const bool most_wait = waiting > 0.5;
  const core::MemoryEnvironment &most = most_wait ? real.dram : real.l2, &rest = most_wait ? real.l2 : real.dram;
  const double share = most_wait ? 1.0 - waiting : waiting;
  if (share <= 0) return timer.time(most, work, grade);
  timer.prepare({seen.dram, seen.l2}, work, first_look, jobs);
  const SmTime near = timer.time(seen.l2, work, first_look), far = timer.time(seen.dram, work, first_look);
  const double longer = seen.dram.latency - seen.l2.latency;
  const double factor = longer > 0 ? (real.dram.latency - real.l2.latency) / longer : 1;
  const SmTime waits = blend(near, far, factor);
  const SmTime &a = most_wait ? waits : near, &b = most_wait ? near : waits;
  const bool differ = share * std::abs(b.cycles / a.cycles - 1.0) > little;
  timer.prepare(differ ? std::vector{most, rest} : std::vector{most}, work, grade, jobs);
  SmTime out = timer.time(most, work, grade);
  if (differ || out.simulated_warp_instructions < cheap) return blend(out, timer.time(rest, work, grade), share);
  const double scale = share * out.cycles / a.cycles;
  out.cycles += (b.cycles - a.cycles) * scale;
  for (std::size_t i = 0; i < core::stall_count; ++i)
    out.counters.stall_cycles[i] =
        std::max(0.0, out.counters.stall_cycles[i] + (b.counters.stall_cycles[i] - a.counters.stall_cycles[i]) * scale);
  out.simulated_cycles += waits.simulated_cycles;
  out.simulated_warp_instructions += waits.simulated_warp_instructions;
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
    if (request.dram_utilisation <= waits_from) return;
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
  settle_load(is_short                    ? timer.time(l2, work, fast).cycles
              : load.search.sm_cycles > 0 ? load.search.sm_cycles
                                          : searched(),
              searched);
  const Sources real = sources(request);
  const bool both = grade == Grade::exact || (quick && timer.is_cheap(work));
  if (both) timer.prepare(all_wait ? std::vector{real.dram} : std::vector{real.l2, real.dram}, work, grade, jobs);
  if (both || is_short) return mixed(grade);
  if (load.search.sm_cycles > 0) {
    request.clocks = load.search.clocks;
    if (request.dram_utilisation <= waits_from) request.dram_utilisation = 0;
  }
  return mostly(timer, real, sources(request), work, grade, fast, load.waiting_steps, jobs);
}

}  // namespace noteg::chip
