#include "sim/sm/units/async_units.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/sm/machine.hpp"

namespace noteg::sm {
namespace {

using kernels::AsyncKind;

// Of the cycles of shared memory: where multiplications read in each of them, a wavefront still comes through so often
// (H200M, products_beside: LDS, STS and LDS.128 beside m64n64 take 68 cycles more a wavefront).
constexpr double least_room = 1.0 / 68;

std::uint64_t whole(double cycles) { return static_cast<std::uint64_t>(std::max(0.0, cycles) + 0.5); }

}  // namespace

AsyncUnits::AsyncUnits(Machine& sm, const arch::SmSpec& spec)
    : sm_(sm),
      tma_(spec.tma),
      sector_(spec.memory.sector.value),
      shared_width_(std::max(1.0, spec.memory.data_width.value)) {
  if (sm.program.async.empty()) return;
  const std::size_t slots = sm.slots();
  state_.barriers.resize(slots);
  state_.groups.resize(slots * groups_per_cta());
  if (sm.program.turns.empty()) return;
  const auto warps = static_cast<std::size_t>(sm.program.warps),
             barriers = static_cast<std::size_t>(sm.program.barriers);
  state_.turned.assign(slots * warps * sm.program.turns.size(), 0);
  state_.unseen.assign(slots * warps * barriers, 0);
  waits_.assign(warps * barriers, 0);
  for (const DecodedAsync& op : sm.program.async) {
    if (op.kind != AsyncKind::wait || op.turns < 0) continue;
    const kernels::BarrierTurns& by_warp = sm.program.turns[static_cast<std::size_t>(op.turns)];
    for (std::size_t warp = 0; warp < by_warp.size() && warp < warps; ++warp)
      for (const kernels::BarrierTurn& turn : by_warp[warp].turns)
        if (turn.ring >= 0 && turn.consumes)
          waits_[warp * barriers +
                 static_cast<std::size_t>(sm.program.rings[static_cast<std::size_t>(turn.ring)].first)] = 1;
  }
}

std::size_t AsyncUnits::unseen_at(const Warp& warp, int barrier) const {
  const auto barriers = static_cast<std::size_t>(sm_.program.barriers);
  return static_cast<std::size_t>(sm_.id_of(warp)) * barriers + static_cast<std::size_t>(barrier);
}

const kernels::WarpTurns& AsyncUnits::turns_of(const Warp& warp, const DecodedAsync& op) const {
  return sm_.program.turns[static_cast<std::size_t>(op.turns)][static_cast<std::size_t>(sm_.place_of(warp))];
}

std::size_t AsyncUnits::turn_at(const Warp& warp, const DecodedAsync& op) const {
  return static_cast<std::size_t>(sm_.id_of(warp)) * sm_.program.turns.size() + static_cast<std::size_t>(op.turns);
}

// What the warp's next execution of the instruction concerns.
kernels::BarrierTurn AsyncUnits::turn_of(const Warp& warp, const DecodedAsync& op) const {
  const auto& turns = turns_of(warp, op).turns;
  return turns.empty() ? kernels::BarrierTurn{} : turns[state_.turned[turn_at(warp, op)]];
}

void AsyncUnits::take_turn(const Warp& warp, const DecodedAsync& op) {
  const auto& [turns, repeats_from] = turns_of(warp, op);
  std::uint16_t& at = state_.turned[turn_at(warp, op)];
  if (++at >= turns.size()) at = static_cast<std::uint16_t>(repeats_from);
}

void AsyncUnits::reset_turns(std::size_t slot) {
  if (sm_.program.turns.empty()) return;
  for (const Warp& warp : sm_.warps_of(slot)) {
    const auto id = static_cast<std::size_t>(sm_.id_of(warp)), kinds = sm_.program.turns.size();
    std::fill_n(state_.turned.begin() + static_cast<std::ptrdiff_t>(id * kinds), kinds, std::uint16_t{0});
    for (const DecodedRing& ring : sm_.program.rings)
      unseen(warp, ring.first) =
          ring.starts_complete && waits_[unseen_at(warp, ring.first) % waits_.size()] != 0 ? 1 : 0;
  }
}

std::uint8_t AsyncUnits::ring_of(const Warp& warp, const DecodedAsync& op) const {
  return op.turns < 0 ? op.ring : static_cast<std::uint8_t>(std::max<int>(0, turn_of(warp, op).ring));
}

void AsyncUnits::reset(std::size_t slot) {
  if (sm_.program.async.empty()) return;
  state_.barriers[slot].assign(static_cast<std::size_t>(sm_.program.barriers), PhaseBarrier{});
  reset_turns(slot);
  for (std::size_t g = 0; g < groups_per_cta(); ++g) state_.groups[slot * groups_per_cta() + g] = {};
}

std::size_t AsyncUnits::groups_per_cta() const {
  return static_cast<std::size_t>((sm_.program.warps + warps_per_group - 1) / warps_per_group);
}

std::size_t AsyncUnits::group_of(const Warp& warp) const {
  return warp.cta * groups_per_cta() + static_cast<std::size_t>(sm_.place_of(warp) / warps_per_group);
}

int AsyncUnits::barrier_of(const Warp& warp, const DecodedAsync& op) const {
  const DecodedRing& ring = sm_.program.rings[ring_of(warp, op)];
  if (op.turns >= 0) return ring.first;
  const std::uint32_t at = warp.async.walk[ring.walk] - op.places_back;
  return ring.first + static_cast<int>(at % ring.count);
}

std::uint32_t AsyncUnits::phase_of(const Warp& warp, const DecodedAsync& op) const {
  const DecodedRing& ring = sm_.program.rings[static_cast<std::size_t>(op.ring)];
  return warp.async.walk[ring.walk] / ring.count + op.rounds_ahead;
}

Stall AsyncUnits::why_blocked(const Warp& warp) const {
  const DecodedInstruction& in = *warp.next;
  const auto& barriers = state_.barriers[warp.cta];
  if (warp.async.sync_barrier >= 0) {
    const PhaseBarrier& held = barriers[static_cast<std::size_t>(warp.async.sync_barrier)];
    return held.completed < warp.async.sync_phase ? Stall::barrier : Stall::selected;
  }
  if (in.async < 0) return Stall::selected;
  const DecodedAsync& op = sm_.program.async[static_cast<std::size_t>(in.async)];
  if (op.kind == AsyncKind::wait && op.turns >= 0) {
    const kernels::BarrierTurn turn = turn_of(warp, op);
    if (turn.ring < 0 || !turn.consumes) return Stall::selected;
    const DecodedRing& ring = sm_.program.rings[static_cast<std::size_t>(turn.ring)];
    if (state_.unseen[unseen_at(warp, ring.first)] > 0) return Stall::selected;
    return op.by_design ? Stall::by_design : Stall::async_copy;
  }
  if (op.kind == AsyncKind::wait) {
    const PhaseBarrier& held = barriers[static_cast<std::size_t>(barrier_of(warp, op))];
    if (held.completed >= phase_of(warp, op)) return Stall::selected;
    return op.by_design ? Stall::by_design : Stall::async_copy;
  }
  if (op.kind == AsyncKind::matmul) return has_room(warp) ? Stall::selected : Stall::math_pipe;
  if (op.kind == AsyncKind::matmul_wait) {
    const std::uint32_t open = warp.async.groups - state_.groups[group_of(warp)].groups_ended;
    return open > op.groups ? Stall::math_pipe : Stall::selected;
  }
  return Stall::selected;
}

void AsyncUnits::issue(Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now) {
  const DecodedAsync& op = sm_.program.async[static_cast<std::size_t>(in.async)];
  const bool does_nothing = op.turns >= 0 && turn_of(warp, op).ring < 0;
  if (op.kind == AsyncKind::fence) sm_.load_store.fence(warp, id, in, !does_nothing, now);
  if (does_nothing) return take_turn(warp, op);
  const bool takes_part = !op.one_warp || sm_.place_of(warp) % warps_per_group == 0;
  if (takes_part) act(warp, id, op, now);
  if (op.turns >= 0) take_turn(warp, op);
  if (op.advances) ++warp.async.walk[sm_.program.rings[static_cast<std::size_t>(op.ring)].walk];
}

void AsyncUnits::act(Warp& warp, std::uint16_t id, const DecodedAsync& op, std::uint64_t now) {
  switch (op.kind) {
    case AsyncKind::arrive:
      if (!op.not_first || op.loop < 0 || sm_.done_of(warp, op.loop) > 0) arrive(warp, op, now);
      break;
    case AsyncKind::sync:
      warp.async.sync_barrier = barrier_of(warp, op);
      warp.async.sync_phase =
          op.turns >= 0 ? barrier(warp.cta, warp.async.sync_barrier).filled + 1 : phase_of(warp, op);
      arrive(warp, op, now);
      break;
    case AsyncKind::load_box: load_box(warp, op, now); break;
    case AsyncKind::store_box: store_box(warp, id, op, now); break;
    case AsyncKind::arrive_copied: arrive_copied(warp, op, now); break;
    case AsyncKind::matmul:
      ++warp.async.matmuls;
      if (op.closes_group) ++warp.async.groups;
      begin_matmul(warp, op, now);
      break;
    case AsyncKind::commit: commit(warp, op, now); break;
    case AsyncKind::skip:
      warp.async.walk[sm_.program.rings[static_cast<std::size_t>(op.ring)].walk] +=
          static_cast<std::uint32_t>(sm_.work.iterations);
      break;
    case AsyncKind::wait:
      if (op.turns >= 0 && turn_of(warp, op).consumes) --unseen(warp, barrier_of(warp, op));
      break;
    case AsyncKind::fence:
    case AsyncKind::matmul_wait: break;
  }
}

// Closes the warp's group of copies, whose end arrives for it or is what the phase waits for beside arrivals.
void AsyncUnits::arrive_copied(Warp& warp, const DecodedAsync& op, std::uint64_t now) {
  const auto at = static_cast<std::uint16_t>(barrier_of(warp, op));
  const kernels::BarrierTurn turn = op.turns >= 0 ? turn_of(warp, op) : kernels::BarrierTurn{};
  barrier(warp.cta, at).open_boxes += turn.boxes;
  warp.async.arrives[warp.group_open % max_groups] = {at, ring_of(warp, op), turn.arrivals, true};
  warp.group[++warp.group_open % max_groups] = 0;
  const std::uint16_t head = warp.group_head;
  retire_groups(warp);
  groups_ended(warp, head, now);
}

void AsyncUnits::groups_ended(Warp& warp, std::uint16_t first, std::uint64_t now) {
  for (; first != warp.group_head; ++first) {
    const auto [at, ring, arrivals, arrives] = std::exchange(warp.async.arrives[first % max_groups], {});
    if (!arrives) continue;
    barrier(warp.cta, at).arrived += arrivals;
    barrier(warp.cta, at).open_boxes -= arrivals == 0;
    complete_phase(warp.cta, ring, at, now);
  }
}

void AsyncUnits::arrive(const Warp& warp, const DecodedAsync& op, std::uint64_t now) {
  const std::uint8_t of = ring_of(warp, op);
  const DecodedRing& ring = sm_.program.rings[of];
  const int at = barrier_of(warp, op);
  const kernels::BarrierTurn turn = op.turns >= 0 ? turn_of(warp, op) : kernels::BarrierTurn{};
  barrier(warp.cta, at).open_boxes += op.boxes + turn.boxes;
  if (ring.arrival_delay > 0) {
    for (int i = 0; i < turn.arrivals; ++i)
      sm_.events.post(now + ring.arrival_delay, {EventKind::phase_arrival, of, warp.cta, at});
  } else {
    barrier(warp.cta, at).arrived += turn.arrivals;
    complete_phase(warp.cta, of, at, now);
  }
}

// Arrives when all multiplications so far have ended; the tensor cores take them in order.
void AsyncUnits::commit(const Warp& warp, const DecodedAsync& op, std::uint64_t now) {
  const DecodedRing& ring = sm_.program.rings[static_cast<std::size_t>(op.ring)];
  const std::uint64_t end = std::max(now, state_.matmul_free) + whole(op.latency) + ring.arrival_delay;
  sm_.events.post(std::max(now + 1, end), {EventKind::phase_arrival, op.ring, warp.cta, barrier_of(warp, op)});
}

void AsyncUnits::complete_phase(std::uint16_t slot, std::uint8_t ring, int at, std::uint64_t now) {
  PhaseBarrier& state = barrier(slot, at);
  const DecodedRing& of = sm_.program.rings[ring];
  if (state.arrived < of.arrivals || state.open_boxes > 0) return;
  state.arrived = 0;
  ++state.filled;
  sm_.events.post(now + std::max<std::uint64_t>(1, of.latency), {EventKind::phase_complete, ring, slot, at});
}

void AsyncUnits::handle(const Event& event, std::uint64_t now) {
  switch (event.kind) {
    case EventKind::phase_arrival:
      ++barrier(event.warp, event.pc).arrived;
      complete_phase(event.warp, event.counter, event.pc, now);
      break;
    case EventKind::box_arrival:
      --barrier(event.warp, event.pc).open_boxes;
      complete_phase(event.warp, event.counter, event.pc, now);
      break;
    case EventKind::phase_complete:
      ++barrier(event.warp, event.pc).completed;
      if (!waits_.empty())
        for (const Warp& warp : sm_.warps_of(event.warp))
          if (waits_[unseen_at(warp, event.pc) % waits_.size()] != 0) ++unseen(warp, event.pc);
      for (Warp& warp : sm_.warps_of(event.warp))
        if (sm_.is_blocked(warp)) sm_.check_blocked(warp, now);
      break;
    case EventKind::matmul_begun:
    case EventKind::matmul_group_ended: {
      if (event.kind == EventKind::matmul_group_ended) ++state_.groups[event.warp].groups_ended;
      const std::size_t first = event.warp % groups_per_cta() * warps_per_group;
      for (Warp& warp : sm_.warps_of(event.warp / groups_per_cta()).subspan(first, warps_per_group)) {
        sm_.wake(warp.sub, now);
        if (sm_.is_blocked(warp)) sm_.check_blocked(warp, now);
      }
      break;
    }
    default: break;
  }
}

// A box comes through the SM's share of the way from L2, after the boxes before it; its descriptor is read once. Boxes
// of C, or of queries, lie in no other CTA's tile: they wait for what brings C too.
void AsyncUnits::load_box(const Warp& warp, const DecodedAsync& op, std::uint64_t now) {
  const auto box = static_cast<std::size_t>(op.box);
  const BoxTraffic& traffic = sm_.traffic.port().boxes[box];
  const bool of_c = op.box == kernels::BoxOf::c;
  const double share = of_c ? op.bytes : 1;  // of C, traffic.bytes is the part of a box that lies inside
  const double bytes = traffic.bytes > 0 ? traffic.bytes * share : op.bytes;
  const MemoryPort& port = sm_.traffic.port();
  // L2 gives each part once, and the SM's port takes them all (H200M: CUTLASS by clusters of two, 36 and 48 B a cycle).
  const double of_l2 = port.read_bytes_per_cycle, of_port = std::max(of_l2, port.read_burst_bytes_per_cycle);
  const double asked = std::max(bytes / op.copiers / of_l2, bytes / of_port);
  const double cycles = traffic.cycles > 0 ? traffic.cycles : asked;
  double start = static_cast<double>(now);
  if (!state_.descriptor_known[box]) {
    state_.descriptor_known[box] = true;
    start += tma_.descriptor_latency.value;
  }
  double passed = sm_.traffic.load_box(start, cycles);
  if (of_c) passed = std::max(passed, sm_.traffic.read_c(start, bytes));
  sm_.count.read_sectors += bytes / sector_;
  const double latency = (of_c && port.c_latency > 0 ? port.c_latency : port.latency) + tma_.latency.value;
  if (sm_.observer.listens())
    sm_.observer.use(RecordedUnit::bulk_copy, sm_.id_of(warp), warp.pc, whole(passed - cycles), whole(passed),
                     whole(passed + latency));
  const double alone = std::min(cycles, bytes / port.read_burst_bytes_per_cycle);  // what a fence waits for
  if (sm_.program.has_fences) sm_.ctas.expect_answer(warp.cta, whole(passed - cycles + alone + latency));
  sm_.events.post(std::max(now + 1, whole(passed + latency)),
                  {EventKind::box_arrival, ring_of(warp, op), warp.cta, barrier_of(warp, op)});
}

// The box is read as it leaves the SM, and its place in shared memory is free again behind that (H100M, bulk_store: 72
// cycles; H200M, box_store: through a tensor map 193). The kernel ends when it has reached L2.
void AsyncUnits::store_box(Warp& warp, std::uint16_t id, const DecodedAsync& op, std::uint64_t now) {
  const BoxTraffic& traffic = sm_.traffic.port().boxes[static_cast<std::size_t>(op.box)];
  const double share = traffic.bytes > 0 ? traffic.bytes : 1;  // of the box that lies inside C
  const double bytes = op.bytes * share;
  sm_.count.write_sectors += bytes / sector_;
  sm_.count.shared_bytes += op.bytes;
  sm_.count.shared_wavefronts += op.bytes / shared_width_;
  const double passed = sm_.traffic.send(static_cast<double>(now) + op.latency, bytes);
  state_.stores_end = std::max(state_.stores_end, whole(passed + sm_.traffic.port().latency) + sm_.skipped());
  ++warp.group[warp.group_open % max_groups];
  sm_.events.post(std::max(now + 1, whole(passed)),
                  {EventKind::async_done, static_cast<std::uint8_t>(warp.group_open % max_groups), id});
}

// The tensor cores take multiplications of all warpgroups in the order in which they come (H200M, compiled/loops: two
// groups that begin together end one multiplication apart). One that reads more from shared memory than its columns
// take cycles is held up by that. Its result can be read some time after the last of the group.
void AsyncUnits::begin_matmul(const Warp& warp, const DecodedAsync& op, std::uint64_t now) {
  const std::size_t index = group_of(warp);
  Warpgroup& group = state_.groups[index];
  const auto first = static_cast<std::size_t>(sm_.id_of(warp) - sm_.place_of(warp) % warps_per_group);
  for (std::size_t i = 0; op.issuers > 1 && i < warps_per_group; ++i) {
    if (sm_.warps[first + i].async.matmuls <= group.begun) return;  // one of the four is still to come
  }
  ++group.begun;
  const double reading = op.bytes / shared_width_;
  const std::uint64_t start = std::max(now, state_.matmul_free), end = start + whole(op.cycles + op.latency);
  state_.matmul_free = start + whole(std::max(op.cycles, reading));
  state_.room = std::max(least_room, 1 - reading / std::max(op.cycles, reading));
  sm_.pipes.multiply_until(state_.matmul_free);
  if (sm_.observer.listens())
    sm_.observer.use(RecordedUnit::warpgroup, sm_.id_of(warp), warp.pc, start, state_.matmul_free, end);
  sm_.count.tensor_cycles += op.cycles * warps_per_group;
  sm_.count.tensor_macs[op.tensor_kind] += op.macs;
  sm_.count.shared_bytes += op.bytes;
  sm_.count.shared_wavefronts += reading;
  sm_.events.post(now + 1, {EventKind::matmul_begun, 0, static_cast<std::uint16_t>(index)});
  if (op.closes_group) sm_.events.post(end, {EventKind::matmul_group_ended, 0, static_cast<std::uint16_t>(index)});
}

void AsyncUnits::advance(std::size_t slot, const std::array<std::uint32_t, max_walks>& walked) {
  for (const DecodedRing& ring : sm_.program.rings)
    for (std::uint32_t i = 0; i < ring.count; ++i)
      barrier(slot, ring.first + static_cast<int>(i)).completed += walked[ring.walk] / ring.count;
}

// Places in the rings count from who is furthest along their walk, of those that walk it.
void AsyncUnits::hash_cta(StateHash& add, std::size_t slot) const {
  const auto warps = sm_.warps_of(slot);
  const auto follows = [&](const Warp& warp, std::size_t walk) {
    return sm_.is_live(warp) && sm_.program.walks[static_cast<std::size_t>(sm_.place_of(warp))][walk];
  };
  std::array<std::uint32_t, max_walks> furthest{};
  for (const Warp& warp : warps)
    for (std::size_t i = 0; i < furthest.size(); ++i)
      if (follows(warp, i)) furthest[i] = std::max(furthest[i], warp.async.walk[i]);
  const std::vector<PhaseBarrier>& barriers = state_.barriers[slot];
  const std::size_t kinds = sm_.program.turns.size();
  for (const DecodedRing& ring : sm_.program.rings) {
    const std::uint32_t at = furthest[ring.walk];
    add(at % ring.count);
    for (std::uint32_t i = 0; i < ring.count; ++i) {
      const auto& [completed, filled, arrived, open_boxes] = barriers[static_cast<std::size_t>(ring.first) + i];
      add(kinds == 0 ? completed - at / ring.count : filled - completed);
      add(static_cast<std::uint64_t>(arrived) << 32 | static_cast<std::uint32_t>(open_boxes));
    }
  }
  for (const Warp& warp : warps) {
    if (!sm_.is_live(warp)) continue;
    const auto& [walk, matmuls, groups, sync_barrier, sync_phase, arrives] = warp.async;
    for (std::uint16_t at = warp.group_head; at != warp.group_open; ++at) arrives[at % max_groups].hash(add);
    for (std::size_t i = 0; i < walk.size(); ++i)
      if (follows(warp, i)) add(furthest[i] - walk[i]);
    const auto& [begun, groups_ended] = state_.groups[group_of(warp)];
    add(static_cast<std::uint64_t>(matmuls - begun) << 32 | (groups - groups_ended));
    for (std::size_t i = 0; i < kinds; ++i) add(state_.turned[static_cast<std::size_t>(sm_.id_of(warp)) * kinds + i]);
    for (const DecodedRing& ring : sm_.program.rings)
      if (kinds > 0) add(state_.unseen[unseen_at(warp, ring.first)]);
    add(static_cast<std::uint64_t>(sync_barrier + 1));
    if (sync_barrier >= 0) add(sync_phase - barriers[static_cast<std::size_t>(sync_barrier)].completed);
  }
}

void AsyncUnits::hash(StateHash& add) const {
  if (sm_.program.async.empty()) return;
  const auto& [barriers, groups, matmul_free, room, descriptor_known, stores_end, turned, unseen] = state_;
  for (std::size_t slot = 0; slot < barriers.size(); ++slot)
    if (sm_.ctas.is_running(slot)) hash_cta(add, slot);
  add.until(matmul_free);
  if (matmul_free > add.now()) add(std::bit_cast<std::uint64_t>(room));
  for (const bool known : descriptor_known) add(known ? 1 : 0);
  // `groups` goes with the warps; `turned` and `unseen` too, `stores_end` follows from the last store.
}

}  // namespace noteg::sm
