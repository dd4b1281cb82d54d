#include "sim/sm/sampling/fast_forward.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/sm/machine.hpp"

namespace noteg::sm {

namespace {

constexpr double lines_of_a_warp = 16;  // of instruction caches: looking at them takes as long as at a warp
constexpr int outermost = 1;            // depth of loops in which a CTA spends its life

}  // namespace

FastForward::FastForward(Machine& sm) : sm_(sm), streams_(sm) {
  int deepest = 0;
  for (const DecodedLoop& loop : sm_.program.loops) deepest = std::max(deepest, loop.depth);
  levels_.resize(static_cast<std::size_t>(deepest) + 1);
  for (Level& level : levels_) level.most = rules_.moments;
  const auto ctas = static_cast<double>(sm_.work.ctas);
  waves_ = std::max(1.0, ctas / static_cast<double>(sm_.work.resident));
  samples_ = streams_.cta_instructions() * ctas > rules_.budget;
}

void FastForward::restart(std::size_t depth) {
  for (; depth < levels_.size(); ++depth) {
    Level& level = levels_[depth];
    level.seen = 0;
    if (level.used == level.most) level.most = std::max<std::size_t>(8, level.most / 2);
    level.used = 0;
  }
}

void FastForward::loop_ends(int loop) {
  restart(static_cast<std::size_t>(sm_.program.loops[static_cast<std::size_t>(loop)].depth));
}

void FastForward::iteration_begins(const Warp& warp, int loop, std::uint64_t now) {
  if (std::ranges::find(streams_.leaders(), sm_.place_of(warp)) == streams_.leaders().end()) return;
  const int depth = sm_.program.loops[static_cast<std::size_t>(loop)].depth;
  const bool is_first = sm_.done_of(warp, loop) == 1;
  if (is_first) restart(static_cast<std::size_t>(depth));
  const Streams::RunningSet running = streams_.running_set(depth);
  if (running.streams == 0 || repeat(depth, now) || is_first || !samples_) return;
  sample(depth, running, now);
}

// --- Sampling.

FastForward::Mark FastForward::mark(std::uint64_t now) {
  Mark out{now + sm_.skipped(), sm_.ctas.ended(), std::vector<double>(sm_.ctas.size()), sm_.traffic.asked(),
           sm_.counted()};
  for (const Warp& warp : sm_.warps)
    if (sm_.ctas.is_running(warp.cta)) out.position[warp.cta] += streams_.position(warp);
  return out;
}

Window FastForward::since(const Mark& before, const Mark& here) {
  Window out{static_cast<double>(here.time - before.time), here.asked, here.position, here.count};
  for (std::size_t i = 0; i < out.asked.size(); ++i) out.asked[i] -= before.asked[i];
  for (std::size_t i = 0; i < out.advanced.size(); ++i) out.advanced[i] -= before.position[i];
  out.count += before.count * -1.0;
  return out;
}

void FastForward::close_window(Level& level, SteadyState& rate, std::uint64_t now) {
  Mark here = mark(now);
  rate.add(since(level.mark, here));
  level.mark = std::move(here);
}

bool FastForward::budget_is_spent() const { return sm_.stepped_instructions() > rules_.budget; }

// A leader begins an iteration while all CTAs are in loops of that depth.
void FastForward::sample(int depth, const Streams::RunningSet& running, std::uint64_t now) {
  Level& level = levels_[static_cast<std::size_t>(depth)];
  if (level.key != running.key) level.seen = 0;
  level.key = running.key;
  SteadyState& rate = level.rates[running.key];
  const std::int64_t settle = (rules_.edge + (streams_.turn() > 1 ? streams_.turn() : 0)) * running.streams;
  if (++level.seen < settle) return;
  if (rate.is_known()) {
    if (level.seen == settle && pass_over(depth, running, rate, now)) restart(static_cast<std::size_t>(depth));
    return;
  }
  const auto wanted = static_cast<std::int64_t>(rules_.share * rules_.budget / running.instructions);
  const std::int64_t window =
      std::max({rules_.window, streams_.turn(), std::min(wanted, running.iterations / rules_.part)}) * running.streams;
  if (level.seen == settle) level.mark = mark(now);
  if (level.seen == settle || (level.seen - settle) % window != 0) return;
  close_window(level, rate, now);
  if (rate.learn(rules_, budget_is_spent(), waves_) && pass_over(depth, running, rate, now))
    restart(static_cast<std::size_t>(depth));
}

// In the steady state of a running set: learns from the turnovers since it was last in it, then skips as many
// iterations and turnovers as are known. Of inner loops iterations alone.
bool FastForward::pass_over(int depth, const Streams::RunningSet& running, SteadyState& rate, std::uint64_t now) {
  if (depth != outermost) return skip(depth, rate);
  Turnover& turnover = turnovers_[running.key];
  const auto ctas = static_cast<double>(sm_.ctas.ended() - settled_.ended);
  if (settled_key_ == running.key && ctas > 0)
    turnover.add(rate, since(settled_, mark(now)), ctas, streams_.outside_loops(depth));
  bool any = false;
  for (bool goes_on = true; goes_on; any = any || goes_on) {
    any = skip(depth, rate) || any;
    goes_on = rate.is_known() && is_known(turnover, rate) &&
              (skip_generations(rate, turnover) || turn_over(rate, turnover, now));
    turns_over_ = turns_over_ || goes_on;
  }
  settled_ = mark(now);
  settled_key_ = running.key;
  return any;
}

bool FastForward::is_known(const Turnover& turnover, const SteadyState& rate) const {
  const double cycles_of_cta = streams_.cta_instructions() * rate.sum().cycles / rate.sum().instructions();
  return turnover.is_known(budget_is_spent() ? rules_.windows / 2 : rules_.windows, rules_.agreement * cycles_of_cta);
}

// Whole generations of CTAs leave everything where it is; one is left to go.
bool FastForward::skip_generations(const SteadyState& rate, const Turnover& turnover) {
  const std::int64_t resident = sm_.ctas.most_at_once();
  const std::int64_t ctas = (sm_.ctas.to_launch() / resident - 1) * resident;
  if (ctas <= 0) return false;
  const double in_loops = streams_.cta_instructions() - streams_.outside_loops(outermost);
  Window passed = turnover.cost() * static_cast<double>(ctas);
  passed += rate.sum() * (static_cast<double>(ctas) * in_loops / rate.sum().instructions());
  sm_.ctas.replace(ctas, pass(passed));
  return true;
}

// The CTA that has come to its last iterations gives its slot to the next one, which is in its first iterations
// already, where no other CTA ends meanwhile.
bool FastForward::turn_over(const SteadyState& rate, const Turnover& turnover, std::uint64_t now) {
  Skip skip = possible_skip(outermost);
  const std::vector<double>& advanced = rate.sum().advanced;
  const double progress = turnover.progress() / std::accumulate(advanced.begin(), advanced.end(), 0.0);
  const auto turn = static_cast<double>(streams_.turn());
  const std::size_t slots = skip.left.size();
  std::size_t last = slots;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (skip.left[slot] < 0 || advanced[slot] <= 0) return false;
    skip.units[slot] = std::llround(progress * advanced[slot] / skip.length[slot] / turn) * streams_.turn();
    if (static_cast<double>(skip.units[slot]) <= skip.left[slot]) continue;
    if (last < slots) return false;
    last = slot;
  }
  const auto is_inside = [&](const Warp& warp) { return sm_.is_live(warp) && streams_.loop_at(warp, outermost) >= 0; };
  if (sm_.ctas.to_launch() <= 0 || !skip.is_possible || last == slots || skip.left[last] >= turn ||
      !std::ranges::all_of(sm_.warps_of(last), is_inside))
    return false;
  const std::vector<std::int64_t>& steps = streams_.steps(last, outermost);
  for (const Warp& warp : sm_.warps_of(last)) {  // the next CTA is in its first iteration at least
    const auto loop = static_cast<std::size_t>(streams_.loop_at(warp, outermost));
    const std::int64_t step = steps[streams_.index_of(warp)];
    while (warp.iterations[outermost] + skip.units[last] * step < streams_.of(warp).count[loop])
      skip.units[last] += streams_.turn();
  }
  const double instructions = advance(skip, outermost);
  for (Warp& warp : sm_.warps_of(last)) {
    const auto loop = static_cast<std::size_t>(streams_.loop_at(warp, outermost));
    warp.iterations[outermost] -= static_cast<std::int32_t>(streams_.of(warp).count[loop]);
    sm_.subs[warp.sub].scheduler.renew(warp);
  }
  Window passed = turnover.cost();
  passed += rate.sum() * (instructions / rate.sum().instructions());
  pass(passed);
  sm_.ctas.turn_over(last, now + sm_.skipped());
  return true;
}

