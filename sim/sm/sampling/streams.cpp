#include "sim/sm/sampling/streams.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/sm/machine.hpp"

namespace noteg::sm {

Streams::Streams(const Machine& sm) : sm_(sm) {
  const DecodedProgram& program = sm_.program;
  std::vector<std::pair<std::int32_t, std::int64_t>> kinds;
  int stride = 1;
  for (const TileShare& share : program.tiles) stride = std::lcm(stride, share.stride);
  constexpr std::int64_t never_met = 1 << 20;  // iterations: no loop is passed that far
  const auto takes_turns = [this](std::int64_t length) {
    if (length > 0 && turn_ < never_met) turn_ = std::lcm(turn_, length);
  };
  for (const DecodedRing& ring : program.rings) takes_turns(ring.count);
  for (const kernels::BarrierTurns& by_warp : program.turns)
    for (const auto& [turns, repeats_from] : by_warp)
      takes_turns(std::ssize(turns) - static_cast<std::int64_t>(repeats_from));
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
}

Streams::Stream Streams::stream_of(int place) const {
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

std::array<double, opcode_count> Streams::cta_issued() const {
  const DecodedProgram& program = sm_.program;
  std::array<double, opcode_count> out{};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    auto at = static_cast<std::size_t>(program.start[static_cast<std::size_t>(leaders_[i])]);
    for (; at < program.code.size(); ++at) {
      double times = streams_[i].warps;
      for (int loop = program.innermost[at]; loop >= 0; loop = program.loops[static_cast<std::size_t>(loop)].parent)
        times *= static_cast<double>(streams_[i].count[static_cast<std::size_t>(loop)]);
      out[program.code[at].opcode] += times;
      if (program.code[at].action == Action::exit && program.innermost[at] < 0) break;
    }
  }
  return out;
}

const Streams::Stream& Streams::of(const Warp& warp) const { return streams_[index_of(warp)]; }

int Streams::loop_at(const Warp& warp, int depth) const {
  const std::vector<DecodedLoop>& loops = sm_.program.loops;
  int loop = sm_.program.innermost[static_cast<std::size_t>(warp.pc)];
  while (loop >= 0 && loops[static_cast<std::size_t>(loop)].depth > depth)
    loop = loops[static_cast<std::size_t>(loop)].parent;
  return loop >= 0 && loops[static_cast<std::size_t>(loop)].depth == depth ? loop : -1;
}

double Streams::position(const Warp& warp) const {
  const Stream& stream = of(warp);
  if (!sm_.is_live(warp)) return stream.total;
  double sum = stream.offset[static_cast<std::size_t>(warp.pc)];
  for (int loop = sm_.program.innermost[static_cast<std::size_t>(warp.pc)]; loop >= 0;
       loop = sm_.program.loops[static_cast<std::size_t>(loop)].parent)
    sum += sm_.done_of(warp, loop) * stream.length[static_cast<std::size_t>(loop)];
  return sum;
}

std::size_t Streams::index_of(const Warp& warp) const {
  return stream_of_place_[static_cast<std::size_t>(sm_.place_of(warp))];
}

Streams::RunningSet Streams::running_set(int depth) const {
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
      const Stream& stream = of(warp);
      ++out.streams;
      out.instructions += stream.length[static_cast<std::size_t>(loop)] * stream.warps;
      out.iterations = std::min(out.iterations, stream.count[static_cast<std::size_t>(loop)]);
    }
    if (!any) return {};
  }
  out.key = key.value();
  return out;
}

double Streams::outside_loops(int depth) const {
  double inside = 0;
  for (const Warp& warp : sm_.warps) {
    const int loop = sm_.is_live(warp) ? loop_at(warp, depth) : -1;
    if (loop < 0) continue;
    const auto at = static_cast<std::size_t>(loop);
    inside += static_cast<double>(of(warp).count[at]) * of(warp).length[at];
  }
  return cta_instructions_ - inside / static_cast<double>(sm_.ctas.size());
}

Streams::Phases Streams::phases_of(std::size_t stream, int loop) const {
  const DecodedProgram& program = sm_.program;
  Phases out{std::vector<double>(program.rings.size()), std::vector<double>(program.rings.size())};
  const DecodedLoop& around = program.loops[static_cast<std::size_t>(loop)];
  for (std::int32_t at = around.begin; at <= around.branch; ++at) {
    const int async = program.code[static_cast<std::size_t>(at)].async;
    if (async < 0 || program.async[static_cast<std::size_t>(async)].turns < 0) continue;
    const DecodedAsync& op = program.async[static_cast<std::size_t>(async)];
    const bool waits = op.kind == kernels::AsyncKind::wait || op.kind == kernels::AsyncKind::sync;
    const bool arrives = op.kind == kernels::AsyncKind::arrive || op.kind == kernels::AsyncKind::arrive_copied ||
                         op.kind == kernels::AsyncKind::sync;
    double executions = 1;
    for (int inner = program.innermost[static_cast<std::size_t>(at)]; inner != loop;
         inner = program.loops[static_cast<std::size_t>(inner)].parent)
      executions *= static_cast<double>(streams_[stream].count[static_cast<std::size_t>(inner)]);
    for (int place = 0; place < program.warps; ++place) {
      if (stream_of_place_[static_cast<std::size_t>(place)] != stream) continue;
      const auto& [turns, from] = program.turns[static_cast<std::size_t>(op.turns)][static_cast<std::size_t>(place)];
      const double share = executions / static_cast<double>(turns.size() - from);
      for (std::size_t i = from; i < turns.size(); ++i) {
        if (turns[i].ring < 0) continue;
        const auto ring = static_cast<std::size_t>(turns[i].ring);
        if (waits && turns[i].consumes && place == leaders_[stream]) out.waits[ring] += share;
        if (arrives) out.arrivals[ring] += share * turns[i].arrivals;
      }
    }
  }
  return out;
}

