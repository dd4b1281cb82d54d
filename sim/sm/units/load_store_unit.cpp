#include "sim/sm/units/load_store_unit.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/sm/machine.hpp"

namespace noteg::sm {

LoadStoreUnit::LoadStoreUnit(Machine& sm, const arch::SmSpec& spec, std::size_t sub_cores)
    : sm_(sm),
      capacity_(sm.switches.memory_queue ? std::min(spec.memory.queue_entries + 1, ring) : ring),
      data_queue_(static_cast<std::size_t>(spec.memory.data_queue)),
      copy_requests_(spec.memory.copy_requests),
      barrier_interval_(static_cast<std::uint64_t>(spec.memory.barrier_interval.value)),
      constant_interval_(static_cast<std::uint64_t>(spec.memory.constant_interval.value)),
      write_back_(spec.register_file.load_write_back.value),
      sector_(spec.memory.sector.value),
      of_(sub_cores),
      pending_(spec.memory.prt_entries, spec.memory.max_outstanding_requests),
      merging_(sm.program.joins_stores ? sm.warps.size() : 0) {}

namespace {

// Until a store to shared memory is where a memory barrier wants it, behind its passes (H100M, fences: 16 warps that
// each store four times and then wait take 26 cycles each, 16 of them the stores'; that store once 8, 4 of them the
// store's).
constexpr std::uint64_t store_drain = 7;

// Bank conflicts of L1 concern the sectors that an access finds there, fills the others.
std::uint64_t data_cycles(const MemoryCost& cost, double beyond_l1) {
  if (cost.kind == MemoryKind::texture) return 0;
  if (cost.kind != MemoryKind::load_global) return cost.front_cycles;
  const double hit = std::max<double>(cost.front_cycles, cost.l1_bank_cycles);
  return static_cast<std::uint64_t>(hit * (1.0 - beyond_l1) + cost.miss_cycles * beyond_l1 + 0.5);
}

// Passes in which the memory that is L1 and shared memory is read or written. Copies write it when they arrive.
bool uses_array(MemoryKind kind) {
  return kind == MemoryKind::load_shared || kind == MemoryKind::store_shared || kind == MemoryKind::load_global;
}

// Loads and copies that L1 answers leave the pending request table at once: entries behind them do not wait for them.
bool waits_beyond_l1(const MemoryCost& cost, double beyond_l1) {
  return cost.requests != 0 && cost.kind != MemoryKind::store_global && beyond_l1 > 0;
}

}  // namespace

const MemoryCost& LoadStoreUnit::cost_of(std::int16_t memory) const {
  return sm_.program.memory[static_cast<std::size_t>(memory)];
}

// Accesses whose wavefronts vary take one more so often that their mean is met, whatever the order.
bool LoadStoreUnit::takes_one_more(std::uint8_t share) {
  shared_.parts += share;
  if (shared_.parts < kernels::wavefront_parts) return false;
  shared_.parts -= kernels::wavefront_parts;
  return true;
}

std::uint64_t LoadStoreUnit::queued_since(std::size_t sub, std::uint64_t from) const {
  const OfSubCore& of = of_[sub];
  constexpr std::uint64_t last = ring - 1;
  const auto end = static_cast<std::uint64_t>(of.head + of.size) + ring;
  std::uint64_t count = 0;
  while (count < last && of.queue[(end - 1 - count) % ring].issued >= from) ++count;
  return count;
}

void LoadStoreUnit::enqueue(Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now) {
  const MemoryCost& cost = cost_of(in.memory);
  if (sm_.scoreboard && cost.kind != MemoryKind::barrier) sm_.scoreboard->issued(id, warp.pc, now);
  if (is_global(cost.kind) || in.write_barrier == fence_counter) {
    for (const int barrier : {in.write_barrier, in.read_barrier})
      if (barrier >= 0) warp.long_mask |= std::uint64_t{0xff} << (8 * barrier);
  }
  if (cost.kind == MemoryKind::store_global) sm_.ctas.will_store(warp.cta);
  if (cost.kind == MemoryKind::async_copy) ++warp.group[warp.group_open % max_groups];
  OfSubCore& of = of_[warp.sub];
  of.queue[static_cast<std::size_t>((of.head + of.size) % ring)] = {
      now,
      warp.pc,
      id,
      in.memory,
      in.write_barrier,
      in.read_barrier,
      static_cast<std::uint8_t>(warp.group_open % max_groups)};
  if (++of.size == 1) post_head(warp.sub, now);
}

void LoadStoreUnit::fence(Warp& warp, std::uint16_t id, const DecodedInstruction& in, bool takes_part,
                          std::uint64_t now) {
  if (takes_part) return enqueue(warp, id, in, now);
  if (!sm_.scoreboard) sm_.events.post(now + 1, {EventKind::release, fence_counter, id});
}

void LoadStoreUnit::load_constant(const Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now) {
  const MemoryCost& cost = cost_of(in.memory);
  std::uint64_t at = std::max(now, shared_.constant_free);
  if (in.loaded_line != no_constant && sm_.switches.constant_cache)
    at = std::max(at, constants_.touch(in.loaded_line, at, sm_.constant_fill));
  shared_.constant_free = at + cost.front_cycles;
  const std::uint64_t last = shared_.constant_free - constant_interval_;  // its last address is served
  sm_.pipes.set_free(warp.sub, Action::constant_load, std::max(now + constant_interval_, at));
  if (sm_.scoreboard) {
    sm_.scoreboard->issued(id, warp.pc, now);
    sm_.events.post(last + cost.latency, {EventKind::registers_written, 0, id, warp.pc});
    sm_.events.post(last + cost.read_release, {EventKind::registers_read, 0, id, warp.pc});
    return;
  }
  if (in.write_barrier >= 0)
    sm_.events.post(last + cost.latency, {EventKind::release, static_cast<std::uint8_t>(in.write_barrier), id});
  if (in.read_barrier >= 0)
    sm_.events.post(last + cost.read_release, {EventKind::release, static_cast<std::uint8_t>(in.read_barrier), id});
}

// A warp that still has the link lets the first access of another one pass.
void LoadStoreUnit::let_pass(OfSubCore& of, std::uint64_t now) {
  const auto at = [&](int i) -> Access& { return of.queue[static_cast<std::size_t>((of.head + i) % ring)]; };
  if (at(0).warp != of.last_warp || of.warp_ready <= std::max(of.link_ready, now + 1)) return;
  for (int i = 1; i < of.size && at(i).issued + front_delay < of.warp_ready; ++i) {
    if (at(i).warp == of.last_warp) continue;
    for (; i > 0; --i) std::swap(at(i), at(i - 1));
    return;
  }
}

void LoadStoreUnit::post_head(std::size_t sub, std::uint64_t now) {
  OfSubCore& of = of_[sub];
  let_pass(of, now);
  const Access& head = of.queue[static_cast<std::size_t>(of.head)];
  const std::uint64_t link_ready = head.warp == of.last_warp ? of.warp_ready : of.link_ready;
  const std::uint64_t at = std::max({head.issued + front_delay, link_ready, now + 1});
  sm_.events.post(at, {EventKind::front_arrival, 0, static_cast<std::uint16_t>(sub)});
  // Sources that are read before the sub-core hands the access over do not wait for the arbiter.
  const int release = cost_of(head.memory).read_release;
  if (release <= front_delay)
    release_sources(head, std::max(now + 1, at + static_cast<std::uint64_t>(release) - front_delay));
}

void LoadStoreUnit::release_sources(const Access& access, std::uint64_t at) {
  if (sm_.scoreboard) {
    sm_.events.post(at, {EventKind::registers_read, 0, access.warp, access.pc});
    return;
  }
  if (access.read_barrier < 0) return;
  sm_.events.post(at, {EventKind::release, static_cast<std::uint8_t>(access.read_barrier), access.warp});
}

void LoadStoreUnit::arrive(std::size_t sub, std::uint64_t now) {
  shared_.waiting[static_cast<std::size_t>((shared_.head + shared_.size++) % 16)] = static_cast<std::uint8_t>(sub);
  if (!shared_.posted) serve(now);
}

void LoadStoreUnit::arbiter_free(std::uint64_t now) {
  shared_.posted = false;
  serve(now);
}

void LoadStoreUnit::serve(std::uint64_t now) {
  if (shared_.size == 0) return;
  if (shared_.arbiter_free > now) {
    shared_.posted = true;
    sm_.events.post(shared_.arbiter_free, {EventKind::front_free, 0, 0});
    return;
  }
  const std::size_t sub = shared_.waiting[static_cast<std::size_t>(shared_.head)];
  OfSubCore& of = of_[sub];
  Access access = of.queue[static_cast<std::size_t>(of.head)];
  if (shared_.beyond_l1 < 0) shared_.beyond_l1 = sm_.traffic.beyond_l1(cost_of(access.memory));
  if (waits_beyond_l1(cost_of(access.memory), shared_.beyond_l1)) {
    const std::uint64_t room_at = pending_.room_at(now, cost_of(access.memory).requests);
    if (room_at > now) {
      shared_.arbiter_free = room_at;
      return serve(now);
    }
  }
  const std::uint8_t share = cost_of(access.memory).next_share;
  if (share > 0 && takes_one_more(share)) ++access.memory;
  const MemoryCost& cost = cost_of(access.memory);
  shared_.head = (shared_.head + 1) % 16;
  --shared_.size;
  const double beyond_l1 = std::exchange(shared_.beyond_l1, -1.0);
  std::uint64_t data_at = std::max(shared_.data_stage_free, now);
  if (cost.kind == MemoryKind::fence) data_at = std::max(data_at, shared_.stored + store_drain);
  const std::uint64_t passes = data_cycles(cost, beyond_l1);
  if (uses_array(cost.kind)) data_at += sm_.async.held_by_matmuls(data_at, passes);
  shared_.data_stage_free = data_at + passes;
  if (sm_.program.has_fences && cost.kind == MemoryKind::store_shared) shared_.stored = shared_.data_stage_free;
  shared_.arbiter_free = std::max({now + cost.address_cycles, shared_.room_behind(data_at, data_queue_),
                                   room_for_requests(cost.port_cycles * beyond_l1, now)});
  sm_.count.lsu_cycles += static_cast<double>(passes);
  of.link_ready = now + cost.sub_core_cycles;
  of.warp_ready = now + cost.warp_cycles;
  of.last_warp = access.warp;
  of.head = (of.head + 1) % ring;
  sm_.subs[sub].scheduler.queue_has_room();
  if (of.size-- == capacity_) {
    sm_.wake(sub, now + 1);
    sm_.pipes.set_free(sub, Action::memory, now + 1);
    if (sm_.switches.barriers) sm_.pipes.set_free(sub, Action::barrier, now + 1);
  }
  if (of.size > 0) post_head(sub, now);
  complete(sub, access, beyond_l1, now, data_at);
  if (shared_.size > 0 && !shared_.posted) serve(now);
}

// H200M, fences: one of GPU scope takes 164 cycles more behind a store, 243 where all SMs store.
std::uint64_t LoadStoreUnit::answer_to(const MemoryCost& cost, std::uint64_t ready) const {
  constexpr double of_a_load = 0.75;
  return cost.kind == MemoryKind::store_global
             ? ready + static_cast<std::uint64_t>(of_a_load * sm_.traffic.port().latency)
             : ready;
}

// From when on the arbiter goes on behind so many requests. Copies past L1 ask L2's port for a line a cycle, and behind
// those that it has not taken nothing leaves the arbiter (H100M, copy_burst: a load of shared memory behind 64 copies
// of eight rows waits 332 cycles, of four rows 171).
std::uint64_t LoadStoreUnit::room_for_requests(double requests, std::uint64_t now) {
  if (requests <= 0) return 0;
  shared_.requests_gone =
      std::max(shared_.requests_gone, static_cast<double>(now)) + requests * sm_.traffic.port().inside;
  return static_cast<std::uint64_t>(std::max(0.0, shared_.requests_gone - copy_requests_));
}

// `now` it leaves the arbiter, and from `data_at` on the data stage has it.
void LoadStoreUnit::complete(std::size_t sub, const Access& access, double beyond_l1, std::uint64_t now,
                             std::uint64_t data_at) {
  const MemoryCost& cost = cost_of(access.memory);
  if (cost.kind == MemoryKind::barrier) {
    // The barrier unit takes 16 threads a cycle (CPG; our H200: back-to-back BAR.SYNC cost 12.3 + 2 cycles per warp).
    const std::uint64_t arrives = std::max(now, shared_.barrier_free);
    shared_.barrier_free = arrives + barrier_interval_;
    sm_.ctas.arrive_at_barrier(sm_.warps[access.warp].cta, arrives);
    return;
  }
  sm_.count.shared_wavefronts += cost.wavefronts;
  sm_.count.shared_conflict_wavefronts += cost.conflict_wavefronts;
  if (cost.read_release > front_delay) release_sources(access, data_at + cost.read_release - front_delay);
  const std::uint16_t cta = sm_.warps[access.warp].cta;
  const std::uint64_t asked =
      access.write_barrier == fence_counter ? std::max(data_at, sm_.ctas.answered(cta)) : data_at;
  const bool merges = sm_.program.joins_stores && cost.kind == MemoryKind::store_global &&
                      merging_.merges(access.warp, cost.joins, cost.requests, data_at);
  if (merges) sm_.count.merged_sectors += cost.sectors;
  const std::uint64_t ready = std::max(data_at + 1, merges ? asked : data_ready(of_[sub], cost, beyond_l1, asked));
  if (sm_.scoreboard) sm_.events.post(ready, {EventKind::registers_written, 0, access.warp, access.pc});
  if (access.write_barrier >= 0 && !sm_.scoreboard)
    sm_.events.post(ready, {EventKind::release, static_cast<std::uint8_t>(access.write_barrier), access.warp});
  if (sm_.observer.listens())
    sm_.observer.use(RecordedUnit::load_store, access.warp, access.pc, data_at, data_at + data_cycles(cost, beyond_l1),
                     ready);
  if (waits_beyond_l1(cost, beyond_l1)) pending_.add(ready, cost.requests);
  if (cost.kind == MemoryKind::store_global) sm_.ctas.stores(cta, ready, now);
  if (sm_.program.has_fences && is_global(cost.kind) && cost.sectors > 0)
    sm_.ctas.expect_answer(cta, answer_to(cost, ready));
  if (cost.kind != MemoryKind::async_copy) return;
  const EventKind then = sm_.program.async.empty() ? EventKind::async_done : EventKind::copy_arrival;
  sm_.events.post(ready, {then, access.group, access.warp, access.memory});
}

void LoadStoreUnit::copy_arrives(const Event& event, std::uint64_t now) {
  const auto passes = static_cast<std::uint64_t>(cost_of(static_cast<std::int16_t>(event.pc)).front_cycles);
  const std::uint64_t at = std::max(now, shared_.copies_written), held = sm_.async.held_by_matmuls(at, passes);
  // Without multiplications the way from L2 has spread them already.
  shared_.copies_written = held > 0 ? at + passes + held : now;
  sm_.events.post(std::max(now + 1, shared_.copies_written), {EventKind::async_done, event.counter, event.warp});
}

std::uint64_t LoadStoreUnit::data_ready(OfSubCore& of, const MemoryCost& cost, double beyond_l1, std::uint64_t now) {
  const std::uint64_t unloaded = now + (cost.latency > front_delay ? cost.latency - front_delay : 1u);
  switch (cost.kind) {
    case MemoryKind::load_shared:
    case MemoryKind::store_shared: sm_.count.shared_bytes += cost.bytes; return unloaded;
    case MemoryKind::load_global:
    case MemoryKind::async_copy: {
      sm_.count.l1_bytes += cost.bytes;
      sm_.count.read_sectors += cost.sectors;
      std::uint64_t ready = sm_.traffic.load(cost, beyond_l1, now);
      if (cost.kind == MemoryKind::load_global && cost.sectors > 0) {
        // Load data enters the register file at a limited width. What is near does not wait for what comes from afar.
        const std::uint64_t width = static_cast<std::uint64_t>(cost.bytes / write_back_);
        std::uint64_t& free = of.write_back_free[static_cast<std::size_t>(sm_.traffic.from(cost, beyond_l1))];
        ready = std::max(ready, free + width);
        free = ready;
      }
      return ready;
    }
    case MemoryKind::store_global:
      sm_.count.l1_bytes += cost.bytes;
      sm_.count.write_sectors += cost.sectors;
      return sm_.traffic.store(cost, now);
    case MemoryKind::texture:
      shared_.texture_free = std::max(shared_.texture_free, now) + cost.front_cycles;
      return shared_.texture_free + unloaded - now;
    case MemoryKind::constant:
    case MemoryKind::shuffle:
    case MemoryKind::special_register:
    case MemoryKind::fence:
    case MemoryKind::barrier:
    case MemoryKind::none: return unloaded;
  }
  return unloaded;
}

void LoadStoreUnit::hash(StateHash& add) const {
  constants_.hash(add);
  for (const auto& [queue, head, size, link_ready, warp_ready, last_warp, write_back_free] : of_) {
    add.until(link_ready);
    add.until(warp_ready);
    add(warp_ready > add.now() ? last_warp : 0);
    for (const std::uint64_t free : write_back_free) add.until(free);
    add(static_cast<std::uint64_t>(size));
    for (int i = 0; i < size; ++i) {
      const auto& [issued, pc, warp, memory, write_barrier, read_barrier, group] =
          queue[static_cast<std::size_t>((head + i) % ring)];
      add(static_cast<std::uint64_t>(pc) << 16 | warp);  // the instruction has memory and barriers
      add.until(issued + front_delay);
      add(group_behind_open(sm_.warps[warp], group));
    }
  }
  const auto& [waiting, head, size, posted, arbiter_free, data_stage_free, barrier_free, texture_free, constant_free,
               requests_gone, beyond_l1, parts, data_at, accesses, copies_written, stored] = shared_;
  for (int i = 0; i < size; ++i) add(waiting[static_cast<std::size_t>((head + i) % 16)]);
  add(posted ? 1 : 0);
  add(std::bit_cast<std::uint64_t>(beyond_l1));
  add(static_cast<std::uint64_t>(parts));
  for (const std::uint64_t free : {arbiter_free, data_stage_free, barrier_free, texture_free, constant_free})
    add.until(free);
  add.until(requests_gone);
  add.until(copies_written);
  add.until(stored + store_drain);
  for (std::size_t back = 1; back <= data_queue_; ++back) {
    const std::uint64_t at = data_at[(accesses - back) % data_at.size()];
    if (at <= add.now()) break;
    add.until(at);
  }
  pending_.hash(add);
  merging_.hash(add);
}

}  // namespace noteg::sm
