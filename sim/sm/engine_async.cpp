// Transaction barriers, bulk tensor copies and warpgroup multiplications (sm_90).
#include <algorithm>
#include <cmath>

#include "sim/sm/engine_state.hpp"

namespace noteg::sm {

namespace {

using kernels::AsyncKind;

std::uint64_t whole(double cycles) { return static_cast<std::uint64_t>(std::max(0.0, cycles) + 0.5); }

}  // namespace

void Engine::reset_async(int slot) {
  if (program_.async.empty()) return;
  const int groups = groups_per_cta();
  async_.barriers.resize(slots_.size());
  async_.groups.resize(slots_.size() * static_cast<std::size_t>(groups));
  async_.barriers[static_cast<std::size_t>(slot)].assign(static_cast<std::size_t>(program_.barriers), PhaseBarrier{});
  for (int g = 0; g < groups; ++g) async_.groups[static_cast<std::size_t>(slot * groups + g)] = {};
}

int Engine::groups_per_cta() const { return (program_.warps + warps_per_group - 1) / warps_per_group; }

std::size_t Engine::group_of(const Warp& warp) const {
  const int in_cta = static_cast<int>(id_of(warp)) - slots_[warp.cta].first_warp;
  return static_cast<std::size_t>(warp.cta * groups_per_cta() + in_cta / warps_per_group);
}

int Engine::barrier_of(const Warp& warp, const DecodedAsync& op) const {
  const DecodedRing& ring = program_.rings[static_cast<std::size_t>(op.ring)];
  const std::uint32_t at = warp.async.walk[ring.walk] - op.places_back;
  return ring.first + static_cast<int>(at % ring.count);
}

std::uint32_t Engine::phase_of(const Warp& warp, const DecodedAsync& op) const {
  const DecodedRing& ring = program_.rings[static_cast<std::size_t>(op.ring)];
  return warp.async.walk[ring.walk] / ring.count + op.rounds_ahead;
}

// What holds the warp's next instruction, where that is asynchronous.
Stall Engine::check_async(const Warp& warp, const DecodedInstruction& in) const {
  const auto& barriers = async_.barriers[warp.cta];
  if (warp.async.sync_barrier >= 0) {
    const PhaseBarrier& barrier = barriers[static_cast<std::size_t>(warp.async.sync_barrier)];
    return barrier.completed < warp.async.sync_phase ? Stall::barrier : Stall::selected;
  }
  if (in.async < 0) return Stall::selected;
  const DecodedAsync& op = program_.async[static_cast<std::size_t>(in.async)];
  if (op.kind == AsyncKind::wait) {
    const PhaseBarrier& barrier = barriers[static_cast<std::size_t>(barrier_of(warp, op))];
    if (barrier.completed >= phase_of(warp, op)) return Stall::selected;
    return op.by_design ? Stall::by_design : Stall::async_copy;
  }
  if (op.kind == AsyncKind::matmul_wait) {
    const std::uint32_t open = warp.async.groups - async_.groups[group_of(warp)].groups_ended;
    return open > op.groups ? Stall::math_pipe : Stall::selected;
  }
  return Stall::selected;
}

// One multiplication may wait behind another that has begun, no more.
std::uint64_t Engine::matmul_room(const Warp& warp) const {
  const WarpgroupState& group = async_.groups[group_of(warp)];
  return warp.async.matmuls == group.begun ? group.last_start : never;
}

void Engine::issue_async(Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now) {
  const DecodedAsync& op = program_.async[static_cast<std::size_t>(in.async)];
  switch (op.kind) {
    case AsyncKind::arrive:
      if (!op.not_first || op.loop < 0 || warp.trips[static_cast<std::size_t>(op.loop)] > 0) arrive(warp, op, now);
      break;
    case AsyncKind::sync:
      warp.async.sync_barrier = barrier_of(warp, op);
      warp.async.sync_phase = phase_of(warp, op);
      arrive(warp, op, now);
      break;
    case AsyncKind::load_box: load_box(warp, op, now); break;
    case AsyncKind::store_box:
      if (!op.one_warp || (id - slots_[warp.cta].first_warp) % warps_per_group == 0) store_box(warp, id, op, now);
      break;
    case AsyncKind::matmul:
      ++warp.async.matmuls;
      if (op.closes_group) ++warp.async.groups;
      begin_matmul(warp, op, now);
      break;
    case AsyncKind::skip:
      warp.async.walk[program_.rings[static_cast<std::size_t>(op.ring)].walk] +=
          static_cast<std::uint32_t>(work_.trips);
      break;
    case AsyncKind::wait:
    case AsyncKind::matmul_wait: break;
  }
  if (op.advances) ++warp.async.walk[program_.rings[static_cast<std::size_t>(op.ring)].walk];
}

void Engine::arrive(const Warp& warp, const DecodedAsync& op, std::uint64_t now) {
  const DecodedRing& ring = program_.rings[static_cast<std::size_t>(op.ring)];
  const int barrier = barrier_of(warp, op);
  async_.barriers[warp.cta][static_cast<std::size_t>(barrier)].open_boxes += op.boxes;
  if (ring.arrival_delay > 0) {
    events_.post(now + ring.arrival_delay, {EventKind::phase_arrival, op.ring, warp.cta, barrier});
  } else {
    ++async_.barriers[warp.cta][static_cast<std::size_t>(barrier)].arrived;
    complete_phase(warp.cta, op.ring, barrier, now);
  }
}

void Engine::complete_phase(std::uint16_t slot, std::uint8_t ring, int barrier, std::uint64_t now) {
  PhaseBarrier& state = async_.barriers[slot][static_cast<std::size_t>(barrier)];
  const DecodedRing& of = program_.rings[ring];
  if (state.arrived < of.arrivals || state.open_boxes > 0) return;
  state.arrived = 0;
  events_.post(now + std::max<std::uint64_t>(1, of.latency), {EventKind::phase_complete, ring, slot, barrier});
}

void Engine::handle_async(const Event& event, std::uint64_t now) {
  switch (event.kind) {
    case EventKind::phase_arrival:
      ++async_.barriers[event.warp][static_cast<std::size_t>(event.pc)].arrived;
      complete_phase(event.warp, event.counter, event.pc, now);
      break;
    case EventKind::box_arrival:
      --async_.barriers[event.warp][static_cast<std::size_t>(event.pc)].open_boxes;
      complete_phase(event.warp, event.counter, event.pc, now);
      break;
    case EventKind::phase_complete: {
      ++async_.barriers[event.warp][static_cast<std::size_t>(event.pc)].completed;
      for (int i = 0; i < program_.warps; ++i) {
        Warp& warp = warps_[static_cast<std::size_t>(slots_[event.warp].first_warp + i)];
        if ((subs_[warp.sub].blocked >> warp.bit & 1u) != 0) check_blocked(warp, now);
      }
      break;
    }
    case EventKind::matmul_begun:
    case EventKind::matmul_group_ended: {
      if (event.kind == EventKind::matmul_group_ended) ++async_.groups[event.warp].groups_ended;
      const auto per_cta = static_cast<std::uint16_t>(groups_per_cta());
      const int first = slots_[event.warp / per_cta].first_warp + event.warp % per_cta * warps_per_group;
      for (int i = 0; i < warps_per_group; ++i) {
        Warp& warp = warps_[static_cast<std::size_t>(first + i)];
        SubCore& sub = subs_[warp.sub];
        next_try(sub) = std::min(next_try(sub), now);
        if ((sub.blocked >> warp.bit & 1u) != 0) check_blocked(warp, now);
      }
      break;
    }
    default: break;
  }
}

// A box comes through the SM's share of the way from L2, after the boxes before it; its descriptor is read once.
void Engine::load_box(const Warp& warp, const DecodedAsync& op, std::uint64_t now) {
  const auto box = static_cast<std::size_t>(op.box);
  const BoxTraffic& traffic = env_.boxes[box];
  const double bytes = traffic.bytes > 0 ? traffic.bytes : op.bytes;
  const double cycles = traffic.cycles > 0 ? traffic.cycles : bytes / env_.read_bytes_per_cycle;
  double start = static_cast<double>(now);
  if (!async_.descriptor_known[box]) {
    async_.descriptor_known[box] = true;
    start += tma_.descriptor_latency.value;
  }
  read_port_free_ = std::max(read_port_free_, start) + cycles;
  count_.read_sectors += bytes / sector_;
  const double latency = env_.latency + tma_.latency.value;
  if (work_.recorder != nullptr)
    record_use(RecordedUnit::bulk_copy, static_cast<std::uint16_t>(id_of(warp)), warp.pc,
               whole(read_port_free_ - cycles), whole(read_port_free_), whole(read_port_free_ + latency));
  events_.post(std::max(now + 1, whole(read_port_free_ + latency)),
               {EventKind::box_arrival, op.ring, warp.cta, barrier_of(warp, op)});
}

// The staging buffer is free again when the box has been read; the kernel ends when the box has reached L2.
void Engine::store_box(Warp& warp, std::uint16_t id, const DecodedAsync& op, std::uint64_t now) {
  const BoxTraffic& traffic = env_.boxes[static_cast<std::size_t>(op.box)];
  const double share = traffic.bytes > 0 ? traffic.bytes : 1;  // of the box that lies inside C
  const double bytes = op.bytes * share;
  count_.write_sectors += bytes / sector_;
  count_.shared_bytes += op.bytes;
  count_.shared_wavefronts += op.bytes / shared_width_;
  const double read = static_cast<double>(now) + tma_.store_latency.value + op.bytes / shared_width_;
  write_port_free_ = std::max(write_port_free_, read) + bytes / env_.write_bytes_per_cycle;
  async_.stores_end = std::max(async_.stores_end, whole(write_port_free_ + env_.latency) + skipped_);
  ++warp.group[warp.group_open % max_groups];
  events_.post(std::max(now + 1, whole(read)),
               {EventKind::async_done, static_cast<std::uint8_t>(warp.group_open % max_groups), id});
}

// The tensor cores take one multiplication after another; one that reads more from shared memory than its columns
// take cycles is held up by that. Its result can be read some time after the last of the group.
void Engine::begin_matmul(Warp& warp, const DecodedAsync& op, std::uint64_t now) {
  const std::size_t index = group_of(warp);
  WarpgroupState& group = async_.groups[index];
  const auto first = id_of(warp) - (id_of(warp) - slots_[warp.cta].first_warp) % warps_per_group;
  for (std::size_t i = 0; i < warps_per_group; ++i) {
    if (warps_[first + i].async.matmuls <= group.begun) return;  // one of the four is still to come
  }
  ++group.begun;
  group.last_start = std::max(now, async_.matmul_free);
  const double reading = op.bytes / shared_width_;
  async_.matmul_free = group.last_start + whole(std::max(op.cycles, reading));
  if (work_.recorder != nullptr)
    record_use(RecordedUnit::warpgroup, static_cast<std::uint16_t>(id_of(warp)), warp.pc, group.last_start,
               async_.matmul_free, group.last_start + whole(op.cycles + op.latency));
  count_.tensor_cycles += op.cycles * warps_per_group;
  count_.tensor_macs[op.tensor_kind] += op.macs;
  count_.shared_bytes += op.bytes;
  count_.shared_wavefronts += reading;
  events_.post(now + 1, {EventKind::matmul_begun, 0, static_cast<std::uint16_t>(index)});
  if (op.closes_group) {
    events_.post(group.last_start + whole(op.cycles + op.latency),
                 {EventKind::matmul_group_ended, 0, static_cast<std::uint16_t>(index)});
  }
}

}  // namespace noteg::sm