// The grid: behind the first CTAs of all slots, which start together, windows are generations of CTAs, or parts of one
// where it is long, and of these as many as make a generation at least.
void FastForward::cta_ends(std::uint64_t now) {
  if (!samples_ || turns_over_) return;
  Level& level = levels_.front();
  const std::int64_t resident = sm_.ctas.most_at_once();
  const auto wanted = static_cast<std::int64_t>(rules_.share * rules_.budget / streams_.cta_instructions());
  std::int64_t ctas = resident;
  if (wanted >= resident) {
    ctas *= std::max<std::int64_t>(1, std::min(wanted, sm_.work.ctas / rules_.part) / resident);
  } else {
    while (ctas > 1 && (resident % ctas != 0 || ctas > wanted)) --ctas;
  }
  const std::int64_t fill = std::max(ctas, resident), ended = sm_.ctas.ended();
  if (ended < fill || (ended - fill) % ctas != 0) return;
  if (level.mark.position.empty()) {  // at `fill`, unless a recurrence has skipped it
    level.mark = mark(now);
    return;
  }
  SteadyState& rate = level.rates[0];
  close_window(level, rate, now);
  const std::int64_t more = (sm_.ctas.to_launch() - 1) / resident * resident;  // one takes the slot that fell empty
  const std::int64_t generations = static_cast<std::int64_t>(rate.windows()) * ctas / resident;
  if (more <= 0 || generations < static_cast<std::int64_t>(rules_.windows / 2) ||
      !rate.learn(rules_, budget_is_spent(), waves_))
    return;
  if (static_cast<double>(more) * streams_.cta_instructions() < rules_.worth * sm_.stepped_instructions()) return;
  const double share = static_cast<double>(more) * streams_.cta_instructions() / rate.sum().instructions();
  sm_.ctas.replace(more, pass(rate.sum() * share));
  settled_key_ = 0;
  level.used = 0;
}

