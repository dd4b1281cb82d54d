#include "sim/sm/fast_forward.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/sm/engine_state.hpp"

namespace noteg::sm {

// --- What a warp executes in all, and where it is.

FastForward::Stream FastForward::stream_of(int place) const {
  const DecodedProgram& program = sm_.program_;
  Stream out;
  out.offset.assign(program.code.size(), 0);
  out.length.assign(program.loops.size(), 0);
  out.count.assign(program.loops.size(), 0);
  out.step.assign(program.loops.size(), 1);
  double executed = 0;
  for (auto at = static_cast<std::size_t>(program.start[static_cast<std::size_t>(place)]); at < program.code.size();
       ++at) {
    out.offset[at] = executed++;
    const DecodedInstruction& in = program.code[at];
    if (in.action == Action::exit && program.innermost[at] < 0) break;
    if (in.action != Action::branch) continue;
    const auto loop = static_cast<std::size_t>(in.loop);
    out.count[loop] = sm_.trips_of(place, program.loops[loop]);
    out.length[loop] = executed - out.offset[static_cast<std::size_t>(in.target)];
    executed += static_cast<double>(out.count[loop] - 1) * out.length[loop];
  }
  out.total = executed;
  return out;
}

FastForward::FastForward(Engine& sm) : sm_(sm) {
  const DecodedProgram& program = sm_.program_;
  std::vector<std::pair<std::int32_t, std::int64_t>> kinds;
  int stride = 1;
  for (const TileShare& share : program.tiles) stride = std::lcm(stride, share.stride);
  for (int place = 0; place < program.warps; ++place) {
    const auto at = static_cast<std::size_t>(place);
    const std::pair kind{program.start[at], program.tiles.empty() ? 1 : sm_.tiles_of(program.tiles[at])};
    auto known = std::ranges::find(kinds, kind);
    if (known == kinds.end()) {
      kinds.push_back(kind);
      leaders_.push_back(place);
      streams_.push_back(stream_of(place));
      if (!program.tiles.empty())
        for (std::size_t i = 0; i < program.loops.size(); ++i)
          if (program.loops[i].is_tiles) streams_.back().step[i] = stride / program.tiles[at].stride;
      known = kinds.end() - 1;
    }
    ++streams_[static_cast<std::size_t>(known - kinds.begin())].warps;
    stream_of_place_.push_back(static_cast<std::uint16_t>(known - kinds.begin()));
    cta_instructions_ += streams_[stream_of_place_.back()].total;
  }
  int deepest = 0;
  for (const DecodedLoop& loop : program.loops) deepest = std::max(deepest, loop.depth);
  levels_.resize(static_cast<std::size_t>(deepest) + 1);
  for (Level& level : levels_) level.most = static_cast<std::size_t>(rules_.moments);
  samples_ = cta_instructions_ * static_cast<double>(sm_.work_.ctas) > rules_.budget;
}

const FastForward::Stream& FastForward::stream(const Warp& warp) const {
  const std::size_t place = sm_.id_of(warp) - sm_.slots_[warp.cta].first_warp;
  return streams_[stream_of_place_[place]];
}

// The loop of that depth in which the warp is, -1: none.
int FastForward::loop_at(const Warp& warp, int depth) const {
  int loop = sm_.program_.innermost[static_cast<std::size_t>(warp.pc)];
  while (loop >= 0 && sm_.program_.loops[static_cast<std::size_t>(loop)].depth > depth)
    loop = sm_.program_.loops[static_cast<std::size_t>(loop)].parent;
  return loop >= 0 && sm_.program_.loops[static_cast<std::size_t>(loop)].depth == depth ? loop : -1;
}

bool FastForward::is_live(const Warp& warp) const {
  return sm_.slots_[warp.cta].running > 0 && (sm_.subs_[warp.sub].live >> warp.bit & 1u) != 0;
}

bool FastForward::is_blocked(const Warp& warp) const { return (sm_.subs_[warp.sub].blocked >> warp.bit & 1u) != 0; }

// Instructions that the warp has executed since its CTA started.
double FastForward::position(const Warp& warp) const {
  const Stream& of = stream(warp);
  if (!is_live(warp)) return of.total;
  double sum = of.offset[static_cast<std::size_t>(warp.pc)];
  for (int loop = sm_.program_.innermost[static_cast<std::size_t>(warp.pc)]; loop >= 0;
       loop = sm_.program_.loops[static_cast<std::size_t>(loop)].parent)
    sum += warp.trips[static_cast<std::size_t>(loop)] * of.length[static_cast<std::size_t>(loop)];
  return sum;
}

// --- Steady state: all running CTAs are inside loops of one depth.

// Which CTAs run in which loops; nothing where one of them is in none, but for warps that wait.
FastForward::RunningSet FastForward::running_set(int depth) const {
  RunningSet out;
  Fingerprint set;
  for (const CtaSlot& slot : sm_.slots_) {
    set(1);
    if (slot.running == 0) continue;
    bool any = false;
    for (const int place : leaders_) {
      const Warp& warp = sm_.warps_[static_cast<std::size_t>(slot.first_warp + place)];
      if (!is_live(warp)) continue;
      const int loop = loop_at(warp, depth);
      if (loop < 0 && !is_blocked(warp)) return {};
      set(static_cast<std::uint64_t>(loop + 2));
      if (loop < 0) continue;
      any = true;
      const Stream& of = stream(warp);
      const auto at = static_cast<std::size_t>(loop);
      ++out.streams;
      out.instructions += of.length[at] * of.warps;
      out.iterations = std::min(out.iterations, of.count[at]);
    }
    if (!any) return {};
  }
  out.key = set.value();
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
  restart(static_cast<std::size_t>(sm_.program_.loops[static_cast<std::size_t>(loop)].depth));
}

void FastForward::cta_starts() { restart(1); }

void FastForward::iteration_begins(const Warp& warp, int loop, std::uint64_t now) {
  const int place = static_cast<int>(sm_.id_of(warp)) - sm_.slots_[warp.cta].first_warp;
  if (std::ranges::find(leaders_, place) == leaders_.end()) return;
  const int depth = sm_.program_.loops[static_cast<std::size_t>(loop)].depth;
  if (warp.trips[static_cast<std::size_t>(loop)] == 1) return restart(static_cast<std::size_t>(depth));
  const RunningSet running = running_set(depth);
  if (running.streams == 0) return;
  if (repeat(depth, now)) return;
  if (!samples_) return;
  Level& level = levels_[static_cast<std::size_t>(depth)];
  const auto turn = static_cast<std::int64_t>(multiple());
  const std::int64_t few = std::max<std::int64_t>(rules_.window, turn);
  const auto wanted = static_cast<std::int64_t>(rules_.share * rules_.budget / running.instructions);
  const std::int64_t window = std::max(few, std::min(wanted, running.iterations / 8)) * running.streams;
  Rate& rate = level.rates[running.key];
  const std::int64_t settle = (rules_.settle + (turn > 1 ? turn : 0)) * running.streams;
  if (++level.seen < settle) return;
  if (level.seen == settle) level.mark = mark(now);
  if (level.seen == settle || (level.seen - settle) % window != 0) return;
  close_window(level, rate, now);
  if (is_known(rate) && skip(depth, rate)) restart(static_cast<std::size_t>(depth));
}

// --- Rates.

FastForward::Mark FastForward::mark(std::uint64_t now) {
  Mark out{now + sm_.skipped_, 0, 0, std::vector<double>(sm_.slots_.size()), sm_.counted()};
  out.instructions = out.count.warp_instructions;
  out.backlog = std::max(0.0, sm_.write_port_free_ - static_cast<double>(now));
  for (const Warp& warp : sm_.warps_)
    if (sm_.slots_[warp.cta].running > 0) out.position[warp.cta] += position(warp);
  return out;
}

void FastForward::close_window(Level& level, Rate& rate, std::uint64_t now) {
  Mark here = mark(now);
  Window window{static_cast<double>(here.time - level.mark.time), here.instructions - level.mark.instructions,
                here.backlog - level.mark.backlog, here.position, here.count};
  for (std::size_t i = 0; i < window.advanced.size(); ++i) window.advanced[i] -= level.mark.position[i];
  window.count += level.mark.count * -1.0;
  rate.windows.push_back(std::move(window));
  level.mark = std::move(here);
}

// The mean of all windows, or of the later half of them, once it is known well enough or the budget is spent.
bool FastForward::is_known(Rate& rate) const {
  const std::size_t all = rate.windows.size(), least = static_cast<std::size_t>(rules_.windows);
  const bool spent = sm_.stepped_instructions() > rules_.budget;
  if (all < (spent ? 2 : least)) return rate.known;
  for (const std::size_t used : {all, (all + 1) / 2}) {
    if (used < least && !spent) break;
    double sum = 0, squares = 0;
    for (std::size_t i = all - used; i < all; ++i) {
      const double each = rate.windows[i].cycles / rate.windows[i].instructions;
      sum += each;
      squares += each * each;
    }
    const auto n = static_cast<double>(used);
    const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean) * n / (n - 1);
    if (2 * std::sqrt(variance / n) > rules_.agreement * mean && !spent && !rate.known) continue;
    rate.known = true;
    rate.sum = rate.windows[all - used];
    for (std::size_t i = all - used + 1; i < all; ++i) {
      const Window& more = rate.windows[i];
      rate.sum.cycles += more.cycles;
      rate.sum.instructions += more.instructions;
      rate.sum.backlog += more.backlog;
      rate.sum.count += more.count;
      for (std::size_t slot = 0; slot < more.advanced.size(); ++slot) rate.sum.advanced[slot] += more.advanced[slot];
    }
    return true;
  }
  return rate.known;
}

