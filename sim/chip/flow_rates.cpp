// Long main loops with several CTAs on an SM: how fast trips pass where all, two or one of the CTAs are in their loops
// is measured over a few trips each, and the time of all CTAs follows from that (flow.hpp). The trips of CTAs come by
// fits and starts, the instructions of all together flow evenly: over 8 trips of each CTA from the fourth on within 1 %
// of what they do all along, in 18 kernels; so instructions are what is counted.
#include <algorithm>
#include <cmath>

#include "sim/chip/coarse.hpp"
#include "sim/chip/flow.hpp"
#include "sim/chip/sm_timer.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::chip {

namespace {

constexpr std::int64_t endless = 1 << 20;  // trips: no CTA ends
// Of so many rounds of CTAs the last tell more than the flow, of many side by side sooner (six of them: the flow of 8
// rounds is 1.5 % fast, of 33 exact).
std::int64_t few_rounds(std::int64_t resident) { return std::max<std::int64_t>(4, resident + resident / 2); }
// Loops with little around them may have this share of the trips that make others long.
constexpr double little_around = 0.5, then_enough = 0.5;  // of a trip; of core::flow_trips
constexpr int few_side_by_side = 4;
constexpr std::int64_t brief = 8;  // trips of a CTA alone, which tells what lies around a main loop

// Trips of each CTA, in the mean: before the measurement and at its end.
struct Measured {
  std::int64_t from, until;
};
constexpr Measured of_few{3, 7};

// Trips that add up to about `instructions` of all warps: where trips are long, fewer tell the same.
Measured measured_over(double instructions, double of_trip, std::int64_t least, std::int64_t most) {
  const std::int64_t until =
      std::clamp(std::llround(instructions / of_trip), static_cast<long long>(least), static_cast<long long>(most));
  return {until / 3, until};
}

core::SmWork side_by_side(const core::SmWork& work, std::int64_t ctas, Measured trips) {
  core::SmWork some = work;
  some.skip_periodic = false;
  some.trips = endless;
  some.ctas = ctas;
  some.resident = static_cast<int>(ctas);
  some.flow = {trips.from * ctas, trips.until * ctas, true};
  return some;
}

core::SmWork on_its_own(const core::SmWork& work) {
  core::SmWork alone = side_by_side(work, 1, of_few);
  alone.trips = brief;
  alone.flow.then_stop = false;
  return alone;
}

// Which CTAs the scheduler favours. So short a measurement tells half of it: of how far they come in it, half is how
// the CTAs happened to lie to each other (five kernels at one to three rounds of CTAs: with half the mean error is 1 %,
// with all of it 2 %).
std::vector<double> shares_of(const core::FlowSample& flow) {
  double mean = 0;
  for (const double trips : flow.more) mean += trips / static_cast<double>(flow.more.size());
  std::vector<double> out;
  for (const double trips : flow.more) out.push_back(0.5 * (mean + trips));
  return out;
}

}  // namespace

// Loops are long by the trips that core::flow_trips says. Where little lies around them fewer will do, and a round of
// CTAs less, if not of many CTAs side by side, of which the last tell too much.
bool SmTimer::has_rates(const core::SmWork& work) const {
  if (!program_.async.empty() || !program_.tensor.empty() || program_.scoreboard) return false;
  if (work.resident < 2 || work.tiles > 1 || work.ctas < few_rounds(work.resident) * work.resident) return false;
  const std::int64_t enough = core::flow_trips(program_);
  if (work.trips >= enough && work.ctas > few_rounds(work.resident) * work.resident) return true;
  const double around = static_cast<double>(around_length_) / static_cast<double>(trip_length_);
  return around <= little_around && work.resident <= few_side_by_side &&
         static_cast<double>(work.trips) >= then_enough * static_cast<double>(enough);
}

// The runs that tell the rates of all CTAs, of one and, where there are more than two, of two.
std::vector<core::SmWork> SmTimer::rate_runs(const core::SmWork& work, Grade grade) const {
  const double of_trip = static_cast<double>(trip_length() * program_.warps * work.resident);
  if (grade == Grade::search) return {side_by_side(work, work.resident, measured_over(6e4, of_trip, 4, 9))};
  std::vector<core::SmWork> out{side_by_side(work, work.resident, measured_over(1.2e5, of_trip, 6, 18)),
                                on_its_own(work)};
  if (work.resident > 2) out.push_back(side_by_side(work, 2, of_few));
  return out;
}

