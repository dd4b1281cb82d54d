// The load/store path: queues of the sub-cores, the SM-wide front, and when data is there.
#include <algorithm>

#include "sim/sm/engine_state.hpp"

namespace noteg::sm {

void Engine::enqueue(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now) {
  const MemoryCost& cost = program_.memory[static_cast<std::size_t>(in.memory)];
  tally_.rf_reads += in.reads;
  if (scoreboard_ && cost.kind != MemoryKind::barrier) scoreboard_->issued(id, warp.pc, now);
  if (is_global(cost.kind)) {
    for (const int barrier : {in.write_barrier, in.read_barrier})
      if (barrier >= 0) warp.long_mask |= std::uint64_t{0xff} << (8 * barrier);
  }
  if (cost.kind == MemoryKind::async_copy) ++warp.group[warp.group_open % max_groups];
  const int tail = (sub.queue_head + sub.queue_size) % queue_ring;
  sub.queue[static_cast<std::size_t>(tail)] = {now,
                                               warp.pc,
                                               id,
                                               in.memory,
                                               in.write_barrier,
                                               in.read_barrier,
                                               static_cast<std::uint8_t>(warp.group_open % max_groups)};
  if (++sub.queue_size == 1) post_front(sub, now);
}

// LDC has a path of its own, beside queue and front: on our H200 two of them for each eight LDS cost nothing where LDS
// keep the front busy.
void Engine::load_constant(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in,
                           std::uint64_t now) {
  const MemoryCost& cost = program_.memory[static_cast<std::size_t>(in.memory)];
  tally_.rf_reads += in.reads;
  sub.pipe_free[static_cast<std::size_t>(Action::constant_load)] = now + constant_interval_;
  if (scoreboard_) {
    scoreboard_->issued(id, warp.pc, now);
    events_.post(now + cost.latency, {EventKind::registers_written, 0, id, warp.pc});
    events_.post(now + cost.read_release, {EventKind::registers_read, 0, id, warp.pc});
    return;
  }
  if (in.write_barrier >= 0)
    events_.post(now + cost.latency, {EventKind::release, static_cast<std::uint8_t>(in.write_barrier), id});
  if (in.read_barrier >= 0)
    events_.post(now + cost.read_release, {EventKind::release, static_cast<std::uint8_t>(in.read_barrier), id});
}

void Engine::post_front(SubCore& sub, std::uint64_t now) {
  const QueuedAccess& head = sub.queue[static_cast<std::size_t>(sub.queue_head)];
  const std::uint64_t at = std::max({head.issued + front_delay, sub.front_ready, now + 1});
  events_.post(at, {EventKind::front_arrival, 0, static_cast<std::uint16_t>(&sub - subs_.data())});
  // Sources that are read before the sub-core hands the access over do not wait for the SM-wide front.
  const int release = program_.memory[static_cast<std::size_t>(head.memory)].read_release;
  if (release <= front_delay) {
    post_read_release(head, std::max(now + 1, at + static_cast<std::uint64_t>(release) - front_delay));
  }
}

void Engine::post_read_release(const QueuedAccess& access, std::uint64_t at) {
  if (scoreboard_) {
    events_.post(at, {EventKind::registers_read, 0, access.warp, access.pc});
    return;
  }
  if (access.read_barrier < 0) return;
  events_.post(at, {EventKind::release, static_cast<std::uint8_t>(access.read_barrier), access.warp});
}

// Bank conflicts of L1 concern the accesses that find their data there, fills those that do not.
std::uint64_t Engine::front_cycles(const MemoryCost& cost) const {
  if (cost.kind != MemoryKind::load_global) return cost.front_cycles;
  const double hit = std::max<double>(cost.front_cycles, cost.l1_bank_cycles);
  return static_cast<std::uint64_t>(hit * env_.l1_hit_rate + cost.miss_cycles * (1.0 - env_.l1_hit_rate) + 0.5);
}

void Engine::arrive_at_front(int sub_index, std::uint64_t now) {
  front_queue_[static_cast<std::size_t>((front_head_ + front_size_++) % 16)] = static_cast<std::uint8_t>(sub_index);
  if (!front_posted_) serve_front(now);
}

void Engine::serve_front(std::uint64_t now) {
  if (front_size_ == 0) return;
  if (front_free_ > now) {
    front_posted_ = true;
    events_.post(front_free_, {EventKind::front_free, 0, 0});
    return;
  }
  SubCore& sub = subs_[front_queue_[static_cast<std::size_t>(front_head_)]];
  const QueuedAccess access = sub.queue[static_cast<std::size_t>(sub.queue_head)];
  const MemoryCost& cost = program_.memory[static_cast<std::size_t>(access.memory)];
  if (cost.requests != 0 && cost.kind != MemoryKind::store_global) {
    const std::uint64_t room_at = pending_.room_at(now, cost.requests);
    if (room_at > now) {
      front_free_ = room_at;
      return serve_front(now);
    }
  }
  front_head_ = (front_head_ + 1) % 16;
  --front_size_;
  passes_free_ = std::max(passes_free_, now) + front_cycles(cost);
  front_free_ = std::max(now + cost.address_cycles, passes_free_ - std::min(passes_free_, backlog_));
  count_.lsu_cycles += static_cast<double>(front_free_ - now);
  sub.front_ready = now + cost.sub_core_cycles;
  sub.queue_head = (sub.queue_head + 1) % queue_ring;
  sub.queueing = 0;
  if (sub.queue_size-- == queue_capacity_) {
    next_try(sub) = std::min(next_try(sub), now + 1);
    sub.pipe_free[static_cast<std::size_t>(Action::memory)] = now + 1;
    if (switches_.barriers) sub.pipe_free[static_cast<std::size_t>(Action::barrier)] = now + 1;
  }
  if (sub.queue_size > 0) post_front(sub, now);
  complete(sub, access, now);
  if (front_size_ > 0 && !front_posted_) serve_front(now);
}

void Engine::complete(SubCore& sub, const QueuedAccess& access, std::uint64_t now) {
  const MemoryCost& cost = program_.memory[static_cast<std::size_t>(access.memory)];
  if (cost.kind == MemoryKind::barrier) {
    // The barrier unit takes 16 threads a cycle (CPG; our H200: back-to-back BAR.SYNC cost 12.3 + 2 cycles per warp).
    const std::uint64_t arrives = std::max(now, barrier_free_);
    barrier_free_ = arrives + barrier_interval_;
    arrive_at_barrier(warps_[access.warp].cta, arrives);
    return;
  }
  count_.shared_wavefronts += cost.wavefronts;
  count_.shared_conflict_wavefronts += cost.conflict_wavefronts;
  if (cost.read_release > front_delay) post_read_release(access, now + cost.read_release - front_delay);
  const std::uint64_t ready = std::max(now + 1, data_ready(sub, cost, now));
  if (scoreboard_) {
    events_.post(ready, {EventKind::registers_written, 0, access.warp, access.pc});
  }
  if (access.write_barrier >= 0 && !scoreboard_) {
    events_.post(ready, {EventKind::release, static_cast<std::uint8_t>(access.write_barrier), access.warp});
  }
  if (work_.recorder != nullptr)
    record_use(RecordedUnit::load_store, access.warp, access.pc, now, now + front_cycles(cost), ready);
  if (cost.requests != 0 && cost.kind != MemoryKind::store_global) pending_.add(ready, cost.requests);
  if (cost.kind == MemoryKind::async_copy) {
    events_.post(ready, {EventKind::async_done, access.group, access.warp});
  }
}

// SMs drift apart within the first trips, so that one of them asks while others compute: it gets what its own port
// takes, as long as it has asked for less than its share of L2's bandwidth before. In the beginning all ask together.
void Engine::read_from_l2(double bytes, double now) {
  const double share = env_.read_bytes_per_cycle;
  const double port = std::max(share, env_.read_burst_bytes_per_cycle);
  read_port_free_ = std::max(read_port_free_, now) + bytes / port;
  read_share_free_ = std::max(read_share_free_, now - burst_cycles) + bytes / share;
}

// Warps of a CTA take turns in being the first to ask for what they share, evenly: which of them is, is a matter of
// order. That a fill may still be under way when the next warp asks is left out.
bool Engine::asked_again(const MemoryCost& cost) {
  if (cost.kind != MemoryKind::load_global || env_.shared[cost.matrix].again == 0) return false;
  int& turn = shared_turn_[cost.matrix];
  turn += env_.shared[cost.matrix].again;
  if (turn < SharedSectors::steps) return false;
  turn -= SharedSectors::steps;
  return true;
}

double Engine::beyond_l1(const MemoryCost& cost) const {
  const SharedSectors& shared = env_.shared[cost.matrix];
  return cost.kind == MemoryKind::load_global && shared.again > 0 ? shared.beyond : 1.0 - env_.l1_hit_rate;
}

std::uint64_t Engine::data_ready(SubCore& sub, const MemoryCost& cost, std::uint64_t now) {
  const std::uint64_t unloaded = now + (cost.latency > front_delay ? cost.latency - front_delay : 1u);
  const auto sectors = static_cast<double>(cost.sectors);
  switch (cost.kind) {
    case MemoryKind::load_shared:
    case MemoryKind::store_shared: count_.shared_bytes += cost.bytes; return unloaded;
    case MemoryKind::load_global:
    case MemoryKind::async_copy: {
      count_.l1_bytes += cost.bytes;
      count_.read_sectors += sectors;
      const bool again = asked_again(cost);
      const double beyond = again ? 0.0 : beyond_l1(cost);
      if (!again) read_from_l2(sectors * sector_ * beyond, static_cast<double>(now));
      // A load is there with its last sector.
      const bool of_c = cost.matrix == static_cast<std::uint8_t>(kernels::Matrix::c);
      const double beyond_latency = of_c && env_.c_latency > 0 ? env_.c_latency : env_.latency;
      const double latency = (beyond > 0 ? beyond_latency : env_.l1_latency) - front_delay + cost.extra_latency;
      double begins = again ? static_cast<double>(now) : std::max(read_port_free_, read_share_free_);
      if (of_c && env_.c_bytes_per_cycle > 0) {
        // Others are served while this SM waits for an answer, and it in turn while they do.
        c_free_ = std::max(c_free_, static_cast<double>(now) - env_.c_latency);
        c_free_ += sectors * sector_ * beyond / env_.c_bytes_per_cycle;
        begins = std::max(begins, c_free_);
      }
      std::uint64_t ready = static_cast<std::uint64_t>(begins + latency);
      if (cost.kind == MemoryKind::load_global) {
        // Load data enters the register file at a limited width.
        const std::uint64_t width = static_cast<std::uint64_t>(cost.bytes / write_back_);
        ready = std::max(ready, sub.write_back_free + width);
        sub.write_back_free = ready;
      }
      return ready;
    }
    case MemoryKind::store_global:
      count_.l1_bytes += cost.bytes;
      count_.write_sectors += sectors;
      write_port_free_ =
          std::max(write_port_free_, static_cast<double>(now)) + sectors * sector_ / env_.write_bytes_per_cycle;
      return static_cast<std::uint64_t>(write_port_free_) + 1;
    case MemoryKind::constant:
    case MemoryKind::shuffle:
    case MemoryKind::fence:
    case MemoryKind::barrier:
    case MemoryKind::none: return unloaded;
  }
  return unloaded;
}

}  // namespace noteg::sm
