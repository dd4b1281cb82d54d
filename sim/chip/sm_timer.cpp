#include "sim/chip/sm_timer.hpp"

#include <algorithm>

namespace noteg::chip {

namespace {

// shared: trips stepped through before the loop counts as periodic, and the end of the period measured.
constexpr std::int64_t short_trips = 10;
constexpr std::int64_t long_trips = 18;

// Rounds of CTAs: the first fills the SM, the second starts staggered, later ones repeat. Beyond `stepped` rounds the
// last `period` of them are taken as one period.
struct Rounds {
  std::int64_t stepped, period;
};
constexpr Rounds periodic_rounds{6, 4};
constexpr Rounds shared_rounds{3, 1};

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
  const Key key{work.resident,
                work.ctas,
                work.trips,
                work.launch_interval,
                work.relaunch,
                environment.latency,
                environment.l1_latency,
                environment.l1_hit_rate,
                environment.read_bytes_per_cycle,
                environment.write_bytes_per_cycle,
                work.skip_periodic};
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

SmTime SmTimer::over_trips(const core::MemoryEnvironment& environment, const core::SmWork& work, Grade grade) {
  core::SmWork stepped = work;
  stepped.skip_periodic = grade == Grade::periodic;
  if (grade != Grade::shared || work.trips <= long_trips) return run(environment, stepped);
  stepped.trips = short_trips;
  const SmTime a = run(environment, stepped);
  stepped.trips = long_trips;
  const SmTime b = run(environment, stepped);
  return extend(a, b, static_cast<double>(work.trips - short_trips) / static_cast<double>(long_trips - short_trips));
}

SmTime SmTimer::over_rounds(const core::MemoryEnvironment& environment, const core::SmWork& work, Grade grade) {
  const Rounds rounds = grade == Grade::periodic ? periodic_rounds : shared_rounds;
  const std::int64_t round = work.resident;
  if (work.ctas <= rounds.stepped * round) return over_trips(environment, work, grade);
  core::SmWork fewer = work;
  fewer.ctas = (rounds.stepped - rounds.period) * round + work.ctas % round;
  const SmTime a = over_trips(environment, fewer, grade);
  const std::int64_t first = fewer.ctas;
  fewer.ctas += rounds.period * round;
  const SmTime b = over_trips(environment, fewer, grade);
  return extend(a, b, static_cast<double>(work.ctas - first) / static_cast<double>(rounds.period * round));
}

SmTime SmTimer::time(const core::MemoryEnvironment& environment, const core::SmWork& work, Grade grade) {
  return grade == Grade::exact ? run(environment, work) : over_rounds(environment, work, grade);
}

}  // namespace noteg::chip
