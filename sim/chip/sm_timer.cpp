#include "sim/chip/sm_timer.hpp"

#include <algorithm>

namespace noteg::chip {

namespace {

// Trips to step through before the loop counts as periodic, and the length of the period measured: the
// deepest pipeline (8 stages) fills within the first, and a double-K unrolled loop fits into the second.
constexpr std::int64_t short_trips = 10;
constexpr std::int64_t long_trips = 18;
// Rounds of CTAs: the first fills the SM, the second starts staggered, from then on rounds repeat.
constexpr std::int64_t rounds_seen = 3;

// a + (b - a) * f, field by field.
SmTime extend(const SmTime& a, const SmTime& b, double f) {
  SmTime out;
  out.cycles = a.cycles + (b.cycles - a.cycles) * f;
  out.counters = a.counters * (1.0 - f);
  out.counters += b.counters * f;
  out.simulated_cycles = a.simulated_cycles + b.simulated_cycles;
  out.simulated_warp_instructions = a.simulated_warp_instructions + b.simulated_warp_instructions;
  out.deadlock = a.deadlock || b.deadlock;
  return out;
}

}  // namespace

SmTimer::SmTimer(core::DecodedProgram program, arch::SmSpec sm, core::CoreSwitches switches)
    : program_(std::move(program)), sm_(std::move(sm)), switches_(switches) {}

SmTime SmTimer::run(const core::MemoryEnvironment& environment, const core::SmWork& work) {
  const Key key{work.resident, work.ctas, work.trips, work.launch_interval, work.relaunch, environment.latency,
                environment.l1_latency, environment.l1_hit_rate, environment.read_bytes_per_cycle,
                environment.write_bytes_per_cycle};
  {
    const std::lock_guard lock(mutex_);
    const auto found = done_.find(key);
    if (found != done_.end()) return found->second;
  }
  const core::SmResult result = core::run_sm(program_, sm_, switches_, environment, work);
  SmTime out{result.cycles, result.counters, result.cycles, result.counters.warp_instructions, result.deadlock};
  const std::lock_guard lock(mutex_);
  done_.emplace(key, out);
  return out;
}

SmTime SmTimer::over_trips(const core::MemoryEnvironment& environment, const core::SmWork& work) {
  if (work.trips <= long_trips) return run(environment, work);
  core::SmWork fewer = work;
  fewer.trips = short_trips;
  const SmTime a = run(environment, fewer);
  fewer.trips = long_trips;
  const SmTime b = run(environment, fewer);
  return extend(a, b, static_cast<double>(work.trips - short_trips) / static_cast<double>(long_trips - short_trips));
}

SmTime SmTimer::time(const core::MemoryEnvironment& environment, const core::SmWork& work, bool exact) {
  if (exact) return run(environment, work);
  const std::int64_t round = work.resident;
  if (work.ctas <= rounds_seen * round) return over_trips(environment, work);
  core::SmWork fewer = work;
  fewer.ctas = (rounds_seen - 1) * round + work.ctas % round;
  const SmTime a = over_trips(environment, fewer);
  const std::int64_t first = fewer.ctas;
  fewer.ctas += round;
  const SmTime b = over_trips(environment, fewer);
  return extend(a, b, static_cast<double>(work.ctas - first) / static_cast<double>(round));
}

}  // namespace noteg::chip
