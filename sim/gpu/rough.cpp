// The rough grade: a handful of trips in a coarse environment, extended linearly over trips, rounds of CTAs and
// tiles of persistent CTAs. It ranks kernels, it does not time them: runs are shared between all shapes and between
// configurations that differ in launch only, and a tuner affords it thousands of times.
#include <algorithm>

#include "sim/gpu/coarse.hpp"
#include "sim/gpu/sm_timer.hpp"

namespace noteg::gpu {

namespace {

// Trips of the two runs whose difference says what a further trip costs: the first fills most pipelines. A long trip
// passes as many k as several short ones.
struct Trips {
  std::int64_t few, more;
};
constexpr Trips short_trips{4, 8}, long_trips{2, 4};

Trips trips_of(std::int64_t trip_length) { return trip_length < long_body ? short_trips : long_trips; }

// Where a CTA's life is its main loop, how rounds overlap does not matter.
constexpr std::int64_t all_main_loop = 31;
constexpr std::int64_t few_rounds = 2;  // the last of these says what a further one costs

}  // namespace

// What the trips beyond the few cost `ctas` CTAs side by side. Long trips may not outlast what was copied before the
// loop: the way from L2 then bounds them.
SmTime SmTimer::rough_trips(const sm::MemoryEnvironment& environment, sm::SmWork work, std::int64_t ctas,
                            double factor) {
  const Trips trips = trips_of(trip_length());
  work.ctas = ctas;
  work.trips = trips.more;
  SmTime out;
  add(out, run(environment, work), factor);
  work.trips = trips.few;
  add(out, run(environment, work), -factor);
  constexpr double sector = 32;
  const double bytes = out.counters.read_sectors * sector * (1.0 - environment.l1_hit_rate);
  out.cycles = std::max(out.cycles, bytes / environment.read_bytes_per_cycle);
  return out;
}

// Kernels of bulk copies: whole turns of rings of 2, 3, 4 and 6 stages. What a further trip costs is read off one tile
// of each CTA.
SmTime SmTimer::rough_boxes(const sm::MemoryEnvironment& given, const sm::SmWork& work) {
  constexpr Trips turns{12, 24};
  const sm::MemoryEnvironment environment = coarse(given);
  sm::SmWork brief = coarse(work);
  if (work.trips <= turns.more) return over_tiles(environment, brief, Grade::rough);
  brief.trips = turns.few;
  SmTime out = over_tiles(environment, brief, Grade::rough);
  brief.tiles = 1;
  brief.ctas = std::min<std::int64_t>(work.resident, work.ctas);
  const double rounds = static_cast<double>(work.ctas) / static_cast<double>(brief.ctas);
  const double further = static_cast<double>(work.trips - turns.few) / static_cast<double>(turns.more - turns.few) *
                         rounds * static_cast<double>(work.tiles);
  add(out, run(environment, brief), -further);
  brief.trips = turns.more;
  add(out, run(environment, brief), further);
  return out;
}

// The runs that rough() adds up, so that several threads can do them before: what is missing here costs time only.
std::vector<sm::SmWork> SmTimer::rough_runs(const sm::SmWork& work) const {
  const Trips trips = trips_of(trip_length());
  const std::int64_t full = std::min<std::int64_t>(work.resident, work.ctas), rest = work.ctas % full;
  std::vector<sm::SmWork> out;
  const auto side_by_side = [&](std::int64_t ctas) {
    sm::SmWork brief = coarse(work);
    brief.ctas = ctas;
    if (work.trips > trips.more) {
      brief.trips = trips.more;
      out.push_back(brief);
      brief.trips = trips.few;
    }
    out.push_back(brief);
  };
  side_by_side(full);
  if (work.ctas / full > 1 && work.trips <= all_main_loop * trips.few) {
    out.push_back(out.back());
    out.back().ctas = full * few_rounds;
  }
  if (rest > 0) side_by_side(rest);
  return out;
}

SmTime SmTimer::rough(const sm::MemoryEnvironment& given, const sm::SmWork& work) {
  const sm::MemoryEnvironment environment = coarse(given);
  sm::SmWork brief = coarse(work);
  const Trips trips = trips_of(trip_length());
  const bool long_loop = work.trips > trips.more;
  if (long_loop) brief.trips = trips.few;
  const std::int64_t full = std::min<std::int64_t>(work.resident, work.ctas);
  const std::int64_t rounds = work.ctas / full, rest = work.ctas % full;
  const double further =
      long_loop ? static_cast<double>(work.trips - trips.few) / static_cast<double>(trips.more - trips.few) : 0;

  SmTime out;
  brief.ctas = full;
  const SmTime first = run(environment, brief);
  add(out, first, 1);
  if (rounds > 1 && work.trips > all_main_loop * trips.few) {
    add(out, first, static_cast<double>(rounds - 1));
  } else if (rounds > 1) {
    brief.ctas = full * few_rounds;
    const double later = static_cast<double>(rounds - 1) / static_cast<double>(few_rounds - 1);
    add(out, run(environment, brief), later);
    add(out, first, -later);
  }
  if (further > 0) add(out, rough_trips(environment, brief, full, further * static_cast<double>(rounds)), 1);
  if (rest > 0) {
    brief.ctas = rest;
    add(out, run(environment, brief), 1);
    if (further > 0) add(out, rough_trips(environment, brief, rest, further), 1);
  }
  return out;
}

}  // namespace noteg::gpu