// --- Skipping.

// So much passes at once. Returns its cycles.
std::uint64_t FastForward::pass(const Window& passed) {
  const auto cycles = static_cast<std::uint64_t>(std::llround(std::max(0.0, passed.cycles)));
  sm_.traffic.pass(passed.cycles, passed.asked);
  sm_.skip(cycles, passed.instructions(), passed.count);
  return cycles;
}

template <class Iterations>
void FastForward::advance(std::size_t slot, int depth, Iterations iterations) {
  std::array<std::uint32_t, max_walks> walked{};
  for (Warp& warp : sm_.warps_of(slot)) {
    const int loop = sm_.is_live(warp) ? streams_.loop_at(warp, depth) : -1;
    if (loop < 0) continue;
    const auto before = warp.async.walk;
    streams_.advance(warp, loop, iterations(warp));
    for (std::size_t i = 0; i < before.size(); ++i) walked[i] = std::max(walked[i], warp.async.walk[i] - before[i]);
  }
  if (!sm_.program.rings.empty()) sm_.async.advance(slot, walked);
}

// Returns the instructions of these iterations.
double FastForward::advance(const Skip& skip, int depth) {
  double instructions = 0;
  for (std::size_t slot = 0; slot < skip.units.size(); ++slot) {
    if (skip.units[slot] <= 0) continue;
    instructions += static_cast<double>(skip.units[slot]) * skip.length[slot];
    const std::vector<std::int64_t> steps = streams_.steps(slot, depth);
    advance(slot, depth, [&](const Warp& warp) { return skip.units[slot] * steps[streams_.index_of(warp)]; });
  }
  return instructions;
}

