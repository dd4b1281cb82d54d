// Main loops with several CTAs on an SM: the time of all CTAs from the rates at which trips pass (rate_runs.cpp), as
// they follow each other (flow.hpp).
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "sim/chip/flow.hpp"
#include "sim/chip/rate_runs.hpp"
#include "sim/chip/sm_timer.hpp"

namespace noteg::chip {

namespace {

// Which CTAs the scheduler favours. Half a trip more or less is how they happened to lie to each other: taken at its
// word over a whole loop, it drives CTAs apart that stay in step for ever. Where trips hold loops of their own, a CTA
// that hardly moves may seem to have gone back: none stands still for ever.
// Slots at the same place in groups that are alike are favoured alike.
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

  FlowRequest r;
  const double most = trips_per_cycle(all);
  r.alone = trips_per_cycle(alone);
  r.groups = slot_groups(work);
  // Towards all of them the rate comes near to that of all ever more slowly.
  const auto of_number = [&](double at_work) {
    double less = r.alone, from = 1;
    for (std::size_t i = some_ctas; i < times.size() - (one_by_one ? 1 : 0); ++i) {
      const double rate = trips_per_cycle(times[i]), until = runs[i].resident;
      if (at_work <= until) return less + (rate - less) * (at_work - from) / (until - from);
      less = rate;
      from = until;
    }
    const double left = std::max(0.0, work.resident - at_work) / (work.resident - from);
    return most + (less - most) * left * left;
  };
  // Of a group with the SM to itself, and of it beside others: sub-cores bound it, or what all share.
  const int in_a_group = (work.resident + static_cast<int>(r.groups) - 1) / static_cast<int>(r.groups);
  double one_group = 0;
  const auto of_group = [&](int at_work) {
    if (one_group <= 0) {
      std::vector<int> first(r.groups, 0);
      first[0] = in_a_group;
      const SmTime time = some_at_work(environment, work, first);
      add(out, time, 0);
      one_group = std::max(r.alone, trips_per_cycle(time));
    }
    const double left = in_a_group > 1 ? static_cast<double>(in_a_group - at_work) / (in_a_group - 1) : 0;
    return at_work == 0 ? 0 : one_group + (r.alone - one_group) * left * left;
  };
  std::map<std::vector<int>, std::vector<double>> measured;
  r.rate = [&](std::size_t group, const std::vector<int>& at_work) {
    if (r.groups == 1) return of_number(at_work[0]);
    const int together = std::accumulate(at_work.begin(), at_work.end(), 0);
    if (!ends_count(work))
      return of_number(at_work[group] * static_cast<double>(r.groups)) / static_cast<double>(r.groups);
    if (together < work.resident && std::ranges::max(at_work) > few_in_a_group) {
      double all_groups = 0;
      for (const int each : at_work) all_groups += of_group(each);
      return of_group(at_work[group]) * std::min(1.0, most / all_groups);
    }
    // Groups are alike: which of them has more at work does not matter, and among those that have as many only luck
    // makes a difference.
    std::vector<int> sorted = at_work;
    std::ranges::sort(sorted, std::greater<>());
    auto found = measured.find(sorted);
    if (found == measured.end()) {
      const SmTime time = together < work.resident ? some_at_work(environment, work, sorted) : all;
      if (together < work.resident) add(out, time, 0);
      found = measured.emplace(sorted, group_rates(time, r.groups)).first;
    }
    double rate = 0, alike = 0;
    for (std::size_t i = 0; i < r.groups; ++i)
      if (sorted[i] == at_work[group]) rate += found->second[i], ++alike;
    return rate / alike;
  };
  // The warp that waited longest goes first: no CTA is favoured.
  r.shares = sm_.front_end.longest_waiting_first ? std::vector<double>(all.flow.more.size(), 1)
                                                 : shares_of(all.flow, r.groups);
  r.done = all.flow.done;
  // Without the time that CTAs have lost by starting one after the other.
  r.began = all.flow.began - (ends_count(work) ? 0 : runs[all_ctas].launch_interval * (work.resident - 1) / 2);
  r.trips = static_cast<double>(work.trips);
  const core::CoreCounters &once = alone.counters, among = times[all_end_to_end].counters * (1.0 / work.resident);
  r.end = {once.epilogue_cycles, among.epilogue_cycles, {}};
  const double start = work.relaunch + among.prologue_cycles;
  r.gap = {once.epilogue_cycles + work.relaunch + once.prologue_cycles, among.epilogue_cycles + start, {}};
  for (const double share : r.shares) {
    // A CTA that ends among others that go on takes as long as so many trips of its slot.
    const double one = times.back().counters.epilogue_cycles * r.shares.back() / share;
    const double end = one_by_one ? one : among.epilogue_cycles;
    r.end.among_loops.push_back(end);
    r.gap.among_loops.push_back(end + start);
  }
  // What lies between the loops asks for issue slots and, with the stores of C, for more of the load/store path than
  // trips do: of both it takes from the trips as much as these keep busy.
  const double issued = once.warp_instructions / (static_cast<double>(trip_length()) * program_.warps) - brief_run;
  const double moved = once.lsu_cycles * trips_in(alone) / alone.flow.counters.lsu_cycles - brief_run;
  const core::CoreCounters& busy = all.flow.counters;
  r.gap_trips = std::max(issued * busy.warp_instructions / sm_.sub_cores, moved * busy.lsu_cycles) / all.flow.cycles;
  if (r.groups == 1) r.gap_trips *= std::min(1.0, of_number(work.resident - 1) / most);
  r.ctas = work.ctas;
  const FlowTime time = flow_time(r);
  out.cycles = time.cycles;
  out.emptied_together = time.emptied_together;
  out.counters = flow_counters(all, alone, work);
  out.counters.mainloop_cycles =
      static_cast<double>(work.resident) * out.cycles - out.counters.prologue_cycles - out.counters.epilogue_cycles;
  return out;
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