void SmTimer::prepare(const std::vector<core::MemoryEnvironment>& environments, const core::SmWork& work, Grade grade,
                      unsigned jobs) {
  if (jobs < 2) return;
  const std::size_t count = environments.size();
  if (grade != Grade::periodic || !has_rates(work))
    return share_work(count, jobs, {}, [&](std::size_t i) { (void)time(environments[i], work, grade); });
  const std::vector<core::SmWork> runs = rate_runs(work, Grade::periodic);
  share_work(runs.size() * count, jobs, {},
             [&](std::size_t i) { (void)run(environments[i % count], runs[i / count]); });
}

double SmTimer::trips_per_cycle(const SmTime& time) const { return trips_in(time) / time.flow.cycles; }

double SmTimer::trips_in(const SmTime& time) const {
  return time.flow.counters.warp_instructions / (static_cast<double>(trip_length()) * program_.warps);
}

// A first look: all time is main loop.
SmTime SmTimer::by_quick_rate(const core::MemoryEnvironment& given, const core::SmWork& work) {
  const SmTime all = run(coarse(given), rate_runs(coarse(work), Grade::search).front());
  SmTime out;
  add(out, all, 0);
  if (out.deadlock) return out;
  const double trips = static_cast<double>(work.ctas) * static_cast<double>(work.trips);
  out.cycles = trips / trips_per_cycle(all);
  out.counters = all.flow.counters * (trips / trips_in(all));
  return out;
}

SmTime SmTimer::by_rates(const core::MemoryEnvironment& environment, const core::SmWork& work) {
  const std::vector<core::SmWork> runs = rate_runs(work, Grade::periodic);
  std::vector<SmTime> times;
  SmTime out;
  for (const core::SmWork& each : runs) {
    times.push_back(run(environment, each));
    add(out, times.back(), 0);
  }
  if (out.deadlock) return out;
  const SmTime &all = times[0], &alone = times[1];

  FlowRequest r;
  const auto count = static_cast<std::size_t>(work.resident);
  const double most = trips_per_cycle(all);
  r.rates.assign(count, most);
  r.rates[0] = trips_per_cycle(alone);
  // Between two CTAs and all of them the rate comes near to that of all, ever more slowly.
  for (std::size_t running = 2; running < count; ++running) {
    const double left = static_cast<double>(count - running) / static_cast<double>(count - 2);
    r.rates[running - 1] = most + (trips_per_cycle(times[2]) - most) * left * left;
  }
  r.shares = shares_of(all.flow);
  r.done = all.flow.done;
  r.began = all.flow.began;
  r.trips = static_cast<double>(work.trips);
  const core::CoreCounters& once = alone.counters;
  r.gap = once.epilogue_cycles + work.relaunch + once.prologue_cycles;
  // What lies between the loops asks for issue slots and, with the stores of C, for more of the load/store path than
  // trips do: of which it takes as much as trips keep busy.
  const double issued = once.warp_instructions / (static_cast<double>(trip_length()) * program_.warps) - brief;
  const double moved = once.lsu_cycles * trips_in(alone) / alone.flow.counters.lsu_cycles - brief;
  r.gap_trips = std::max(issued, moved * all.flow.counters.lsu_cycles / all.flow.cycles);
  r.end = once.epilogue_cycles;
  r.ctas = work.ctas;
  const FlowTime time = flow_time(r);
  out.cycles = time.cycles;
  out.emptied_together = time.emptied_together;

  // Of each CTA: what a CTA executes is the same among others as alone; how long its warps wait for it and whether the
  // register file cache helps are not.
  const core::CoreCounters trip = alone.flow.counters * (1.0 / trips_in(alone));
  const core::CoreCounters among = all.flow.counters * (1.0 / trips_in(all));
  core::CoreCounters each = trip * (r.trips - static_cast<double>(brief));
  const core::CoreCounters waits = among * r.trips;
  core::CoreCounters around = once;
  around += trip * -static_cast<double>(brief);
  each += once;
  each.stall_cycles = waits.stall_cycles;
  for (std::size_t i = 0; i < core::stall_count; ++i) each.stall_cycles[i] += std::max(0.0, around.stall_cycles[i]);
  each.stall_cycles[static_cast<std::size_t>(core::Stall::selected)] = each.warp_instructions;
  each.rf_reads = waits.rf_reads + around.rf_reads;
  each.rf_hits = waits.rf_hits + around.rf_hits;
  each.rf_conflict_cycles = waits.rf_conflict_cycles + std::max(0.0, around.rf_conflict_cycles);
  out.counters = each * static_cast<double>(work.ctas);
  out.counters.mainloop_cycles =
      static_cast<double>(work.resident) * out.cycles - out.counters.prologue_cycles - out.counters.epilogue_cycles;
  return out;
}

}  // namespace noteg::chip