// Unknown are the iterations of each stream in a unit, and the phases of each ring. From one stream on, what a ring
// makes known follows until nothing more does.
std::vector<std::int64_t> Streams::steps_of(const std::vector<int>& loops) const {
  constexpr double most = 64;
  std::vector<Phases> phases(loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (loops[i] >= 0) phases[i] = phases_of(i, loops[i]);
  std::vector<double> iterations(loops.size(), 0);
  const auto first = std::ranges::find_if(loops, [](int loop) { return loop >= 0; });
  if (first == loops.end()) return std::vector<std::int64_t>(loops.size(), 1);
  iterations[static_cast<std::size_t>(first - loops.begin())] = 1;
  for (bool any = true; any;) {
    any = false;
    const auto learn = [&](double& iterations_of, double value) {
      any = any || iterations_of == 0;
      if (iterations_of == 0) iterations_of = value;
    };
    for (std::size_t ring = 0; ring < sm_.program.rings.size(); ++ring) {
      double passed = 0, arrived = 0;
      std::size_t arriving = 0, unknown = 0, last = 0;
      for (std::size_t i = 0; i < loops.size(); ++i) {
        if (loops[i] < 0) continue;
        if (iterations[i] > 0 && phases[i].waits[ring] > 0) passed = iterations[i] * phases[i].waits[ring];
        if (phases[i].arrivals[ring] == 0) continue;
        ++arriving;
        arrived += iterations[i] * phases[i].arrivals[ring];
        if (iterations[i] == 0) ++unknown, last = i;
      }
      const double count = sm_.program.rings[ring].arrivals;
      if (passed == 0 && arriving > 0 && unknown == 0) passed = arrived / count;
      if (passed == 0) continue;
      for (std::size_t i = 0; i < loops.size(); ++i)
        if (loops[i] >= 0 && phases[i].waits[ring] > 0) learn(iterations[i], passed / phases[i].waits[ring]);
      if (unknown == 1 && iterations[last] == 0 && passed * count > arrived)
        learn(iterations[last], (passed * count - arrived) / phases[last].arrivals[ring]);
    }
  }
  for (double& each : iterations)
    if (each == 0) each = 1;
  const auto is_whole = [](double v) { return v > 0.5 && std::abs(v - std::round(v)) < 1e-6; };
  for (double times = 1; times <= most; ++times) {
    if (!std::ranges::all_of(iterations, [&](double each) { return is_whole(times * each); })) continue;
    std::vector<std::int64_t> out;
    for (const double each : iterations) out.push_back(std::llround(times * each));
    return out;
  }
  return std::vector<std::int64_t>(loops.size(), 1);
}

const std::vector<std::int64_t>& Streams::steps(std::size_t slot, int depth) {
  std::vector<int> loops;
  for (const int place : leaders_) {
    const Warp& warp = sm_.warps_of(slot)[static_cast<std::size_t>(place)];
    loops.push_back(sm_.is_live(warp) ? loop_at(warp, depth) : -1);
  }
  std::vector<std::int64_t>& known = steps_[loops];
  if (!known.empty()) return known;
  known.assign(loops.size(), 1);
  if (!sm_.program.turns.empty()) return known = steps_of(loops);
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (loops[i] >= 0) known[i] = streams_[i].step[static_cast<std::size_t>(loops[i])];
  return known;
}

void Streams::advance(Warp& warp, int loop, std::int64_t iterations) const {
  const DecodedLoop& around = sm_.program.loops[static_cast<std::size_t>(loop)];
  warp.iterations[static_cast<std::size_t>(around.depth)] += static_cast<std::int32_t>(iterations);
  for (std::int32_t at = around.begin; at <= around.branch && !sm_.program.async.empty(); ++at) {
    const int async = sm_.program.code[static_cast<std::size_t>(at)].async;
    if (async < 0) continue;
    const DecodedAsync& op = sm_.program.async[static_cast<std::size_t>(async)];
    std::int64_t steps = op.advances ? 1 : 0;
    if (op.kind == kernels::AsyncKind::skip) steps += sm_.work.iterations;
    for (int inner = sm_.program.innermost[static_cast<std::size_t>(at)]; inner != loop;
         inner = sm_.program.loops[static_cast<std::size_t>(inner)].parent)
      steps *= of(warp).count[static_cast<std::size_t>(inner)];
    if (steps > 0) warp.async.walk[sm_.program.rings[op.ring].walk] += static_cast<std::uint32_t>(steps * iterations);
  }
}

}  // namespace noteg::sm