// --- Skipping.

// Iterations of a CTA come in multiples of this: whole turns of the rings of its barriers.
std::uint64_t FastForward::multiple() const {
  std::uint64_t out = 1;
  for (const DecodedRing& ring : sm_.program_.rings) out = std::lcm(out, std::uint64_t{ring.count});
  return out;
}

void FastForward::pass(std::uint64_t cycles, double instructions, const CoreCounters& count) {
  sm_.skipped_ += cycles;
  sm_.skipped_instructions_ += instructions;
  sm_.count_ += count;
}

// The rest of a rate's windows, so many times over. What is written may come faster than it can leave.
void FastForward::pass_sampled(const Rate& rate, double share) {
  if (rate.sum.backlog > 0) sm_.write_port_free_ += rate.sum.backlog * share;
  pass(cycles_of(rate, share), rate.sum.instructions * share, rate.sum.count * share);
}

std::uint64_t FastForward::cycles_of(const Rate& rate, double share) {
  return static_cast<std::uint64_t>(std::llround(share * rate.sum.cycles));
}

void FastForward::advance(Warp& warp, int loop, std::int64_t iterations) {
  const DecodedLoop& of = sm_.program_.loops[static_cast<std::size_t>(loop)];
  warp.trips[static_cast<std::size_t>(loop)] += static_cast<std::int32_t>(iterations);
  if (sm_.program_.async.empty()) return;
  const Stream& lengths = stream(warp);
  for (std::int32_t at = of.begin; at <= of.branch; ++at) {
    const int async = sm_.program_.code[static_cast<std::size_t>(at)].async;
    if (async < 0) continue;
    const DecodedAsync& op = sm_.program_.async[static_cast<std::size_t>(async)];
    std::int64_t steps = op.advances ? 1 : 0;
    if (op.kind == kernels::AsyncKind::skip) steps += sm_.work_.trips;
    if (steps == 0) continue;
    for (int inner = sm_.program_.innermost[static_cast<std::size_t>(at)]; inner != loop;
         inner = sm_.program_.loops[static_cast<std::size_t>(inner)].parent)
      steps *= lengths.count[static_cast<std::size_t>(inner)];
    warp.async.walk[sm_.program_.rings[op.ring].walk] += static_cast<std::uint32_t>(steps * iterations);
  }
}

