// Which kernels' time follows from rates, and the runs that tell these: over a few trips each, where all, some or one
// of the CTAs are in their main loops. The trips of CTAs come by fits and starts, the instructions of all together flow
// evenly: over 8 trips of each CTA from the fourth on within 1 % of what they do all along, in 18 kernels; so
// instructions are what is counted.
#include "sim/chip/rate_runs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sim/chip/coarse.hpp"
#include "sim/chip/sm_timer.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::chip {

namespace {

constexpr std::int64_t endless = 1 << 20;  // trips: no CTA ends
// Shorter loops are as much beginning and end as loop, but those that are so many times as long as what lies around
// them; in many rounds that alone tells.
constexpr std::int64_t least_trips = 30, least_at_first_look = 3, least_at_first_look_alone = 10;
constexpr double nearly_all_loop = 28, mostly_loop = 11;
// What is rather stepped through than told from rates, as work of the simulator (SmTimer): about what measuring those
// costs; more where the order in which CTAs end decides much, up to what takes a process of 50 ms, and most where the
// last CTAs lie on few of the sub-cores, or not, as it happens. Where some sub-cores have more CTAs than others, these
// end apart anyway. Judgements, made on 600 random kernels and shapes.
constexpr double rather_stepped = 6e5, rather_stepped_if_order_counts = 9.5e5, rather_stepped_if_uneven = 1.05e6,
                 rather_stepped_if_apart = 8.5e5;
constexpr std::int64_t brief_loop = 64, few_rounds = 4;
// So many CTAs that start together and are not followed by others are passed over trip by trip in no more.
constexpr std::int64_t few_in_one_round = 3;
constexpr std::int64_t briefest = 3;  // trips of all side by side, for the same as brief_run: they lie apart by then

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
  some.patience = some.haste = 0;
  some.trips = endless;
  some.ctas = ctas;
  some.resident = static_cast<int>(ctas);
  some.flow = {trips.from * ctas, trips.until * ctas, true};
  return some;
}

core::SmWork from_end_to_end(const core::SmWork& work, std::int64_t ctas, std::int64_t trips, Measured measured) {
  core::SmWork whole = side_by_side(work, ctas, measured);
  whole.trips = trips;
  whole.flow.then_stop = false;
  return whole;
}

// The youngest ends among others that go on: what a run of all to their end, in which all end together, does not tell.
core::SmWork one_that_ends(const core::SmWork& work) {
  core::SmWork some = side_by_side(work, work.resident, of_few);
  some.flow = {};
  some.brief_slot = work.resident - 1;
  return some;
}

}  // namespace

bool SmTimer::has_quick_rate(const core::SmWork& work) const {
  if (!program_.async.empty() || !program_.tensor.empty() || program_.scoreboard) return false;
  const std::int64_t least = work.resident > 1 ? least_at_first_look : least_at_first_look_alone;
  return work.tiles == 1 && work.trips >= least && work.ctas >= work.resident;
}

bool SmTimer::has_rates(const core::SmWork& work) const {
  if (!has_quick_rate(work) || work.resident == 1) return false;
  const std::int64_t resident = work.resident, ctas = std::min(work.ctas, few_rounds * resident);
  const auto stepped = static_cast<double>(ctas * work.trips * trip_work_ * program_.warps);
  const double loop = static_cast<double>(work.trips * trip_length()) / static_cast<double>(around_length_);
  if (!ends_count(work)) return loop >= mostly_loop && stepped > rather_stepped;
  if (ctas <= resident && resident <= few_in_one_round) return false;
  const bool is_short = work.trips < least_trips && loop < nearly_all_loop;
  if (is_short && loop < mostly_loop) return false;
  const auto groups = static_cast<std::int64_t>(slot_groups(work));
  if (resident % groups != 0) return stepped > rather_stepped_if_apart;
  if (groups > 1 && some_fall_empty(work)) return stepped > rather_stepped_if_uneven;
  const bool is_brief = work.trips <= brief_loop && work.ctas <= few_rounds * resident;
  const bool order_counts = is_short || is_brief || work.ctas <= resident;
  return stepped > (order_counts ? rather_stepped_if_order_counts : rather_stepped);
}

// Slots by the sub-cores that their CTAs' warps lie on: CTAs of two warps lie on the one half or on the other.
std::size_t SmTimer::slot_groups(const core::SmWork& work) const {
  if (sm_.sub_cores % program_.warps != 0) return 1;
  return static_cast<std::size_t>(std::min(sm_.sub_cores / program_.warps, work.resident));
}

// CTAs of groups have but some others beside them, those of one round end side by side, and in many rounds ends count
// little.
bool SmTimer::end_one_by_one(const core::SmWork& work) const {
  return work.ctas > work.resident && ends_count(work) && slot_groups(work) == 1;
}

// The one run of a first look.
core::SmWork SmTimer::look(const core::SmWork& work) const {
  constexpr double instructions = 2.5e4;
  const Measured trips = measured_over(instructions, instructions_of_trip(work), work.resident > 1 ? 4 : 3, 9);
  if (work.resident > 1) return side_by_side(work, work.resident, trips);
  return from_end_to_end(work, 1, trips.until + 1, trips);
}

