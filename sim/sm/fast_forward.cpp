#include "sim/sm/fast_forward.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/sm/machine.hpp"

namespace noteg::sm {

// --- What each warp executes in all, and where it is.

FastForward::FastForward(Machine& sm) : sm_(sm) {
  const DecodedProgram& program = sm_.program;
  std::vector<std::pair<std::int32_t, std::int64_t>> kinds;
  int stride = 1;
  for (const TileShare& share : program.tiles) stride = std::lcm(stride, share.stride);
  for (const DecodedRing& ring : program.rings) turn_ = std::lcm(turn_, std::int64_t{ring.count});
  for (const kernels::BarrierTurns& by_warp : program.turns)
    for (const auto& turns : by_warp) turn_ = std::lcm(turn_, std::max<std::int64_t>(1, std::ssize(turns)));
  for (int place = 0; place < program.warps; ++place) {
    const auto at = static_cast<std::size_t>(place);
    const std::pair kind{program.start[at], program.tiles.empty() ? 1 : sm_.tiles_of(program.tiles[at])};
    auto known = std::ranges::find(kinds, kind);
    if (known == kinds.end()) {
      known = kinds.insert(known, kind);
      leaders_.push_back(place);
      streams_.push_back(stream_of(place));
      for (std::size_t i = 0; i < program.loops.size(); ++i)
        if (!program.tiles.empty() && program.loops[i].is_tiles)
          streams_.back().step[i] = stride / program.tiles[at].stride;
    }
    stream_of_place_.push_back(static_cast<std::size_t>(known - kinds.begin()));
    ++streams_[stream_of_place_.back()].warps;
    cta_instructions_ += streams_[stream_of_place_.back()].total;
  }
  int deepest = 0;
  for (const DecodedLoop& loop : program.loops) deepest = std::max(deepest, loop.depth);
  levels_.resize(static_cast<std::size_t>(deepest) + 1);
  for (Level& level : levels_) level.most = rules_.moments;
  waves_ = std::max(1.0, static_cast<double>(sm_.work.ctas) / static_cast<double>(sm_.work.resident));
  samples_ = cta_instructions_ * static_cast<double>(sm_.work.ctas) > rules_.budget;
}

FastForward::Stream FastForward::stream_of(int place) const {
  const DecodedProgram& program = sm_.program;
  Stream out;
  out.offset.assign(program.code.size(), 0);
  out.length.assign(program.loops.size(), 0);
  out.count.assign(program.loops.size(), 0);
  out.step.assign(program.loops.size(), 1);
  const auto start = static_cast<std::size_t>(program.start[static_cast<std::size_t>(place)]);
  for (std::size_t at = start; at < program.code.size(); ++at) {
    out.offset[at] = out.total++;
    const DecodedInstruction& in = program.code[at];
    if (in.action == Action::exit && program.innermost[at] < 0) break;
    if (in.action != Action::branch) continue;
    const auto loop = static_cast<std::size_t>(in.loop);
    if (static_cast<std::int32_t>(at) < program.loops[loop].begin) continue;  // its guard
    out.count[loop] = sm_.iterations_of(place, program.loops[loop]);
    out.length[loop] = out.total - out.offset[static_cast<std::size_t>(in.target)];
    out.total += static_cast<double>(out.count[loop] - 1) * out.length[loop];
  }
  return out;
}

const FastForward::Stream& FastForward::stream(const Warp& warp) const {
  return streams_[stream_of_place_[static_cast<std::size_t>(sm_.place_of(warp))]];
}

// The loop of that depth in which the warp is, -1: none.
int FastForward::loop_at(const Warp& warp, int depth) const {
  const std::vector<DecodedLoop>& loops = sm_.program.loops;
  int loop = sm_.program.innermost[static_cast<std::size_t>(warp.pc)];
  while (loop >= 0 && loops[static_cast<std::size_t>(loop)].depth > depth)
    loop = loops[static_cast<std::size_t>(loop)].parent;
  return loop >= 0 && loops[static_cast<std::size_t>(loop)].depth == depth ? loop : -1;
}

// Instructions that the warp has executed since its CTA started.
double FastForward::position(const Warp& warp) const {
  const Stream& of = stream(warp);
  if (!sm_.is_live(warp)) return of.total;
  double sum = of.offset[static_cast<std::size_t>(warp.pc)];
  for (int loop = sm_.program.innermost[static_cast<std::size_t>(warp.pc)]; loop >= 0;
       loop = sm_.program.loops[static_cast<std::size_t>(loop)].parent)
    sum += warp.iterations[static_cast<std::size_t>(loop)] * of.length[static_cast<std::size_t>(loop)];
  return sum;
}

// --- Steady state: all running CTAs are inside loops of one depth.

// Nothing where a CTA is in none of them, but for warps that wait.
FastForward::RunningSet FastForward::running_set(int depth) const {
  RunningSet out;
  StateHash key(0);
  for (std::size_t slot = 0; slot < sm_.ctas.size(); ++slot) {
    key(1);
    if (!sm_.ctas.is_running(slot)) continue;
    bool any = false;
    for (const int place : leaders_) {
      const Warp& warp = sm_.warps_of(slot)[static_cast<std::size_t>(place)];
      if (!sm_.is_live(warp)) continue;
      const int loop = loop_at(warp, depth);
      if (loop < 0 && !sm_.is_blocked(warp)) return {};
      key(static_cast<std::uint64_t>(loop + 2));
      if (loop < 0) continue;
      any = true;
      const Stream& of = stream(warp);
      ++out.streams;
      out.instructions += of.length[static_cast<std::size_t>(loop)] * of.warps;
      out.iterations = std::min(out.iterations, of.count[static_cast<std::size_t>(loop)]);
    }
    if (!any) return {};
  }
  out.key = key.value();
  return out;
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
  if (std::ranges::find(leaders_, sm_.place_of(warp)) == leaders_.end()) return;
  const int depth = sm_.program.loops[static_cast<std::size_t>(loop)].depth;
  if (warp.iterations[static_cast<std::size_t>(loop)] == 1) return restart(static_cast<std::size_t>(depth));
  const RunningSet running = running_set(depth);
  if (running.streams == 0 || repeat(depth, now) || !samples_) return;
  sample(depth, running, now);
}

// --- Sampling.

FastForward::Mark FastForward::mark(std::uint64_t now) {
  Mark out{now + sm_.skipped(), std::vector<double>(sm_.ctas.size()), sm_.traffic.asked(), sm_.counted()};
  for (const Warp& warp : sm_.warps)
    if (sm_.ctas.is_running(warp.cta)) out.position[warp.cta] += position(warp);
  return out;
}

Window FastForward::since(const Mark& before, const Mark& here) const {
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
void FastForward::sample(int depth, const RunningSet& running, std::uint64_t now) {
  Level& level = levels_[static_cast<std::size_t>(depth)];
  if (level.key != running.key) level.seen = 0;
  level.key = running.key;
  SteadyState& rate = level.rates[running.key];
  const std::int64_t settle = (rules_.edge + (turn_ > 1 ? turn_ : 0)) * running.streams;
  if (++level.seen < settle) return;
  if (rate.is_known()) {
    if (level.seen == settle && pass_over(depth, running, rate, now)) restart(static_cast<std::size_t>(depth));
    return;
  }
  const auto wanted = static_cast<std::int64_t>(rules_.share * rules_.budget / running.instructions);
  const std::int64_t window =
      std::max({rules_.window, turn_, std::min(wanted, running.iterations / rules_.part)}) * running.streams;
  if (level.seen == settle) level.mark = mark(now);
  if (level.seen == settle || (level.seen - settle) % window != 0) return;
  close_window(level, rate, now);
  if (rate.learn(rules_, budget_is_spent(), waves_) && pass_over(depth, running, rate, now))
    restart(static_cast<std::size_t>(depth));
}

// In the steady state of a running set: what turnovers since the last such moment cost, then as many iterations and
// turnovers are skipped as are known.
bool FastForward::pass_over(int depth, const RunningSet& running, SteadyState& rate, std::uint64_t now) {
  Level& level = levels_[static_cast<std::size_t>(depth)];
  Turnover& turnover = level.turnovers[running.key];
  const double ctas = static_cast<double>(sm_.ctas.ended() - level.settled_ended);
  if (level.settled_key == running.key && ctas > 0)
    turnover.add(rate, since(level.settled, mark(now)), ctas, outside_loops(depth));
  bool any = false;
  do {
    any = skip(depth, rate) || any;
  } while (depth == 1 && rate.is_known() && turn_over(depth, rate, turnover, now) && (any = true));
  level.settled = mark(now);
  level.settled_key = running.key;
  level.settled_ended = sm_.ctas.ended();
  return any;
}

// Instructions of a CTA outside of the loops of that depth in which the CTAs are.
double FastForward::outside_loops(int depth) const {
  double inside = 0;
  for (const Warp& warp : sm_.warps) {
    const int loop = sm_.is_live(warp) ? loop_at(warp, depth) : -1;
    if (loop < 0) continue;
    const auto at = static_cast<std::size_t>(loop);
    inside += static_cast<double>(stream(warp).count[at]) * stream(warp).length[at];
  }
  return cta_instructions_ - inside / static_cast<double>(sm_.ctas.size());
}

// The CTA that has come to its last iterations gives its slot to the next one, and that is in its first iterations
// already, if what this costs is known and no other CTA ends meanwhile.
bool FastForward::turn_over(int depth, const SteadyState& rate, const Turnover& turnover, std::uint64_t now) {
  if (sm_.ctas.to_launch() <= 0) return false;
  const double c = rate.sum().cycles / rate.sum().instructions();
  const std::size_t least = budget_is_spent() ? rules_.windows / 2 : rules_.windows;
  if (!turnover.is_known(least, rules_.agreement * c * cta_instructions_)) return false;
  const auto pass_window = [&](const Window& passed) {
    const auto cycles = static_cast<std::uint64_t>(std::max(0.0, std::round(passed.cycles)));
    sm_.traffic.pass(passed.cycles, passed.asked);
    sm_.skip(cycles, passed.instructions(), passed.count);
    turns_over_ = true;
    return cycles;
  };
  // Whole generations leave all as it is.
  const auto resident = static_cast<std::int64_t>(sm_.ctas.size());
  if (const std::int64_t generations = sm_.ctas.to_launch() / resident - 1; generations > 0) {
    const auto ctas = static_cast<double>(generations * resident);
    Window passed = turnover.cost();
    passed.add(turnover.cost(), ctas - 1);
    passed.add(rate.sum(), ctas * (cta_instructions_ - outside_loops(depth)) / rate.sum().instructions());
    sm_.ctas.replace(generations * resident, pass_window(passed));
    return true;
  }
  Skip skip = possible_skip(depth);
  const auto turn = static_cast<double>(turn_);
  double progress = 0;
  std::size_t last = skip.left.size();
  for (std::size_t slot = 0; slot < skip.left.size(); ++slot) {
    if (skip.left[slot] < 0 || rate.sum().advanced[slot] <= 0) return false;
    progress += rate.sum().advanced[slot];
    if (skip.left[slot] < turn && last < skip.left.size()) return false;
    if (skip.left[slot] < turn) last = slot;
  }
  if (last == skip.left.size() || !skip.is_possible) return false;
  for (const Warp& warp : sm_.warps_of(last))
    if (!sm_.is_live(warp) || loop_at(warp, depth) < 0) return false;
  double instructions = 0;
  for (std::size_t slot = 0; slot < skip.left.size(); ++slot) {
    const double wanted = turnover.progress() * rate.sum().advanced[slot] / progress / skip.length[slot];
    skip.units[slot] = static_cast<std::int64_t>(std::max(0.0, std::round(wanted / turn)) * turn);
    if (slot != last && static_cast<double>(skip.units[slot]) > skip.left[slot]) return false;
  }
  // The next CTA has begun its first iteration at least.
  for (const Warp& warp : sm_.warps_of(last)) {
    const auto loop = static_cast<std::size_t>(loop_at(warp, depth));
    const Stream& of = stream(warp);
    while (warp.iterations[loop] + skip.units[last] * of.step[loop] < of.count[loop]) skip.units[last] += turn_;
  }
  for (std::size_t slot = 0; slot < skip.units.size(); ++slot) {
    instructions += static_cast<double>(skip.units[slot]) * skip.length[slot];
    if (skip.units[slot] > 0)
      advance(slot, depth,
              [&](const Warp& warp, std::size_t loop) { return skip.units[slot] * stream(warp).step[loop]; });
  }
  for (Warp& warp : sm_.warps_of(last)) {
    const auto loop = static_cast<std::size_t>(loop_at(warp, depth));
    warp.iterations[loop] -= static_cast<std::int32_t>(stream(warp).count[loop]);
    sm_.subs[warp.sub].scheduler.renew(warp);
  }
  Window passed = turnover.cost();
  passed.add(rate.sum(), instructions / rate.sum().instructions());
  pass_window(passed);
  sm_.ctas.turn_over(last, now + sm_.skipped());
  return true;
}

// The grid: behind the first CTAs of all slots, which start together, windows are generations of CTAs, or parts of one
// where it is long, and of these as many as make a generation at least.
void FastForward::cta_ends(std::uint64_t now) {
  if (!samples_ || turns_over_) return;
  Level& level = levels_.front();
  const auto resident = static_cast<std::int64_t>(sm_.ctas.size());
  const auto wanted = static_cast<std::int64_t>(rules_.share * rules_.budget / cta_instructions_);
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
  if (static_cast<double>(more) * cta_instructions_ < rules_.worth * sm_.stepped_instructions()) return;
  const double share = static_cast<double>(more) * cta_instructions_ / rate.sum().instructions();
  sm_.ctas.replace(more, cycles_of(rate, share));
  pass(rate, share);
  for (Level& each : levels_) each.settled_key = 0;
  level.used = 0;
}

// --- Skipping.

std::uint64_t FastForward::cycles_of(const SteadyState& rate, double share) {
  return static_cast<std::uint64_t>(std::llround(share * rate.sum().cycles));
}

// The windows of a rate, so many times over.
void FastForward::pass(const SteadyState& rate, double share) {
  PortTraffic::Asked asked = rate.sum().asked;
  for (double& each : asked) each *= share;
  sm_.traffic.pass(share * rate.sum().cycles, asked);
  sm_.skip(cycles_of(rate, share), rate.sum().instructions() * share, rate.sum().count * share);
}

// A warp is so many iterations further in a loop, and along the rings of barriers.
void FastForward::advance(Warp& warp, int loop, std::int64_t iterations) const {
  const DecodedLoop& of = sm_.program.loops[static_cast<std::size_t>(loop)];
  warp.iterations[static_cast<std::size_t>(loop)] += static_cast<std::int32_t>(iterations);
  for (std::int32_t at = of.begin; at <= of.branch && !sm_.program.async.empty(); ++at) {
    const int async = sm_.program.code[static_cast<std::size_t>(at)].async;
    if (async < 0) continue;
    const DecodedAsync& op = sm_.program.async[static_cast<std::size_t>(async)];
    std::int64_t steps = op.advances ? 1 : 0;
    if (op.kind == kernels::AsyncKind::skip) steps += sm_.work.iterations;
    for (int inner = sm_.program.innermost[static_cast<std::size_t>(at)]; inner != loop;
         inner = sm_.program.loops[static_cast<std::size_t>(inner)].parent)
      steps *= stream(warp).count[static_cast<std::size_t>(inner)];
    if (steps > 0) warp.async.walk[sm_.program.rings[op.ring].walk] += static_cast<std::uint32_t>(steps * iterations);
  }
}

template <class Iterations>
void FastForward::advance(std::size_t slot, int depth, Iterations iterations) {
  std::array<std::uint32_t, max_walks> walked{};
  for (Warp& warp : sm_.warps_of(slot)) {
    const int loop = sm_.is_live(warp) ? loop_at(warp, depth) : -1;
    if (loop < 0) continue;
    const auto before = warp.async.walk;
    advance(warp, loop, iterations(warp, static_cast<std::size_t>(loop)));
    for (std::size_t i = 0; i < before.size(); ++i) walked[i] = std::max(walked[i], warp.async.walk[i] - before[i]);
  }
  if (!sm_.program.rings.empty()) sm_.async.advance(slot, walked);
}

FastForward::Skip FastForward::possible_skip(int depth) const {
  const std::size_t slots = sm_.ctas.size();
  Skip out{std::vector<double>(slots), std::vector<double>(slots, -1), std::vector<std::int64_t>(slots), true};
  for (const Warp& warp : sm_.warps) {
    if (!sm_.is_live(warp)) continue;
    const int loop = loop_at(warp, depth);
    if (loop < 0) {
      out.is_possible = out.is_possible && sm_.is_blocked(warp);
      continue;
    }
    const Stream& of = stream(warp);
    const auto at = static_cast<std::size_t>(loop);
    const auto step = static_cast<double>(of.step[at]);
    const double units = static_cast<double>(of.count[at] - 1 - rules_.edge - warp.iterations[at]) / step;
    out.length[warp.cta] += of.length[at] * step;
    double& left = out.left[warp.cta];
    left = left < 0 ? std::max(0.0, units) : std::clamp(units, 0.0, left);
  }
  return out;
}

// Skips as many iterations as leave each CTA some to go, in turns of the rings.
bool FastForward::skip(int depth, SteadyState& rate) {
  Skip skip = possible_skip(depth);
  if (!skip.is_possible) return false;
  const auto turn = static_cast<double>(turn_);
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
  double instructions = 0;
  for (std::size_t slot = 0; slot < skip.left.size(); ++slot) {
    if (!takes_part(slot)) continue;
    // CTAs that get on alike drift apart as in a random walk: with the root of the time.
    const double drift = std::trunc(std::sqrt(share) * rate.drift()[slot] / skip.length[slot]);
    const double wanted = share * rate.sum().advanced[slot] / skip.length[slot] + drift;
    skip.units[slot] = static_cast<std::int64_t>(
        std::min(std::max(0.0, std::round(wanted / turn)), std::floor(skip.left[slot] / turn)) * turn);
    instructions += static_cast<double>(skip.units[slot]) * skip.length[slot];
  }
  if (instructions <= 0) return false;
  for (std::size_t slot = 0; slot < skip.units.size(); ++slot)
    if (skip.units[slot] > 0)
      advance(slot, depth,
              [&](const Warp& warp, std::size_t loop) { return skip.units[slot] * stream(warp).step[loop]; });
  pass(rate, instructions / rate.sum().instructions());
  if (!is_sure) rate.doubt();
  return true;
}

// --- Recurrence.

// The earlier moment in which the SM was in the state of now; if there is none, now becomes one.
const FastForward::Moment* FastForward::known_moment(Level& level, std::uint64_t now, int depth) {
  if (sm_.scoreboard || level.used == level.most || looked_at_ * rules_.look > sm_.stepped_instructions())
    return nullptr;
  looked_at_ += static_cast<double>(sm_.warps.size());
  const std::uint64_t hash = sm_.hash(now, depth);
  for (std::size_t i = level.used; i-- > 0;)
    if (level.moments[i].hash == hash) return &level.moments[i];
  if (level.moments.size() == level.used) level.moments.emplace_back();
  Moment& moment = level.moments[level.used++];
  moment.hash = hash;
  moment.time = now + sm_.skipped();
  moment.launched = sm_.ctas.launched();
  moment.count = sm_.counted();
  moment.iterations.clear();
  for (std::size_t slot = 0; slot < sm_.ctas.size(); ++slot)
    for (const int place : leaders_) {
      const Warp& warp = sm_.warps_of(slot)[static_cast<std::size_t>(place)];
      const int loop = loop_at(warp, depth);
      moment.iterations.push_back(loop < 0 ? 0 : warp.iterations[static_cast<std::size_t>(loop)]);
    }
  return nullptr;
}

// What passed since, so many times over. Returns its cycles.
std::uint64_t FastForward::pass(const Moment& before, std::uint64_t now, std::int64_t periods) {
  CoreCounters period = sm_.counted();
  period += before.count * -1.0;
  const std::uint64_t cycles = (now + sm_.skipped() - before.time) * static_cast<std::uint64_t>(periods);
  const auto times = static_cast<double>(periods);
  sm_.skip(cycles, period.warp_instructions * times, period * times);
  looked_at_ = 0;
  return cycles;
}

// Whole periods of iterations are skipped.
bool FastForward::repeat(int depth, std::uint64_t now) {
  const Moment* before = known_moment(levels_[static_cast<std::size_t>(depth)], now, depth);
  if (before == nullptr) return false;
  std::vector<std::int64_t> each;  // iterations of the leaders
  for (std::size_t slot = 0; slot < sm_.ctas.size(); ++slot)
    for (const int place : leaders_) {
      const Warp& warp = sm_.warps_of(slot)[static_cast<std::size_t>(place)];
      const int loop = loop_at(warp, depth);
      each.push_back(loop < 0 ? 0 : warp.iterations[static_cast<std::size_t>(loop)] - before->iterations[each.size()]);
    }
  const auto of = [&](const Warp& warp) {
    return each[warp.cta * leaders_.size() + stream_of_place_[static_cast<std::size_t>(sm_.place_of(warp))]];
  };
  std::int64_t periods = -1;
  for (const Warp& warp : sm_.warps) {
    const int loop = sm_.is_live(warp) ? loop_at(warp, depth) : -1;
    if (loop < 0 || of(warp) <= 0) continue;
    const auto at = static_cast<std::size_t>(loop);
    const std::int64_t possible = (stream(warp).count[at] - 1 - warp.iterations[at]) / of(warp);
    if (periods < 0 || possible < periods) periods = possible;
  }
  if (periods < 1) return false;
  pass(*before, now, periods);
  for (std::size_t slot = 0; slot < sm_.ctas.size(); ++slot)
    if (sm_.ctas.is_running(slot))
      advance(slot, depth, [&](const Warp& warp, std::size_t) { return of(warp) * periods; });
  restart(static_cast<std::size_t>(depth));
  return true;
}

// Whole periods of CTAs are skipped.
void FastForward::ctas_have_started(std::uint64_t now) {
  Level& level = levels_.front();
  const Moment* before = known_moment(level, now, 0);
  if (before == nullptr) return;
  const std::int64_t each = sm_.ctas.launched() - before->launched;
  if (each <= 0 || sm_.ctas.to_launch() < each) return;
  const std::int64_t periods = sm_.ctas.to_launch() / each;
  sm_.ctas.replace(each * periods, pass(*before, now, periods));
  for (Level& other : levels_) other.settled_key = 0;
  level.used = 0;
}

}  // namespace noteg::sm