// The barriers of a CTA, of which a warp has gone so far along each walk.
void FastForward::advance_barriers(std::size_t slot, const std::array<std::uint32_t, 4>& walked) {
  for (const DecodedRing& ring : sm_.program_.rings)
    for (std::uint32_t i = 0; i < ring.count; ++i)
      sm_.async_.barriers[slot][static_cast<std::size_t>(ring.first) + i].completed += walked[ring.walk] / ring.count;
}

// Skips as many iterations as leave each CTA some to go.
bool FastForward::skip(int depth, const Rate& rate) {
  const std::size_t slots = sm_.slots_.size();
  std::vector<double> length(slots, 0);  // instructions of a unit, of all warps of the CTA
  std::vector<double> left(slots, -1);   // units
  for (const Warp& warp : sm_.warps_) {
    if (!is_live(warp)) continue;
    const int loop = loop_at(warp, depth);
    if (loop < 0) {
      if (!is_blocked(warp)) return false;
      continue;
    }
    const Stream& of = stream(warp);
    const auto at = static_cast<std::size_t>(loop);
    length[warp.cta] += of.length[at] * static_cast<double>(of.step[at]);
    const double units =
        static_cast<double>(of.count[at] - 1 - rules_.margin - warp.trips[at]) / static_cast<double>(of.step[at]);
    left[warp.cta] = left[warp.cta] < 0 ? std::max(0.0, units) : std::clamp(units, 0.0, left[warp.cta]);
  }
  double instructions = -1;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (left[slot] < 0 || rate.sum.advanced[slot] <= 0) continue;
    const double until = left[slot] * length[slot] / rate.sum.advanced[slot] * rate.sum.instructions;
    if (instructions < 0 || until < instructions) instructions = until;
  }
  const auto turn = static_cast<double>(multiple());
  std::vector<std::int64_t> units(slots, 0);
  double passed = 0;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (left[slot] < 0 || rate.sum.advanced[slot] <= 0) continue;
    const double wanted = instructions * rate.sum.advanced[slot] / rate.sum.instructions / length[slot];
    units[slot] = static_cast<std::int64_t>(std::min(std::round(wanted / turn), std::floor(left[slot] / turn)) * turn);
    passed += static_cast<double>(units[slot]) * length[slot];
  }
  if (passed <= 0) return false;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (units[slot] == 0) continue;
    std::array<std::uint32_t, 4> walked{};
    for (int place = 0; place < sm_.program_.warps; ++place) {
      Warp& warp = sm_.warps_[static_cast<std::size_t>(sm_.slots_[slot].first_warp + place)];
      const int loop = is_live(warp) ? loop_at(warp, depth) : -1;
      if (loop < 0) continue;
      const auto before = warp.async.walk;
      advance(warp, loop, units[slot] * stream(warp).step[static_cast<std::size_t>(loop)]);
      for (std::size_t i = 0; i < before.size(); ++i) walked[i] = std::max(walked[i], warp.async.walk[i] - before[i]);
    }
    advance_barriers(slot, walked);
  }
  const double share = passed / rate.sum.instructions;
  pass_sampled(rate, share);
  return true;
}