FastForward::Skip FastForward::possible_skip(int depth) {
  const std::size_t slots = sm_.ctas.size();
  Skip out{std::vector<double>(slots), std::vector<double>(slots, -1), std::vector<std::int64_t>(slots), true};
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::vector<std::int64_t>& steps = streams_.steps(slot, depth);
    for (const Warp& warp : sm_.warps_of(slot)) {
      if (!sm_.is_live(warp)) continue;
      const int loop = streams_.loop_at(warp, depth);
      if (loop < 0) {
        out.is_possible = out.is_possible && sm_.is_blocked(warp);
        continue;
      }
      const Streams::Stream& of = streams_.of(warp);
      const auto at = static_cast<std::size_t>(loop);
      const auto step = static_cast<double>(steps[streams_.index_of(warp)]);
      const double units = static_cast<double>(of.count[at] - 1 - rules_.edge - sm_.done_of(warp, loop)) / step;
      out.length[slot] += of.length[at] * step;
      double& left = out.left[slot];
      left = left < 0 ? std::max(0.0, units) : std::clamp(units, 0.0, left);
    }
  }
  return out;
}

// Skips as many iterations as leave each CTA some to go, in turns of the rings.
bool FastForward::skip(int depth, SteadyState& rate) {
  Skip skip = possible_skip(depth);
  if (!skip.is_possible) return false;
  const auto turn = static_cast<double>(streams_.turn());
  const auto takes_part = [&](std::size_t slot) { return skip.left[slot] >= 0 && rate.sum().advanced[slot] > 0; };
  double share = -1;  // of the rate's windows
  for (std::size_t slot = 0; slot < skip.left.size(); ++slot) {
    if (!takes_part(slot)) continue;
    const double until = skip.left[slot] * skip.length[slot] / rate.sum().advanced[slot];
    if (share < 0 || until < share) share = until;
  }
  // Relative progress is known as well as a few windows tell it: what is left after a part is measured again, until
  // many have told.
  const bool is_sure = rate.windows() >= rules_.sure || share <= rules_.longest;
  if (!is_sure) share = std::max(rules_.longest, share / 2);
  // Whole windows leave what repeats within them where it is.
  const auto windows = static_cast<double>(rate.used());
  if (share * windows >= 1) share = std::floor(share * windows) / windows;
  for (std::size_t slot = 0; slot < skip.left.size(); ++slot) {
    if (!takes_part(slot)) continue;
    // CTAs that get on alike drift apart as in a random walk: with the root of the time.
    const double drift = std::trunc(std::sqrt(share) * rate.drift()[slot] / skip.length[slot]);
    const double wanted = share * rate.sum().advanced[slot] / skip.length[slot] + drift;
    skip.units[slot] = static_cast<std::int64_t>(
        std::min(std::max(0.0, std::round(wanted / turn)), std::floor(skip.left[slot] / turn)) * turn);
  }
  const double instructions = advance(skip, depth);
  if (instructions <= 0) return false;
  pass(rate.sum() * (instructions / rate.sum().instructions()));
  if (!is_sure) rate.doubt();
  return true;
}

// --- Recurrence.