// The runs that tell the rates of all CTAs and of one, what lies around their loops, where there are more than two the
// rate of some, and at last where it counts how long one takes to end among others. In many rounds CTAs come to lie at
// all stages of a trip to each other: they are started so.
std::vector<core::SmWork> SmTimer::rate_runs(const core::MemoryEnvironment& environment, const core::SmWork& work) {
  const double instructions = ends_count(work) ? 1.5e5 : 1.2e5;
  std::vector<core::SmWork> out{
      side_by_side(work, work.resident, measured_over(instructions, instructions_of_trip(work), 6, 30)),
      from_end_to_end(work, 1, brief_run, of_few), from_end_to_end(work, work.resident, briefest, of_few)};
  if (!ends_count(work)) {
    const SmTime first = run(coarse(environment), look(coarse(work)));
    out[all_ctas].launch_interval = std::round(1.0 / trips_per_cycle(first));
  }
  // Where groups of slots are told apart, TripRates asks for those combinations that come up.
  const bool apart = slot_groups(work) > 1 && ends_count(work);
  if (work.resident > 2 && !apart) out.push_back(side_by_side(work, 2, of_few));
  if (work.resident > 5 && !apart && ends_count(work)) out.push_back(side_by_side(work, work.resident / 2, of_few));
  if (end_one_by_one(work)) out.push_back(one_that_ends(work));
  return out;
}

void SmTimer::prepare(const std::vector<core::MemoryEnvironment>& environments, const core::SmWork& work, Grade grade,
                      unsigned jobs) {
  if (jobs < 2) return;
  const bool is_look = grade >= Grade::search;
  std::vector<std::function<void()>> parts;
  for (const core::MemoryEnvironment& given : environments) {
    const core::MemoryEnvironment environment = is_look ? coarse(given) : given;
    // What is left to do between the runs of a finer grade takes its time as well: one thread for each environment.
    std::vector<core::SmWork> runs;
    if (is_look || environments.size() == 1) runs = independent_runs(environment, work, grade);
    for (const core::SmWork& each : runs)
      parts.emplace_back([this, environment, each] { (void)run(environment, each); });
    if (runs.empty()) parts.emplace_back([&] { (void)time(given, work, grade); });
  }
  if (parts.size() > 1) share_work(parts.size(), jobs, {}, [&](std::size_t i) { parts[i](); });
}

// The runs that time() does whatever comes out of them, where they are known beforehand.
std::vector<core::SmWork> SmTimer::independent_runs(const core::MemoryEnvironment& environment,
                                                    const core::SmWork& work, Grade grade) {
  if (!program_.async.empty()) return {};
  const core::SmWork stepped = graded(work, grade);
  if (grade == Grade::search && has_quick_rate(work)) return {look(coarse(work))};
  if (grade >= Grade::search) return rough_runs(stepped);
  if (grade != Grade::periodic) return {};
  if (has_rates(work)) return rate_runs(environment, stepped);
  return rounds_of_flow(work) > 0 ? std::vector<core::SmWork>{} : runs_of_rounds(stepped, grade);
}

// Of all resident CTAs.
double SmTimer::instructions_of_trip(const core::SmWork& work) const {
  return static_cast<double>(trip_length() * program_.warps * work.resident);
}

double SmTimer::trips_per_cycle(const SmTime& time) const { return trips_in(time) / time.flow.cycles; }

double SmTimer::trips_in(const SmTime& time) const {
  return time.flow.counters.warp_instructions / (static_cast<double>(trip_length()) * program_.warps);
}

// A first look: all time is main loop, or passes as in it. A CTA alone lays open what lies around its loop: that is
// taken from its run of few trips.
SmTime SmTimer::by_quick_rate(const core::MemoryEnvironment& given, const core::SmWork& work) {
  const core::SmWork brief = look(coarse(work));
  const SmTime all = run(coarse(given), brief);
  SmTime out;
  const auto ctas = static_cast<double>(work.ctas);
  if (work.resident == 1) {
    const double further = static_cast<double>(work.trips - brief.trips);
    add(out, all, ctas);
    if (out.deadlock) return out;
    out.cycles += ctas * (further / trips_per_cycle(all) + work.relaunch) - work.relaunch;
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

// Trips per cycle, of all CTAs and by group of slots.
MeasuredRate SmTimer::rate_of(const SmTime& time, std::size_t groups) const {
  constexpr double least = 0.1;  // trips: none stands still for ever
  MeasuredRate out{trips_per_cycle(time), std::vector<double>(groups, least)};
  double sum = static_cast<double>(groups) * least;
  for (std::size_t i = 0; i < time.flow.more.size(); ++i) {
    const double trips = std::max(0.0, time.flow.more[i]);
    out.by_group[i % groups] += trips;
    sum += trips;
  }
  for (double& rate : out.by_group) rate *= out.all / sum;
  return out;
}

// So many CTAs of each group of slots at work and no others, measured.
SmTime SmTimer::some_at_work(const core::MemoryEnvironment& environment, const core::SmWork& work,
                             std::vector<int> at_work) {
  core::SmWork some = side_by_side(work, std::accumulate(at_work.begin(), at_work.end(), 0), of_few);
  some.resident = work.resident;
  for (std::size_t i = 0; i < static_cast<std::size_t>(work.resident); ++i)
    if (at_work[i % at_work.size()]-- > 0) some.slots |= std::uint64_t{1} << i;
  return run(environment, some);
}

}  // namespace noteg::chip