// --- Recurrence.

bool FastForward::repeat(int depth, std::uint64_t now) {
  Level& level = levels_[static_cast<std::size_t>(depth)];
  if (sm_.scoreboard_ || level.used == level.most) return false;
  const std::uint64_t print = sm_.fingerprint(now, depth);
  const Moment* before = nullptr;
  for (std::size_t i = level.used; i-- > 0 && before == nullptr;)
    if (level.moments[i].print == print) before = &level.moments[i];
  std::vector<std::int32_t> iterations;
  for (const CtaSlot& slot : sm_.slots_)
    for (const int place : leaders_) {
      const Warp& warp = sm_.warps_[static_cast<std::size_t>(slot.first_warp + place)];
      const int loop = is_live(warp) ? loop_at(warp, depth) : -1;
      iterations.push_back(loop < 0 ? 0 : warp.trips[static_cast<std::size_t>(loop)]);
    }
  if (before == nullptr) {
    if (level.moments.size() == level.used) level.moments.emplace_back();
    Moment& moment = level.moments[level.used++];
    moment = {print, now + sm_.skipped_, sm_.launched_, sm_.finished_, std::move(iterations), sm_.counted()};
    return false;
  }
  const auto each = [&](const Warp& warp) {
    const std::size_t place = sm_.id_of(warp) - sm_.slots_[warp.cta].first_warp;
    const std::size_t at = warp.cta * leaders_.size() + stream_of_place_[place];
    return std::int64_t{iterations[at]} - before->iterations[at];
  };
  std::int64_t periods = -1;
  for (const Warp& warp : sm_.warps_) {
    const int loop = is_live(warp) ? loop_at(warp, depth) : -1;
    if (loop < 0 || each(warp) <= 0) continue;
    const auto at = static_cast<std::size_t>(loop);
    const std::int64_t possible = (stream(warp).count[at] - 1 - warp.trips[at]) / each(warp);
    if (periods < 0 || possible < periods) periods = possible;
  }
  if (periods < 1) return false;
  for (std::size_t slot = 0; slot < sm_.slots_.size(); ++slot) {
    if (sm_.slots_[slot].running == 0) continue;
    std::array<std::uint32_t, 4> walked{};
    for (int place = 0; place < sm_.program_.warps; ++place) {
      Warp& warp = sm_.warps_[static_cast<std::size_t>(sm_.slots_[slot].first_warp + place)];
      const int loop = is_live(warp) ? loop_at(warp, depth) : -1;
      if (loop < 0) continue;
      const auto before_it = warp.async.walk;
      advance(warp, loop, each(warp) * periods);
      for (std::size_t i = 0; i < before_it.size(); ++i)
        walked[i] = std::max(walked[i], warp.async.walk[i] - before_it[i]);
    }
    if (!sm_.program_.rings.empty()) advance_barriers(slot, walked);
  }
  CoreCounters period = sm_.counted();
  period += before->count * -1.0;
  pass((now + sm_.skipped_ - before->time) * static_cast<std::uint64_t>(periods),
       period.warp_instructions * static_cast<double>(periods), period * static_cast<double>(periods));
  restart(static_cast<std::size_t>(depth));
  return true;
}

