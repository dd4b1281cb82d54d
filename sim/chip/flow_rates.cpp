// Main loops with several CTAs on an SM: the time of all CTAs from the rates at which trips pass (rate_runs.cpp), as
// they follow each other (flow.hpp).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/chip/flow.hpp"
#include "sim/chip/rate_runs.hpp"
#include "sim/chip/sm_timer.hpp"
#include "sim/chip/trip_rates.hpp"

namespace noteg::chip {

namespace {

// Which CTAs the scheduler favours. Half a trip more or less is how they happened to lie to each other: taken at its
// word over a whole loop, it drives CTAs apart that stay in step for ever. Where trips hold loops of their own, a CTA
// that hardly moves may seem to have gone back: none stands still for ever. Slots at the same place in groups that are
// alike are favoured alike.
std::vector<double> shares_of(const core::FlowSample& flow, std::size_t groups) {
  constexpr double luck = 0.5, least = 0.1;  // trips
  double mean = 0;
  for (const double trips : flow.more) mean += trips / static_cast<double>(flow.more.size());
  std::vector<double> out;
  for (const double trips : flow.more) {
    const double apart = trips - mean;
    out.push_back(std::max(least, mean + std::copysign(std::max(0.0, std::abs(apart) - luck), apart)));
  }
  if (out.size() % groups != 0) return out;
  for (auto place = out.begin(); place != out.end();) {
    const auto next = place + static_cast<std::ptrdiff_t>(groups);
    std::fill(place, next, std::accumulate(place, next, 0.0) / static_cast<double>(groups));
    place = next;
  }
  return out;
}

// How long CTAs take outside their loops: of one that has the SM to itself, of each of all side by side, and of the
// youngest that ends where others go on (null: as side by side).
void set_ways_outside(FlowRequest& request, const core::CoreCounters& once, const core::CoreCounters& among,
                      const core::CoreCounters* youngest, double relaunch) {
  const double start = relaunch + among.prologue_cycles;
  request.end = {once.epilogue_cycles, among.epilogue_cycles, {}};
  request.gap = {once.epilogue_cycles + relaunch + once.prologue_cycles, among.epilogue_cycles + start, {}};
  for (const double share : request.shares) {
    // One that ends among others in their loops takes as long as so many trips of its slot.
    const double end =
        youngest != nullptr ? youngest->epilogue_cycles * request.shares.back() / share : among.epilogue_cycles;
    request.end.among_loops.push_back(end);
    request.gap.among_loops.push_back(end + start);
  }
}

}  // namespace

SmTime SmTimer::by_rates(const core::MemoryEnvironment& environment, const core::SmWork& work) {
  const std::vector<core::SmWork> runs = rate_runs(environment, work);
  std::vector<SmTime> times;
  SmTime out;
  for (const core::SmWork& each : runs) {
    times.push_back(run(environment, each));
    add(out, times.back(), 0);
  }
  if (out.deadlock) return out;
  const SmTime &all = times[all_ctas], &alone = times[one_alone];
  const bool one_by_one = end_one_by_one(work);

  std::vector<TripRates::Number> numbers{{1, trips_per_cycle(alone)}};
  for (std::size_t i = some_ctas; i < runs.size() - (one_by_one ? 1 : 0); ++i)
    numbers.push_back({static_cast<double>(runs[i].resident), trips_per_cycle(times[i])});
  numbers.push_back({static_cast<double>(work.resident), trips_per_cycle(all)});
  FlowRequest r;
  r.groups = slot_groups(work);
  TripRates rates(numbers, r.groups, rate_of(all, r.groups), ends_count(work), [&](const std::vector<int>& at_work) {
    const SmTime time = some_at_work(environment, work, at_work);
    add(out, time, 0);
    return rate_of(time, r.groups);
  });
  r.rate = [&](std::size_t group, const std::vector<int>& at_work) { return rates(group, at_work); };
  r.alone = numbers.front().rate;
  // The warp that waited longest goes first: no CTA is favoured.
  r.shares = sm_.front_end.longest_waiting_first ? std::vector<double>(all.flow.more.size(), 1)
                                                 : shares_of(all.flow, r.groups);
  r.done = all.flow.done;
  // Without the time that CTAs have lost by starting one after the other.
  r.began = all.flow.began - (ends_count(work) ? 0 : runs[all_ctas].launch_interval * (work.resident - 1) / 2);
  r.trips = static_cast<double>(work.trips);
  const core::CoreCounters among = times[all_end_to_end].counters * (1.0 / work.resident);
  set_ways_outside(r, alone.counters, among, one_by_one ? &times.back().counters : nullptr, work.relaunch);
  r.gap_trips = trips_outside(all, alone);
  // Those that go on meanwhile are one less and keep the SM less busy.
  if (r.groups == 1) r.gap_trips *= std::min(1.0, rates.of_number(work.resident - 1) / numbers.back().rate);
  r.ctas = work.ctas;
  const FlowTime time = flow_time(r);
  out.cycles = time.cycles;
  out.emptied_together = time.emptied_together;
  out.counters = flow_counters(all, alone, work);
  out.counters.mainloop_cycles =
      static_cast<double>(work.resident) * out.cycles - out.counters.prologue_cycles - out.counters.epilogue_cycles;
  return out;
}

// What a CTA executes outside its loop, in trips: it asks for issue slots and, with the stores of C, for more of the
// load/store path than trips do, and of both it takes from the trips of others as much as these keep busy.
double SmTimer::trips_outside(const SmTime& all, const SmTime& alone) const {
  const core::CoreCounters &once = alone.counters, &busy = all.flow.counters;
  const double issued = once.warp_instructions / (static_cast<double>(trip_length()) * program_.warps) - brief_run;
  const double moved = once.lsu_cycles * trips_in(alone) / alone.flow.counters.lsu_cycles - brief_run;
  return std::max(issued * busy.warp_instructions / sm_.sub_cores, moved * busy.lsu_cycles) / all.flow.cycles;
}

// Of each CTA: what a CTA executes is the same among others as alone; how long its warps wait for it and whether the
// register file cache helps are not.
core::CoreCounters SmTimer::flow_counters(const SmTime& all, const SmTime& alone, const core::SmWork& work) const {
  const core::CoreCounters& once = alone.counters;
  const core::CoreCounters trip = alone.flow.counters * (1.0 / trips_in(alone));
  const core::CoreCounters among = all.flow.counters * (1.0 / trips_in(all));
  const auto trips = static_cast<double>(work.trips);
  core::CoreCounters each = trip * (trips - static_cast<double>(brief_run));
  const core::CoreCounters waits = among * trips;
  core::CoreCounters around = once;
  around += trip * -static_cast<double>(brief_run);
  each += once;
  each.stall_cycles = waits.stall_cycles;
  for (std::size_t i = 0; i < core::stall_count; ++i) each.stall_cycles[i] += std::max(0.0, around.stall_cycles[i]);
  each.stall_cycles[static_cast<std::size_t>(core::Stall::selected)] = each.warp_instructions;
  each.rf_reads = waits.rf_reads + around.rf_reads;
  each.rf_hits = waits.rf_hits + around.rf_hits;
  each.rf_conflict_cycles = waits.rf_conflict_cycles + std::max(0.0, around.rf_conflict_cycles);
  return each * static_cast<double>(work.ctas);
}

}  // namespace noteg::chip
