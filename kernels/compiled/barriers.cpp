#include "kernels/compiled/barriers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/ir/tensor_form.hpp"

namespace noteg::compiled {
namespace {

using kernels::AsyncKind;

constexpr std::size_t most_rings = 200;
constexpr double assumed_box = 16384;  // bytes: 128 rows of 128, the widest that 128-byte swizzles write

AsyncKind kind_of(ActKind kind) {
  switch (kind) {
    case ActKind::arrive_copied: return AsyncKind::arrive_copied;
    case ActKind::wait: return AsyncKind::wait;
    case ActKind::load: return AsyncKind::load_box;
    case ActKind::store: return AsyncKind::store_box;
    case ActKind::fence: return AsyncKind::fence;
    case ActKind::named_sync: return AsyncKind::sync;
    case ActKind::arrive:
    case ActKind::named_arrive:
    case ActKind::init:
    case ActKind::nothing: break;
  }
  return AsyncKind::arrive;
}

// The shortest way to write the turns: some that come once, and a period that has been seen twice. (A stage is often
// given back one iteration later, so that the first has none to give back.)
void keep_one_period(kernels::WarpTurns& warp) {
  const std::vector<kernels::BarrierTurn>& turns = warp.turns;
  std::size_t shortest = turns.size();
  for (std::size_t period = 1; period < shortest; ++period) {
    std::size_t first = turns.size() - period;  // from here on each is as the one a period later
    while (first > 0 && turns[first - 1] == turns[first - 1 + period]) --first;
    if (first + period >= shortest || (first > 0 && first + 2 * period > turns.size())) continue;
    shortest = first + period;
    warp.repeats_from = first;
  }
  warp.turns.resize(shortest);
}

// Multiplications of a warpgroup, and waiting for them.
void add_multiplications(AsyncPlan& plan, const EmulatedCode& code, bool whole_groups) {
  for (std::size_t i = 0; i < code.steps.size() && whole_groups; ++i) {
    const Instruction& in = *code.steps[i].in;
    kernels::AsyncOp op;
    if (const auto form = kernels::tensor_form_from(timed_as(in), in.modifiers); form && form->warp_group) {
      op.kind = AsyncKind::matmul;
      op.n = form->shape.n;
      op.a_in_registers = in.operands > 1 && in.operand[1].kind == Kind::reg && in.operand[1].index != zero_register;
      op.closes_group = in.text.find("gsb0") != std::string_view::npos;
    } else if (in.base == "WARPGROUP" && in.has("DEPBAR")) {
      op.kind = AsyncKind::matmul_wait;
      for (std::size_t o = 0; o < in.operands; ++o)
        if (in.operand[o].kind == Kind::integer)
          op.groups = static_cast<int>(std::clamp<std::int64_t>(in.operand[o].value, 0, 64));
    } else {
      continue;
    }
    plan.ops[static_cast<std::int32_t>(i)] = op;
  }
}

}  // namespace

// A wait for parity p ends when the number of complete phases is odd for p = 0 and even for p = 1.
bool BarrierLog::consumes(Barrier& barrier, int warp, std::int64_t parity) const {
  const auto [at, is_first] = barrier.seen.try_emplace(warp, 0u);
  if (parity < 0) return true;
  const bool is_complete = (at->second & 1) != static_cast<std::uint32_t>(parity);
  if (!is_complete) {
    ++at->second;
    return true;
  }
  if (is_first) barrier.starts_complete = true;
  return is_first;
}

std::uint32_t BarrierLog::note(int warp, const AsyncAct& act) {
  Instruction& in = instructions_[act.at];
  if (act.kind != ActKind::nothing) in.kind = act.kind;
  Use use{act.kind, act.barrier, act.arrivals, act.expects, true};
  if (act.kind == ActKind::load || act.kind == ActKind::store) {
    in.executions += 1;
    in.bytes += static_cast<double>(act.copy.bytes);
    in.has_map = in.has_map || act.copy.bytes > 0;
    in.peers = act.copy.peers;
  }
  if (act.barrier >= 0 && act.kind != ActKind::nothing && act.kind != ActKind::store) {
    Barrier& barrier = barriers_[act.barrier];
    const bool is_named = act.kind == ActKind::named_sync || act.kind == ActKind::named_arrive;
    if (act.kind == ActKind::init && act.value > 0) barrier.count = act.value;
    if (is_named) barrier.count = std::max<std::int64_t>(1, act.value / 32);
    if (act.arrivals > 0) barrier.arrives[warp] += act.arrivals;
    barrier.arrivals += act.arrivals;
    barrier.of_peers = barrier.of_peers || act.of_peer;
    if (act.expects) {
      barrier.expects += std::popcount(act.lanes);
      if (act.value > 0) barrier.expected = act.value;
      barrier.awaited += static_cast<double>(act.value * std::popcount(act.lanes));
    }
    if (act.kind == ActKind::load) {
      barrier.copies += 1;
      (act.copy.peers > 1 ? barrier.shared : barrier.own) += static_cast<double>(act.copy.bytes * act.copy.peers);
    }
    if (act.kind == ActKind::wait) {
      use.consumes = act.barrier == cluster_barrier || consumes(barrier, warp, act.value);
      barrier.waits += 1;
    }
  }
  std::vector<Use>& uses = in.uses[warp];
  if (uses.size() < longest) uses.push_back(use);
  const std::int64_t detail = act.kind == ActKind::wait ? act.value : act.lanes;
  const auto [at, is_new] = numbers_.try_emplace({act.kind, act.at, act.barrier, detail, act.copy.peers},
                                                 static_cast<std::uint32_t>(numbers_.size()));
  if (is_new) last_.emplace_back();
  last_[at->second] = {act.at, use};
  return at->second;
}

void BarrierLog::repeat(int warp, const std::vector<std::uint32_t>& numbers, std::int64_t times) {
  bool goes_on = !numbers.empty();
  for (std::int64_t i = 0; i < times && goes_on; ++i) {
    goes_on = false;
    for (const std::uint32_t number : numbers) {
      const auto& [at, use] = last_[number];
      std::vector<Use>& uses = instructions_[at].uses[warp];
      if (uses.size() >= longest) continue;
      uses.push_back(use);
      goes_on = true;
    }
  }
}

void BarrierLog::add_rings(AsyncPlan& plan, std::map<std::int32_t, int>& rings) const {
  for (const auto& [address, barrier] : barriers_) {
    // Nobody waits there: nothing is held up.
    const bool is_named = address >= named_barriers && address < cluster_barrier;
    if ((!is_named && barrier.waits == 0) || barrier.arrivals <= 0 || rings.size() >= most_rings) continue;
    kernels::BarrierRing ring;
    ring.is_hardware = address >= named_barriers;
    ring.across_cluster = address == cluster_barrier || barrier.of_peers;
    ring.starts_complete = barrier.starts_complete;
    ring.arrivals = static_cast<int>(barrier.count);
    if (address == cluster_barrier) ring.arrivals = static_cast<int>(warps_);
    if (ring.arrivals <= 0) {
      double most = 0;
      for (const auto& [warp, phases] : barrier.seen) most = std::max<double>(most, phases);
      ring.arrivals = std::max(1, static_cast<int>(std::lround(barrier.arrivals / std::max(1.0, most))));
      plan.assumptions.push_back(fmt::format(
          "barrier at {:#x} of shared memory: nothing says how many arrivals complete its phase; taken as {}", address,
          ring.arrivals));
    }
    rings[address] = static_cast<int>(plan.rings.size());
    plan.rings.push_back(ring);
  }
}

kernels::BarrierTurns BarrierLog::turns_of(const Instruction& in, const std::map<std::int32_t, int>& rings) const {
  kernels::BarrierTurns out(warps_);
  for (const auto& [warp, uses] : in.uses) {
    kernels::WarpTurns& of_warp = out[static_cast<std::size_t>(warp)];
    for (const Use& use : uses) {
      kernels::BarrierTurn turn;
      const auto ring = rings.find(use.barrier);
      turn.arrivals = static_cast<std::uint8_t>(std::clamp(use.arrivals, 0, 255));
      turn.consumes = use.consumes;
      if (use.kind == ActKind::store || use.kind == ActKind::fence) turn.ring = 0;
      if (use.kind == ActKind::arrive_copied && use.arrivals == 0) turn.boxes = 1;
      if (use.kind != ActKind::nothing && use.kind != ActKind::init && ring != rings.end()) {
        turn.ring = static_cast<std::int16_t>(ring->second);
        const Barrier& barrier = barriers_.at(use.barrier);
        if (use.expects)
          turn.boxes = static_cast<std::int16_t>(
              std::clamp(std::lround(barrier.copies / std::max(1.0, barrier.expects)), 0L, 1000L));
      }
      of_warp.turns.push_back(turn);
    }
    keep_one_period(of_warp);
  }
  return out;
}

// Where no map tells, a box holds its share of the bytes that its barrier expects.
double BarrierLog::box_bytes(const Instruction& in) const {
  if (in.has_map && in.executions > 0) return in.bytes / in.executions;
  for (const auto& [warp, uses] : in.uses) {
    for (const Use& use : uses) {
      const auto at = barriers_.find(use.barrier);
      if (at == barriers_.end() || at->second.expected <= 0) continue;
      const double boxes = std::max(1.0, std::round(at->second.copies / std::max(1.0, at->second.expects)));
      return static_cast<double>(at->second.expected) / (boxes * in.peers);
    }
  }
  return 0;
}

// What a barrier's copies bring together is what it expects. Where one CTA of a cluster copies for all, it receives
// that once; the others receive what they have not asked for, of which L2 gives each of the cluster a part.
BarrierLog::Received BarrierLog::received(const Instruction& in) const {
  double awaited = 0, own = 0, shared = 0;
  for (const auto& [warp, uses] : in.uses)
    for (const Use& use : uses)
      if (const auto at = barriers_.find(use.barrier); at != barriers_.end()) {
        awaited += at->second.awaited;
        own += at->second.own;
        shared += at->second.shared;
      }
  const double peers = in.peers;
  if (!in.has_map || awaited <= 0) return {1, peers};
  if (in.peers > 1 && shared > 0) return {std::clamp((awaited - own) / shared, 1 / peers, 1.0), peers};
  if (in.peers > 1 || shared > 0 || awaited <= own || cluster_ < 2) return {1, peers};
  return {awaited / own, awaited / (own + (awaited - own) / cluster_)};
}

double BarrierLog::share_of(const Instruction& in) {
  double all = 0, acting = 0;
  for (const auto& [warp, uses] : in.uses)
    for (const Use& use : uses) all += 1, acting += use.kind != ActKind::nothing ? 1 : 0;
  return all > 0 ? acting / all : 0;
}

AsyncPlan BarrierLog::plan(const EmulatedCode& code) const {
  AsyncPlan out;
  std::map<std::int32_t, int> rings;
  add_rings(out, rings);
  if (rings.empty()) out.rings.push_back({});  // what needs none still names one
  int boxes = 0;
  for (const auto& [at, in] : instructions_) {
    if (in.kind == ActKind::init || in.kind == ActKind::nothing) continue;
    kernels::AsyncOp op;
    op.kind = kind_of(in.kind);
    op.ring = 0;
    op.turns = static_cast<int>(out.turns.size());
    if (in.kind == ActKind::load || in.kind == ActKind::store) {
      const double told = box_bytes(in);
      AsyncPlan::Copies& copies = out.copies[at];
      copies = {told > 0 ? told : assumed_box, share_of(in)};
      const compiled::Instruction& text = *code.steps[static_cast<std::size_t>(at)].in;
      if (!in.has_map)
        out.assumptions.push_back(fmt::format(
            "/*{:04x}*/ {}: the launch file has no tensor map for it; a box of {:.0f} bytes{}", text.address, text.text,
            copies.bytes, told > 0 ? ", as its barrier expects" : ", as most have"));
      const Received what = received(in);
      op.bytes = copies.bytes * in.peers * what.share;
      op.copiers = what.copiers;
      op.box = in.kind == ActKind::store ? kernels::BoxOf::c : boxes++ % 2 == 0 ? kernels::BoxOf::a : kernels::BoxOf::b;
    }
    out.turns.push_back(turns_of(in, rings));
    out.ops[at] = op;
  }
  add_multiplications(out, code, warps_ % 4 == 0);
  return out;
}

}  // namespace noteg::compiled
