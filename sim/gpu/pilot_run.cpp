// A pilot run: the rate at which trips pass over a few of them, where all resident CTAs are in their main loops. It
// settles clock and load before the run itself. The trips of CTAs come by fits and starts, the instructions of all
// together flow evenly: over 8 trips of each CTA from the fourth on within 1 % of what they do all along, in 18
// kernels; so instructions are what is counted.
#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/gpu/coarse.hpp"
#include "sim/gpu/sm_timer.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::gpu {

namespace {

constexpr std::int64_t endless = 1 << 20;  // trips: no CTA ends
// Shorter loops are as much beginning and end as loop.
constexpr std::int64_t least_at_first_look = 3, least_at_first_look_alone = 10;

// Trips of each CTA, in the mean: before the measurement and at its end.
struct Measured {
  std::int64_t from, until;
};

// Trips that add up to about `instructions` of all warps: where trips are long, fewer tell the same.
Measured measured_over(double instructions, double of_trip, std::int64_t least, std::int64_t most) {
  const std::int64_t until =
      std::clamp(std::llround(instructions / of_trip), static_cast<long long>(least), static_cast<long long>(most));
  return {until / 3, until};
}

sm::SmWork side_by_side(const sm::SmWork& work, std::int64_t ctas, Measured trips) {
  sm::SmWork some = work;
  some.skip_periodic = false;
  some.patience = some.haste = 0;
  some.trips = endless;
  some.ctas = ctas;
  some.resident = static_cast<int>(ctas);
  some.flow = {trips.from * ctas, trips.until * ctas, true};
  return some;
}

sm::SmWork from_end_to_end(const sm::SmWork& work, std::int64_t ctas, std::int64_t trips, Measured measured) {
  sm::SmWork whole = side_by_side(work, ctas, measured);
  whole.trips = trips;
  whole.flow.then_stop = false;
  return whole;
}

}  // namespace

bool SmTimer::has_quick_rate(const sm::SmWork& work) const {
  if (!program_.async.empty() || !program_.tensor.empty() || program_.scoreboard) return false;
  const std::int64_t least = work.resident > 1 ? least_at_first_look : least_at_first_look_alone;
  return work.tiles == 1 && work.trips >= least && work.ctas >= work.resident;
}

// The one run of a first look.
sm::SmWork SmTimer::look(const sm::SmWork& work) const {
  constexpr double instructions = 2.5e4;
  const Measured trips = measured_over(instructions, instructions_of_trip(work), work.resident > 1 ? 4 : 3, 9);
  if (work.resident > 1) return side_by_side(work, work.resident, trips);
  return from_end_to_end(work, 1, trips.until + 1, trips);
}

void SmTimer::prepare(const std::vector<sm::MemoryEnvironment>& environments, const sm::SmWork& work, Grade grade,
                      unsigned jobs) {
  if (jobs < 2) return;
  const bool is_look = grade >= Grade::search;
  std::vector<std::function<void()>> parts;
  for (const sm::MemoryEnvironment& given : environments) {
    const sm::MemoryEnvironment environment = coarse(given);
    const std::vector<sm::SmWork> runs = is_look ? pilot_runs(work, grade) : std::vector<sm::SmWork>{};
    for (const sm::SmWork& each : runs) parts.emplace_back([this, environment, each] { (void)run(environment, each); });
    if (runs.empty()) parts.emplace_back([&] { (void)time(given, work, grade); });
  }
  if (parts.size() > 1) share_work(parts.size(), jobs, {}, [&](std::size_t i) { parts[i](); });
}

// The runs that time() does whatever comes out of them, where they are known beforehand.
std::vector<sm::SmWork> SmTimer::pilot_runs(const sm::SmWork& work, Grade grade) const {
  if (!program_.async.empty()) return {};
  if (grade == Grade::search && has_quick_rate(work)) return {look(coarse(work))};
  return rough_runs(graded(work, grade));
}

// Of all resident CTAs.
double SmTimer::instructions_of_trip(const sm::SmWork& work) const {
  return static_cast<double>(trip_length() * program_.warps * work.resident);
}

double SmTimer::trips_per_cycle(const SmTime& time) const { return trips_in(time) / time.flow.cycles; }

double SmTimer::trips_in(const SmTime& time) const {
  return time.flow.counters.warp_instructions / (static_cast<double>(trip_length()) * program_.warps);
}

// A first look: all time is main loop, or passes as in it. A CTA alone lays open what lies around its loop: that is
// taken from its run of few trips.
SmTime SmTimer::by_quick_rate(const sm::MemoryEnvironment& given, const sm::SmWork& work) {
  const sm::SmWork brief = look(coarse(work));
  const SmTime all = run(coarse(given), brief);
  SmTime out;
  const auto ctas = static_cast<double>(work.ctas);
  if (work.resident == 1) {
    const double further = static_cast<double>(work.trips - brief.trips);
    add(out, all, ctas);
    if (out.deadlock) return out;
    out.cycles += ctas * (further / trips_per_cycle(all) + work.cta_launch_latency) - work.cta_launch_latency;
    out.counters += all.flow.counters * (ctas * further / trips_in(all));
    return out;
  }
  add(out, all, 0);
  if (out.deadlock) return out;
  const double around = static_cast<double>(around_length_) / static_cast<double>(trip_length());
  const double trips = ctas * (static_cast<double>(work.trips) + around);
  out.cycles = trips / trips_per_cycle(all);
  out.counters = all.flow.counters * (trips / trips_in(all));
  return out;
}

}  // namespace noteg::gpu