std::vector<std::int64_t> FastForward::iterations_of_leaders(int depth) const {
  std::vector<std::int64_t> out;
  for (std::size_t slot = 0; slot < sm_.ctas.size(); ++slot)
    for (const int place : streams_.leaders()) {
      const Warp& warp = sm_.warps_of(slot)[static_cast<std::size_t>(place)];
      const int loop = streams_.loop_at(warp, depth);
      out.push_back(loop < 0 ? 0 : sm_.done_of(warp, loop));
    }
  return out;
}

// What follows the state of now until it comes again, if that is known; else now becomes a moment to come back to.
const FastForward::Period* FastForward::known_period(Level& level, std::uint64_t now, int depth) {
  if (sm_.scoreboard || level.used == level.most || looked_at_ * rules_.look > sm_.stepped_instructions())
    return nullptr;
  looked_at_ += static_cast<double>(sm_.work.resident * sm_.program.warps) + sm_.icache.lines() / lines_of_a_warp;
  Moment here{sm_.hash(streams_, now, depth), now + sm_.skipped(), sm_.ctas.launched(), {}, {}};
  if (const auto known = level.periods.find(here.hash); known != level.periods.end()) return &known->second;
  here.iterations = iterations_of_leaders(depth);
  here.count = sm_.counted();
  for (std::size_t i = level.used; i-- > 0;) {
    const Moment& before = level.moments[i];
    if (before.hash != here.hash) continue;
    for (std::size_t at = 0; at < here.iterations.size(); ++at) here.iterations[at] -= before.iterations[at];
    here.count += before.count * -1.0;
    return &(level.periods[here.hash] = {here.time - before.time, here.launched - before.launched,
                                         std::move(here.iterations), here.count});
  }
  if (level.moments.size() == level.used) level.moments.emplace_back();
  level.moments[level.used++] = std::move(here);
  return nullptr;
}

// Returns the cycles of so many periods.
std::uint64_t FastForward::pass(const Period& period, std::int64_t times) {
  const std::uint64_t cycles = period.cycles * static_cast<std::uint64_t>(times);
  const auto factor = static_cast<double>(times);
  sm_.skip(cycles, period.count.warp_instructions * factor, period.count * factor);
  looked_at_ = 0;
  return cycles;
}

// Whole periods of iterations are skipped.
bool FastForward::repeat(int depth, std::uint64_t now) {
  const Period* period = known_period(levels_[static_cast<std::size_t>(depth)], now, depth);
  if (period == nullptr) return false;
  const auto of = [&](const Warp& warp) {
    return period->iterations[warp.cta * streams_.leaders().size() + streams_.index_of(warp)];
  };
  std::int64_t times = -1;
  for (const Warp& warp : sm_.warps) {
    const int loop = sm_.is_live(warp) ? streams_.loop_at(warp, depth) : -1;
    if (loop < 0 || of(warp) <= 0) continue;
    const auto at = static_cast<std::size_t>(loop);
    const std::int64_t possible = (streams_.of(warp).count[at] - 1 - sm_.done_of(warp, loop)) / of(warp);
    if (times < 0 || possible < times) times = possible;
  }
  if (times < 1) return false;
  pass(*period, times);
  for (std::size_t slot = 0; slot < sm_.ctas.size(); ++slot)
    if (sm_.ctas.is_running(slot)) advance(slot, depth, [&](const Warp& warp) { return of(warp) * times; });
  restart(static_cast<std::size_t>(depth));
  return true;
}

// Whole periods of CTAs are skipped.
void FastForward::ctas_have_started(std::uint64_t now) {
  Level& level = levels_.front();
  const Period* period = known_period(level, now, 0);
  if (period == nullptr || period->launched <= 0 || sm_.ctas.to_launch() < period->launched) return;
  const std::int64_t times = sm_.ctas.to_launch() / period->launched;
  sm_.ctas.replace(period->launched * times, pass(*period, times));
  settled_key_ = 0;
  level.used = 0;
}

}  // namespace noteg::sm
