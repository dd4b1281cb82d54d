#include "sim/chip/sm_timer.hpp"

#include <algorithm>

namespace noteg::chip {

namespace {

// Shapes share engine runs: few trips and CTAs are run as they are, more trips lie between two points of a grid, and
// beyond the grid time grows linearly from two references. The engine passes over periods by itself, so that a
// reference of many trips costs no more than one of few.
constexpr std::int64_t direct_trips = 40;
constexpr std::int64_t grid_trips = 160;
constexpr std::int64_t grid_step = 24;
constexpr std::int64_t short_reference = 128;
constexpr std::int64_t long_reference = 512;
// Rounds of CTAs: the first fills the SM, the second starts staggered; the period is taken over three more.
constexpr std::int64_t direct_rounds = 5;
constexpr std::int64_t period_rounds = 3;

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
                environment.write_bytes_per_cycle, work.skip_periodic};
  {
    const std::lock_guard lock(mutex_);
    const auto found = done_.find(key);
    if (found != done_.end()) return found->second;
  }
  const core::SmResult result = core::run_sm(program_, sm_, switches_, environment, work);
  SmTime out{result.cycles, result.counters, result.stepped_cycles, result.stepped_warp_instructions, result.deadlock};
  const std::lock_guard lock(mutex_);
  done_.emplace(key, out);
  return out;
}

SmTime SmTimer::over_trips(const core::MemoryEnvironment& environment, const core::SmWork& work) {
  if (work.trips <= direct_trips) return run(environment, work);
  std::int64_t low = short_reference, high = long_reference;
  if (work.trips <= grid_trips) {
    low = direct_trips + (work.trips - direct_trips) / grid_step * grid_step;
    high = low + grid_step;
  }
  core::SmWork reference = work;
  reference.trips = low;
  const SmTime a = run(environment, reference);
  if (work.trips == low) return a;
  reference.trips = high;
  const SmTime b = run(environment, reference);
  return extend(a, b, static_cast<double>(work.trips - low) / static_cast<double>(high - low));
}

SmTime SmTimer::time(const core::MemoryEnvironment& environment, const core::SmWork& work, bool exact) {
  if (exact) return run(environment, work);
  core::SmWork skipping = work;
  skipping.skip_periodic = true;
  const std::int64_t round = work.resident;
  if (work.ctas <= direct_rounds * round) return over_trips(environment, skipping);
  core::SmWork fewer = skipping;
  fewer.ctas = (direct_rounds - period_rounds) * round + work.ctas % round;
  const SmTime a = over_trips(environment, fewer);
  const std::int64_t first = fewer.ctas;
  fewer.ctas += period_rounds * round;
  const SmTime b = over_trips(environment, fewer);
  return extend(a, b, static_cast<double>(work.ctas - first) / static_cast<double>(period_rounds * round));
}

}  // namespace noteg::chip
