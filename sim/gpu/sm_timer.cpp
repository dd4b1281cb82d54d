#include "sim/gpu/sm_timer.hpp"

#include <algorithm>

namespace noteg::gpu {

namespace {

// shared: trips of the runs that rounds are taken from, and the two numbers of trips whose difference says what a
// further trip costs.
constexpr std::int64_t short_trips = 10;
constexpr std::int64_t few_trips = 18;  // up to here nothing is saved by extending
constexpr std::int64_t settled_trips = 32;
constexpr std::int64_t long_trips = 56;
constexpr std::int64_t long_trip = 256;  // instructions of a warp, inner loops among them
constexpr int deep_trip = 32;            // K of a trip of FP32 kernels that is several trips of others, unrolled

// Rounds of CTAs: the first fills the SM, the second starts staggered, later ones repeat. Beyond `stepped` rounds the
// last `period` of them are taken as one period.
struct Rounds {
  std::int64_t stepped, period;
};
constexpr Rounds shared_rounds{4, 2};
// Rounds in those runs: CTAs of one round start together and stay in step, later ones are spread over the trip.
constexpr std::int64_t drifted_rounds = 3;

// What is stepped through of one run before periods are passed over that are but nearly equal, as work of the simulator
// (below): some 6 ms. A judgement, made on 53 costly kernels and shapes and put to the proof on 330 others.
constexpr double stepped_with_patience = 1.5e5;

// What an instruction costs the simulator: a memory instruction passes queue, front and counters, and what keeps the
// pipe of most others busy for two cycles costs these cycles.
std::int64_t work_of(const sm::DecodedInstruction& in, const arch::SmSpec& sm) {
  constexpr std::int64_t of_access = 5;
  if (in.memory >= 0) return of_access;
  return in.action == sm::Action::fma && sm.pipes.fma.lanes < 32 ? 2 : 1;
}

}  // namespace

SmTime blend(const SmTime& a, const SmTime& b, double f) {
  SmTime out;
  out.cycles = a.cycles + (b.cycles - a.cycles) * f;
  out.counters = a.counters * (1.0 - f);
  out.counters += b.counters * f;
  out.simulated_cycles = a.simulated_cycles + b.simulated_cycles;
  out.simulated_warp_instructions = a.simulated_warp_instructions + b.simulated_warp_instructions;
  out.deadlock = a.deadlock || b.deadlock;
  out.emptied_together = std::min(a.emptied_together, b.emptied_together);
  return out;
}

void add(SmTime& sum, const SmTime& part, double factor) {
  sum.cycles += part.cycles * factor;
  sum.counters += part.counters * factor;
  sum.simulated_cycles += part.simulated_cycles;
  sum.simulated_warp_instructions += part.simulated_warp_instructions;
  sum.deadlock = sum.deadlock || part.deadlock;
}

SmTimer::SmTimer(sm::DecodedProgram program, arch::SmSpec sm, sm::CoreSwitches switches, int k_per_trip)
    : program_(std::move(program)), sm_(std::move(sm)), k_per_trip_(k_per_trip), switches_(switches) {
  std::vector<std::int64_t> times(program_.code.size(), 1);
  const auto in_main = [this](std::int32_t at) {
    return at >= program_.mainloop_begin && at < program_.epilogue_begin;
  };
  const auto end = static_cast<std::int32_t>(program_.code.size());
  for (std::int32_t at = 0; at < end; ++at) {
    const sm::DecodedInstruction& in = program_.code[static_cast<std::size_t>(at)];
    if (in.action != sm::Action::branch || in.loop < 0) continue;
    const sm::DecodedLoop& loop = program_.loops[static_cast<std::size_t>(in.loop)];
    if (loop.is_main || loop.is_tiles) continue;
    if (in_main(at)) ++inner_loops_;
    for (std::int32_t inside = in.target; inside <= at; ++inside) times[static_cast<std::size_t>(inside)] *= loop.trips;
  }
  for (std::int32_t at = 0; at < end; ++at) {
    const auto i = static_cast<std::size_t>(at);
    (in_main(at) ? trip_length_ : around_length_) += times[i];
    if (in_main(at)) trip_work_ += times[i] * work_of(program_.code[i], sm_);
  }
}

sm::SmResult SmTimer::watch(const sm::MemoryEnvironment& environment, sm::SmWork work, sm::Recorder& recorder) const {
  work.recorder = &recorder;
  work.skip_periodic = false;
  return sm::run_sm(program_, sm_, switches_, environment, work);
}

SmTime SmTimer::run(const sm::MemoryEnvironment& environment, const sm::SmWork& work) {
  const Key key{environment, work};
  Done* done = nullptr;
  {
    const std::lock_guard lock(mutex_);
    done = &done_[key];
  }
  std::call_once(done->once, [&] {
    const sm::SmResult result = sm::run_sm(program_, sm_, switches_, environment, work);
    done->time = {result.cycles,         result.counters,
                  result.stepped_cycles, result.stepped_warp_instructions,
                  result.deadlock,       result.emptied_together,
                  result.cta_cycles,     result.cta_counters,
                  result.flow,           result.ctas};
  });
  return done->time;
}

double SmTimer::instructions_of(const sm::SmWork& work) const {
  const auto of_warp = static_cast<double>(work.tiles * (work.trips * trip_length_ + around_length_));
  return of_warp * program_.warps * static_cast<double>(work.ctas);
}

// One run until the throughput of CTAs is steady, which gives the cost of a further one; what their beginning and end
// cost is in the run.
SmTime SmTimer::sampled(const sm::MemoryEnvironment& environment, sm::SmWork work) {
  work.sample_ctas = true;
  SmTime out = run(environment, work);
  if (out.ctas == work.ctas) return out;
  const auto more = static_cast<double>(work.ctas - out.ctas);
  out.cycles += out.cta_cycles * more;
  // What a CTA executes is the same for all; how long its warps wait is that of the steady state.
  sm::CoreCounters each = out.counters * (1.0 / static_cast<double>(out.ctas));
  each.stall_cycles = out.cta_counters.stall_cycles;
  each.stall_cycles[static_cast<std::size_t>(sm::Stall::selected)] = each.warp_instructions;
  out.counters += each * more;
  return out;
}

// Of few rounds one run; of many two of fewer that tell the rest.
SmTime SmTimer::over_rounds(const sm::MemoryEnvironment& environment, const sm::SmWork& work, Grade grade) {
  if (grade == Grade::periodic) return sampled(environment, work);
  if (work.ctas <= shared_rounds.stepped * work.resident) return run(environment, work);
  sm::SmWork fewer = work;
  fewer.ctas = (shared_rounds.stepped - shared_rounds.period) * work.resident + work.ctas % work.resident;
  sm::SmWork more = fewer;
  more.ctas += shared_rounds.period * work.resident;
  const auto from = static_cast<double>(fewer.ctas), until = static_cast<double>(more.ctas);
  return blend(run(environment, fewer), run(environment, more),
               (static_cast<double>(work.ctas) - from) / (until - from));
}

// What the trips beyond short_trips cost `ctas` CTAs, `times` times over.
SmTime SmTimer::further_trips(const sm::MemoryEnvironment& environment, const sm::SmWork& work, std::int64_t ctas,
                              double times) {
  sm::SmWork round = work;
  round.ctas = ctas;
  round.trips = settled_trips;
  const SmTime a = run(environment, round);
  round.trips = long_trips;
  const SmTime b = run(environment, round);
  const double factor = times * static_cast<double>(work.trips - short_trips) / (long_trips - settled_trips);
  SmTime out = blend(a, b, 1.0 + factor);
  out.cycles -= b.cycles;
  out.counters += b.counters * -1.0;
  return out;
}

// Long main loops take a time that is linear in their depth: two of a few depths, each twice the one before, share runs
// between shapes.
SmTime SmTimer::by_depth(const sm::MemoryEnvironment& environment, const sm::SmWork& work) {
  sm::SmWork brief = work;
  brief.skip_periodic = true;
  brief.trips = sm::flow_trips(program_);
  while (brief.trips * 2 <= work.trips) brief.trips *= 2;
  const std::int64_t depth = brief.trips;
  const SmTime a = over_rounds(environment, brief, Grade::periodic);
  if (work.trips == depth) return a;
  brief.trips *= 2;
  const SmTime b = over_rounds(environment, brief, Grade::periodic);
  return blend(a, b, static_cast<double>(work.trips - depth) / static_cast<double>(depth));
}

SmTime SmTimer::shared(const sm::MemoryEnvironment& environment, const sm::SmWork& work) {
  if (flows(work)) return by_depth(environment, work);
  if (work.trips <= few_trips) return over_rounds(environment, work, Grade::shared);
  // Trips with loops inside, unrolled or not, repeat what a dozen short ones would.
  const bool unrolled = k_per_trip_ >= deep_trip && program_.tensor.empty();
  if (trip_length_ >= long_trip && (inner_loops_ > 0 || unrolled)) return spread(environment, work);
  sm::SmWork brief = work;
  brief.trips = short_trips;
  SmTime out = over_rounds(environment, brief, Grade::shared);
  const std::int64_t full = std::min<std::int64_t>(work.resident, work.ctas);
  const std::int64_t together = std::min(work.ctas / full, drifted_rounds);
  const double times = static_cast<double>(work.ctas / full) / static_cast<double>(together);
  add(out, further_trips(environment, work, together * full, times), 1);
  if (work.ctas % full > 0) add(out, further_trips(environment, work, work.ctas % full, 1), 1);
  return out;
}

// Tiles of a persistent CTA: the first fills the pipeline, later ones repeat, two by two where consumers take turns.
SmTime SmTimer::over_tiles(const sm::MemoryEnvironment& environment, const sm::SmWork& work, Grade grade) {
  constexpr std::int64_t stepped = 4, period = 2;
  if (work.tiles <= stepped) return over_rounds(environment, work, grade);
  sm::SmWork fewer = work;
  fewer.tiles = stepped - period + work.tiles % period;
  const SmTime a = run(environment, fewer);
  const std::int64_t first = fewer.tiles;
  fewer.tiles += period;
  return blend(a, run(environment, fewer), static_cast<double>(work.tiles - first) / static_cast<double>(period));
}

// Kernels of bulk copies repeat with the ring of their stages; 36 trips are whole turns of 2, 3, 4, 6, 9 and 12 stages.
SmTime SmTimer::of_boxes(const sm::MemoryEnvironment& environment, const sm::SmWork& work) {
  constexpr std::int64_t turn = 36;
  if (work.trips <= 2 * turn) return over_tiles(environment, work, Grade::periodic);
  sm::SmWork fewer = work;
  fewer.trips = turn + work.trips % turn;
  const SmTime a = over_tiles(environment, fewer, Grade::periodic);
  const double turns = static_cast<double>(work.trips - fewer.trips) / static_cast<double>(turn);
  fewer.trips += turn;
  return blend(a, over_tiles(environment, fewer, Grade::periodic), turns);
}

// The work of a kernel without bulk copies as a grade steps through it.
sm::SmWork SmTimer::graded(sm::SmWork work, Grade grade) const {
  work.skip_periodic = grade == Grade::periodic;
  if (!work.skip_periodic) return work;
  const auto work_of_trip = static_cast<double>(std::max<std::int64_t>(1, trip_work_));
  work.patience = stepped_with_patience * static_cast<double>(trip_length_) / work_of_trip;
  work.haste = 2 * work.patience;
  return work;
}

SmTime SmTimer::time(const sm::MemoryEnvironment& environment, const sm::SmWork& work, Grade grade) {
  if (grade == Grade::periodic && instructions_of(work) <= sampling_budget) return run(environment, work);
  if (!program_.async.empty()) {
    if (grade == Grade::exact) return run(environment, work);
    return grade >= Grade::search ? rough_boxes(environment, work) : of_boxes(environment, work);
  }
  const sm::SmWork stepped = graded(work, grade);
  switch (grade) {
    case Grade::exact: return run(environment, stepped);
    case Grade::periodic: return over_rounds(environment, stepped, grade);
    case Grade::shared: return shared(environment, stepped);
    case Grade::search: return has_quick_rate(work) ? by_quick_rate(environment, stepped) : rough(environment, stepped);
    case Grade::rough: return rough(environment, stepped);
  }
  return {};
}

}  // namespace noteg::gpu
