#include "sim/gpu/dram_wait.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace noteg::gpu {

namespace {

// DRAM less busy than this makes nobody wait for long.
constexpr double waits_from = 0.5;

// How busy DRAM is while a kernel of `sm_cycles` runs.
double utilisation(const DramLoad& load, double sm_cycles) {
  return load.cycles / std::max({1.0, load.cycles, sm_cycles});
}

// Where a step finds its tiles.
struct Sources {
  sm::MemoryEnvironment l2, dram;
};

Sources sources(const EnvironmentRequest& request) {
  return {memory_environment(request, TileSource::l2), memory_environment(request, TileSource::dram)};
}

// The wait depends on the load and the load on the time. All modes take the load from first looks, so that they see the
// same environment. It lies between the highest, `seen`'s, that of a kernel whose reads do not queue, and that of one
// whose reads queue as this highest load makes them; in between, the time goes with the latency.
double settled_load(const DramLoad& load, EnvironmentRequest seen, double at_rest, double loaded) {
  constexpr double near_enough = 0.005;
  const auto latency = [&](double busy) {
    seen.dram_utilisation = busy;
    return memory_environment(seen, TileSource::dram).latency;
  };
  double high = seen.dram_utilisation, low = utilisation(load, loaded);
  const double shortest = latency(0), longer = std::max(1.0, latency(high) - shortest);
  while (high - low > near_enough) {
    const double busy = 0.5 * (low + high);
    const double cycles = at_rest + (loaded - at_rest) * (latency(busy) - shortest) / longer;
    (utilisation(load, cycles) > busy ? low : high) = busy;
  }
  return 0.5 * (low + high);
}

}  // namespace

SmTime time_with_dram(SmTimer& timer, EnvironmentRequest request, const sm::SmWork& work, Grade grade,
                      const DramLoad& load, unsigned jobs) {
  const sm::MemoryEnvironment l2 = memory_environment(request, TileSource::l2);
  if (load.waiting_steps <= 0) {
    timer.prepare({l2}, work, grade, jobs);
    return timer.time(l2, work, grade);
  }
  const bool all_wait = load.waiting_steps >= 1;
  const auto mixed = [&](const Sources& from, Grade of) {
    timer.prepare(all_wait ? std::vector{from.dram} : std::vector{from.l2, from.dram}, work, of, jobs);
    const SmTime waiting = timer.time(from.dram, work, of);
    return all_wait ? waiting : blend(timer.time(from.l2, work, of), waiting, load.waiting_steps);
  };
  const auto on_average = [&](Grade of) {
    sm::MemoryEnvironment mean = memory_environment(request, TileSource::dram);
    mean.latency = l2.latency + (mean.latency - l2.latency) * load.waiting_steps;
    timer.prepare({mean}, work, of, jobs);
    return timer.time(mean, work, of);
  };
  if (grade >= Grade::search) return on_average(grade);  // half the runs
  const bool is_short = grade == Grade::shared && !timer.flows(work);
  const bool quick = timer.has_quick_rate(work) && !is_short;
  const Grade fast = is_short ? grade : quick ? Grade::search : Grade::rough;
  const bool is_searched = load.search.sm_cycles > 0 && !is_short;
  EnvironmentRequest seen = request;
  if (is_searched) seen.clocks = load.search.clocks;
  const double at_rest = is_short      ? timer.time(l2, work, fast).cycles
                         : is_searched ? load.search.sm_cycles
                                       : on_average(fast).cycles;
  request.dram_utilisation = utilisation(load, at_rest);
  if (request.dram_utilisation > waits_from) {
    seen.dram_utilisation = request.dram_utilisation;
    request.dram_utilisation = settled_load(load, seen, at_rest, mixed(sources(seen), fast).cycles);
  }
  return mixed(sources(request), grade);
}

}  // namespace noteg::gpu