// --- The grid: CTA after CTA in each slot.

void FastForward::ctas_have_started(std::uint64_t now) { repeat_ctas(now); }

bool FastForward::repeat_ctas(std::uint64_t now) {
  Level& level = levels_.front();
  if (sm_.scoreboard_ || level.used == level.most) return false;
  const std::uint64_t print = sm_.fingerprint(now, 0);
  const Moment* before = nullptr;
  for (std::size_t i = level.used; i-- > 0 && before == nullptr;)
    if (level.moments[i].print == print) before = &level.moments[i];
  if (before == nullptr) {
    if (level.moments.size() == level.used) level.moments.emplace_back();
    level.moments[level.used++] = {print, now + sm_.skipped_, sm_.launched_, sm_.finished_, {}, sm_.counted()};
    return false;
  }
  const std::int64_t each = sm_.launched_ - before->launched, left = sm_.ctas_ - sm_.launched_;
  if (each <= 0 || left < each) return false;
  const std::int64_t periods = left / each;
  CoreCounters period = sm_.counted();
  period += before->count * -1.0;
  sm_.replace_ctas(each * periods, (now + sm_.skipped_ - before->time) * static_cast<std::uint64_t>(periods));
  pass((now + sm_.skipped_ - before->time) * static_cast<std::uint64_t>(periods),
       period.warp_instructions * static_cast<double>(periods), period * static_cast<double>(periods));
  level.used = 0;
  return true;
}

// Whole generations have ended, each as many CTAs as are resident. Behind the first window, in which all start
// together, they are measured.
void FastForward::cta_ends(std::uint64_t now) {
  if (!samples_ || sm_.finished_ % sm_.work_.resident != 0) return;
  Level& level = levels_.front();
  const std::int64_t resident = sm_.work_.resident;
  const auto generations =
      std::max<std::int64_t>(1, std::min(static_cast<std::int64_t>(rules_.share * rules_.budget /
                                                                   (cta_instructions_ * static_cast<double>(resident))),
                                         sm_.work_.ctas / resident / 8));
  if (++level.seen % generations != 0) return;
  if (level.seen == generations) {
    level.mark = mark(now);
    return;
  }
  Rate& rate = level.rates[0];
  close_window(level, rate, now);
  const std::int64_t more = (sm_.ctas_ - sm_.launched_ - 1) / resident * resident;
  if (more <= 0 || !is_known(rate)) return;
  const double share = static_cast<double>(more) * cta_instructions_ / rate.sum.instructions;
  sm_.replace_ctas(more, cycles_of(rate, share));
  pass_sampled(rate, share);
  level.used = 0;
}

}  // namespace noteg::sm
