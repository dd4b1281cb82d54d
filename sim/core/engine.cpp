#include "sim/core/engine.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "sim/core/event_wheel.hpp"
#include "sim/core/periodic.hpp"
#include "sim/core/read_ports.hpp"

namespace noteg::core {

namespace {

constexpr std::uint64_t never = EventWheel::never;
constexpr int max_loops = 8;
constexpr int max_groups = 16;

struct Warp {
  std::int32_t pc = 0;
  std::uint16_t cta = 0;
  std::uint8_t sub = 0;
  std::uint8_t bit = 0;               // position in its sub-core's masks; larger = younger
  std::uint64_t ready_at = 0;
  std::uint64_t counters = 0;         // six dependence counters, one byte each
  std::uint64_t last_issue = 0;
  std::uint64_t blocked_since = 0, unblocked_at = 0;
  Stall blocked_by = Stall::wait;
  Stall failed_by = Stall::not_selected;
  std::uint64_t failed_until = 0;
  std::uint64_t long_mask = 0;        // counters that a global access holds
  std::array<std::int32_t, max_loops> trips{};
  std::array<std::uint16_t, max_groups> group{};  // copies outstanding per commit group
  std::uint16_t group_head = 0, group_open = 0;   // oldest unfinished group, group being filled
  bool at_barrier = false;
};

struct QueuedAccess {
  std::uint64_t issued = 0;
  std::uint16_t warp = 0;
  std::int16_t memory = -1;
  std::int8_t write_barrier = -1, read_barrier = -1;
  std::uint8_t group = 0;  // commit group of a copy, fixed at issue
};

struct SubCore {
  explicit SubCore(const ReadPorts& p) : ports(p) {}
  ReadPorts ports;
  std::uint64_t next_try = 0;
  std::uint64_t issued_at = 0;        // last issue
  std::uint64_t issue_free = 0;       // the Control stage is free for an instruction issued then
  std::uint32_t live = 0, blocked = 0;
  std::int32_t last = -1;             // bit of the warp that issued last
  std::array<std::uint16_t, 32> warp_of{};
  std::uint64_t lite_free = 0, heavy_free = 0, alu_free = 0, half_free = 0, mufu_free = 0, uniform_free = 0;
  std::array<QueuedAccess, 8> queue{};
  int queue_head = 0, queue_size = 0;
  std::uint64_t front_ready = 0;      // the address unit is free again
  std::uint64_t write_back_free = 0;
};

struct CtaSlot {
  int running = 0, arrived = 0;
  std::uint64_t started = 0, main_begin = 0, main_end = 0;  // with skipped periods
  bool in_main_loop = false;
  std::uint16_t first_warp = 0;
};

class Engine {
 public:
  Engine(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
         const MemoryEnvironment& environment, const SmWork& work);
  SmResult run();

 private:
  // Outcome of trying to issue one warp: issued, or the first cycle in which trying again makes sense.
  struct Try {
    bool issued = false;
    std::uint64_t again = never;
  };

  void step(SubCore& sub, std::uint64_t now);
  Try try_issue(SubCore& sub, Warp& warp, std::uint16_t id, std::uint64_t now);
  std::uint64_t pipe_free(const SubCore& sub, const DecodedInstruction& in) const;
  void occupy_pipe(SubCore& sub, const DecodedInstruction& in, std::uint64_t now);
  void issue(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);
  void account(const SubCore& sub, Warp& warp, std::uint64_t now);
  void enqueue(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now);
  void post_front(SubCore& sub, std::uint64_t now);
  void arrive_at_front(int sub_index, std::uint64_t now);
  void serve_front(std::uint64_t now);
  void arrive_at_barrier(std::uint16_t slot, std::uint64_t now);
  void complete(SubCore& sub, const QueuedAccess& access, std::uint64_t now);
  std::uint64_t data_ready(SubCore& sub, const QueuedAccess& access, const MemoryCost& cost, std::uint64_t now);
  void handle(const Event& event, std::uint64_t now);
  void release(Warp& warp, int counter, std::uint64_t now);
  void check_blocked(Warp& warp, std::uint64_t now);
  void unblock(Warp& warp, std::uint64_t now);
  void start_cta(int slot, std::uint64_t now);
  void finish_warp(SubCore& sub, Warp& warp, std::uint64_t now);
  void pass_trip(const Warp& warp, std::uint16_t id, std::uint64_t now);
  void phase_change(Warp& warp, std::uint16_t id, std::int32_t from, std::int32_t to, std::uint64_t now);

  const DecodedProgram& program_;
  const arch::SmSpec& sm_;
  const MemoryEnvironment env_;
  const SmWork work_;
  CoreCounters count_;
  EventWheel events_;
  std::vector<SubCore> subs_;
  std::vector<Warp> warps_;
  std::vector<CtaSlot> slots_;
  std::int64_t launched_ = 0, finished_ = 0;
  std::uint64_t end_ = 0;
  PeriodicSkip periodic_;
  std::uint64_t skipped_ = 0;  // cycles passed over; event times know nothing of them
  int main_loop_ = -1;

  // Numbers of the SM that the loop needs, unwrapped once.
  int queue_capacity_;
  bool dual_fma_;
  std::uint64_t fma_interval_, heavy_interval_, alu_interval_, half_interval_, mufu_interval_, uniform_interval_;
  std::uint64_t redirect_, barrier_latency_;
  double write_back_;

  // SM-wide load/store front: first come, first served over the sub-cores.
  std::array<std::uint8_t, 16> front_queue_{};
  int front_head_ = 0, front_size_ = 0;
  bool front_posted_ = false;
  std::uint64_t front_free_ = 0;
  double read_port_free_ = 0, write_port_free_ = 0;
};

Engine::Engine(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
               const MemoryEnvironment& environment, const SmWork& work)
    : program_(program), sm_(sm), env_(environment), work_(work),
      queue_capacity_(std::min(sm.memory.queue_entries + 1, 8)),
      dual_fma_(sm.pipes.fma.lanes >= 32),
      fma_interval_(static_cast<std::uint64_t>(32 / std::max(1, std::min(16, sm.pipes.fma.lanes)))),
      heavy_interval_(static_cast<std::uint64_t>(32 / std::max(1, sm.pipes.fma_heavy.lanes))),
      alu_interval_(static_cast<std::uint64_t>(32 / std::max(1, sm.pipes.alu.lanes))),
      half_interval_(static_cast<std::uint64_t>(32 / std::max(1, sm.pipes.half.lanes))),
      mufu_interval_(static_cast<std::uint64_t>(32 / std::max(1, sm.pipes.mufu.lanes))),
      uniform_interval_(2),
      redirect_(static_cast<std::uint64_t>(sm.front_end.branch_redirect.value)),
      // The specification counts from issue; the way to the front of the load/store path is walked already.
      barrier_latency_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::max(0.0, sm.memory.barrier_latency.value - front_delay)))),
      write_back_(sm.register_file.load_write_back.value) {
  const int ports = switches.rf_read_ports > 0 ? switches.rf_read_ports : sm.register_file.read_ports;
  const ReadPorts read_ports(ports, sm.register_file.read_window, switches.rf_cache && sm.register_file.cache, switches.rf_ideal);
  for (int i = 0; i < sm.sub_cores; ++i) subs_.emplace_back(read_ports);
  for (std::size_t i = 0; i < program.loops.size(); ++i) {
    if (program.loops[i].is_main) main_loop_ = static_cast<int>(i);
  }
  slots_.resize(static_cast<std::size_t>(work.resident));
  warps_.resize(static_cast<std::size_t>(work.resident * program.warps));
  for (std::size_t id = 0; id < warps_.size(); ++id) {
    Warp& warp = warps_[id];
    warp.cta = static_cast<std::uint16_t>(id / static_cast<std::size_t>(program.warps));
    warp.sub = static_cast<std::uint8_t>(id % subs_.size());
    warp.bit = static_cast<std::uint8_t>(id / subs_.size());
    subs_[warp.sub].warp_of[warp.bit] = static_cast<std::uint16_t>(id);
  }
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    slots_[slot].first_warp = static_cast<std::uint16_t>(slot * static_cast<std::size_t>(program.warps));
    if (launched_ < work.ctas) {
      ++launched_;
      const double at = static_cast<double>(slot) * work.launch_interval;
      events_.post(static_cast<std::uint64_t>(at), {EventKind::cta_start, 0, static_cast<std::uint16_t>(slot)});
    }
  }
}

SmResult Engine::run() {
  SmResult result;
  std::uint64_t now = 0;
  while (finished_ < work_.ctas) {
    events_.drain(now, [&](const Event& event) { handle(event, now); });
    std::uint64_t wake = never;
    for (SubCore& sub : subs_) {
      if (sub.next_try <= now) step(sub, now);
      wake = std::min(wake, sub.next_try);
    }
    if (wake <= now + 1) {
      ++now;
      continue;
    }
    const std::uint64_t next = std::min(wake, events_.next(now + 1));
    if (next == never) {
      result.deadlock = finished_ < work_.ctas;
      break;
    }
    now = next;
  }
  result.cycles = static_cast<double>(end_);
  result.stepped_cycles = static_cast<double>(end_ - skipped_);
  result.stepped_warp_instructions = count_.warp_instructions - periodic_.skipped_instructions();
  result.counters = count_;
  return result;
}

void Engine::step(SubCore& sub, std::uint64_t now) {
  if (sub.issue_free > now) {
    sub.next_try = sub.issue_free;
    return;
  }
  std::uint32_t candidates = sub.live & ~sub.blocked;
  std::uint64_t again = never;
  // Greedy: the warp that issued last goes on while it can; then the youngest.
  if (sub.last >= 0 && (candidates >> sub.last & 1u) != 0) {
    const std::uint16_t id = sub.warp_of[static_cast<std::size_t>(sub.last)];
    const Try outcome = try_issue(sub, warps_[id], id, now);
    if (outcome.issued) {
      sub.next_try = now + 1;
      return;
    }
    again = outcome.again;
    candidates &= ~(1u << sub.last);
  }
  while (candidates != 0) {
    const int bit = 31 - std::countl_zero(candidates);
    candidates &= ~(1u << bit);
    const std::uint16_t id = sub.warp_of[static_cast<std::size_t>(bit)];
    const Try outcome = try_issue(sub, warps_[id], id, now);
    if (outcome.issued) {
      sub.last = bit;
      sub.next_try = now + 1;
      return;
    }
    again = std::min(again, outcome.again);
  }
  sub.next_try = again;
}

Engine::Try Engine::try_issue(SubCore& sub, Warp& warp, std::uint16_t id, std::uint64_t now) {
  if (warp.ready_at > now) return {false, warp.ready_at};
  const DecodedInstruction& in = program_.code[static_cast<std::size_t>(warp.pc)];
  if (in.action == Action::memory || in.action == Action::barrier) {
    if (sub.queue_size >= queue_capacity_) {
      warp.failed_by = Stall::memory_queue;
      warp.failed_until = never;  // known only when an entry leaves
      return {false, never};  // the queue wakes the sub-core when an entry leaves
    }
  } else {
    const std::uint64_t free = pipe_free(sub, in);
    if (free > now) {
      warp.failed_by = Stall::math_pipe;
      warp.failed_until = free;
      return {false, free};
    }
  }
  issue(sub, warp, id, in, now);
  return {true, 0};
}

std::uint64_t Engine::pipe_free(const SubCore& sub, const DecodedInstruction& in) const {
  switch (in.action) {
    case Action::fma: return dual_fma_ ? std::min(sub.lite_free, sub.heavy_free) : sub.heavy_free;
    case Action::fma_heavy: return sub.heavy_free;
    case Action::alu: return sub.alu_free;
    case Action::half: return sub.half_free;
    case Action::mufu:
    case Action::fp64: return sub.mufu_free;
    case Action::uniform: return sub.uniform_free;
    case Action::memory:
    case Action::control:
    case Action::branch:
    case Action::barrier:
    case Action::exit: return 0;
  }
  return 0;
}

void Engine::occupy_pipe(SubCore& sub, const DecodedInstruction& in, std::uint64_t now) {
  switch (in.action) {
    case Action::fma:
      (dual_fma_ && sub.lite_free <= now ? sub.lite_free : sub.heavy_free) = now + fma_interval_;
      count_.fma_cycles += dual_fma_ ? 1.0 : static_cast<double>(fma_interval_);
      break;
    case Action::fma_heavy:
      sub.heavy_free = now + heavy_interval_;
      count_.fma_cycles += dual_fma_ ? 1.0 : static_cast<double>(fma_interval_);
      break;
    case Action::alu:
      sub.alu_free = now + alu_interval_;
      count_.alu_cycles += static_cast<double>(alu_interval_);
      break;
    case Action::half: sub.half_free = now + half_interval_; break;
    case Action::mufu:
    case Action::fp64: sub.mufu_free = now + mufu_interval_; break;
    case Action::uniform: sub.uniform_free = now + uniform_interval_; break;
    case Action::memory:
    case Action::control:
    case Action::branch:
    case Action::barrier:
    case Action::exit: break;
  }
}

void Engine::issue(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now) {
  account(sub, warp, now);
  sub.issued_at = now;
  ++count_.issued[in.opcode];
  occupy_pipe(sub, in, now);

  if (in.action != Action::memory && in.reads != 0) {
    const ReadPorts::Grant grant = sub.ports.allocate(in, id, now);
    count_.rf_reads += grant.reads;
    count_.rf_hits += grant.hits;
    sub.issue_free = grant.allocated - 1;
    count_.rf_conflict_cycles += static_cast<double>(grant.allocated - 2 - now);
  }
  if (in.write_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.write_barrier);
  if (in.read_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.read_barrier);
  warp.ready_at = now + std::max<std::uint64_t>(in.stall, in.yield != 0 ? 2 : 1);

  std::int32_t next = warp.pc + 1;
  switch (in.action) {
    case Action::memory: enqueue(sub, warp, id, in, now); break;
    case Action::branch: {
      const auto loop = static_cast<std::size_t>(in.loop);
      const std::int64_t trips = program_.loops[loop].is_main ? work_.trips : program_.loops[loop].trips;
      if (++warp.trips[loop] < trips) {
        if (work_.skip_periodic && program_.loops[loop].is_main) pass_trip(warp, id, now);
        next = in.target;
        warp.ready_at = now + std::max<std::uint64_t>(in.stall, redirect_);
      } else {
        warp.trips[loop] = 0;
      }
      break;
    }
    case Action::barrier:
      warp.at_barrier = true;
      enqueue(sub, warp, id, in, now);
      break;
    case Action::exit: finish_warp(sub, warp, now); return;
    case Action::mufu:
    case Action::fp64:
    case Action::fma:
    case Action::fma_heavy:
    case Action::alu:
    case Action::half:
    case Action::uniform:
    case Action::control:
      if (in.write_barrier >= 0 && in.commit == 0) {
        events_.post(now + in.latency, {EventKind::release, static_cast<std::uint8_t>(in.write_barrier), id});
      }
      if (in.read_barrier >= 0) {
        events_.post(now + 6, {EventKind::release, static_cast<std::uint8_t>(in.read_barrier), id});
      }
      break;
  }
  if (in.commit != 0) {
    // An empty or already finished group at the head is complete at once.
    ++warp.group_open;
    warp.group[warp.group_open % max_groups] = 0;
    while (warp.group_head != warp.group_open && warp.group[warp.group_head % max_groups] == 0) ++warp.group_head;
  }
  phase_change(warp, id, warp.pc, next, now);
  warp.pc = next;
  check_blocked(warp, now);
}

void Engine::account(const SubCore& sub, Warp& warp, std::uint64_t now) {
  count_.warp_instructions += 1;
  count_.issue_cycles += 1;
  count_.stall_cycles[static_cast<std::size_t>(Stall::selected)] += 1;
  std::uint64_t from = warp.last_issue + 1;
  const std::uint64_t stall_end = std::min(warp.ready_at, now);
  if (stall_end > from) {
    count_.stall_cycles[static_cast<std::size_t>(Stall::wait)] += static_cast<double>(stall_end - from);
    from = stall_end;
  }
  if (warp.unblocked_at > from) {
    const std::uint64_t until = std::min(warp.unblocked_at, now);
    count_.stall_cycles[static_cast<std::size_t>(warp.blocked_by)] += static_cast<double>(until - from);
    from = until;
  }
  // Cycles in which the read ports held the pipe for everybody.
  const std::uint64_t held_from = std::max(from, sub.issued_at + 1), held_until = std::min(sub.issue_free, now);
  if (held_until > held_from) {
    count_.stall_cycles[static_cast<std::size_t>(Stall::dispatch)] += static_cast<double>(held_until - held_from);
    from += held_until - held_from;
  }
  // A busy pipe explains the wait until it was free; what remains is the scheduler's choice.
  if (warp.failed_by != Stall::not_selected && warp.failed_until > from) {
    const std::uint64_t until = std::min(warp.failed_until, now);
    count_.stall_cycles[static_cast<std::size_t>(warp.failed_by)] += static_cast<double>(until - from);
    from = until;
  }
  if (now > from) count_.stall_cycles[static_cast<std::size_t>(Stall::not_selected)] += static_cast<double>(now - from);
  warp.failed_by = Stall::not_selected;
  warp.last_issue = now;
}

// Is the next instruction of this warp held by a counter, a barrier or an unfinished copy group?
void Engine::check_blocked(Warp& warp, std::uint64_t now) {
  const DecodedInstruction& in = program_.code[static_cast<std::size_t>(warp.pc)];
  SubCore& sub = subs_[warp.sub];
  const std::uint64_t held = warp.counters & in.wait_bits;
  Stall reason = Stall::selected;
  if (warp.at_barrier) {
    reason = Stall::barrier;
  } else if (held != 0) {
    reason = (held & warp.long_mask) != 0 ? Stall::long_scoreboard : Stall::short_scoreboard;
  } else if (in.depbar != 0xff && static_cast<std::uint16_t>(warp.group_open - warp.group_head) > in.depbar) {
    reason = Stall::async_copy;
  }
  if (reason == Stall::selected) {
    if ((sub.blocked >> warp.bit & 1u) != 0) unblock(warp, now);
    return;
  }
  if ((sub.blocked >> warp.bit & 1u) == 0) {
    sub.blocked |= 1u << warp.bit;
    warp.blocked_since = now;
  }
  warp.blocked_by = reason;
}

void Engine::unblock(Warp& warp, std::uint64_t now) {
  SubCore& sub = subs_[warp.sub];
  sub.blocked &= ~(1u << warp.bit);
  warp.unblocked_at = now;
  sub.next_try = std::min(sub.next_try, now);
}

void Engine::release(Warp& warp, int counter, std::uint64_t now) {
  warp.counters -= std::uint64_t{1} << (8 * counter);
  if ((warp.counters >> (8 * counter) & 0xff) == 0) warp.long_mask &= ~(std::uint64_t{0xff} << (8 * counter));
  check_blocked(warp, now);
}

void Engine::handle(const Event& event, std::uint64_t now) {
  switch (event.kind) {
    case EventKind::front_arrival: arrive_at_front(event.warp, now); break;
    case EventKind::front_free:
      front_posted_ = false;
      serve_front(now);
      break;
    case EventKind::release: release(warps_[event.warp], event.counter, now); break;
    case EventKind::async_done: {
      Warp& warp = warps_[event.warp];
      --warp.group[event.counter];
      while (warp.group_head != warp.group_open && warp.group[warp.group_head % max_groups] == 0) ++warp.group_head;
      check_blocked(warp, now);
      break;
    }
    case EventKind::barrier_open: {
      CtaSlot& cta = slots_[event.warp];
      cta.arrived = 0;
      for (int i = 0; i < program_.warps; ++i) {
        Warp& warp = warps_[static_cast<std::size_t>(cta.first_warp + i)];
        if (!warp.at_barrier) continue;
        warp.at_barrier = false;
        check_blocked(warp, now);
      }
      break;
    }
    case EventKind::cta_start: start_cta(event.warp, now); break;
  }
}

void Engine::enqueue(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now) {
  const MemoryCost& cost = program_.memory[static_cast<std::size_t>(in.memory)];
  count_.rf_reads += in.reads;
  if (in.write_barrier >= 0 && (cost.kind == MemoryKind::load_global || cost.kind == MemoryKind::async_copy)) {
    warp.long_mask |= std::uint64_t{0xff} << (8 * in.write_barrier);
  }
  if (cost.kind == MemoryKind::async_copy) ++warp.group[warp.group_open % max_groups];
  const int tail = (sub.queue_head + sub.queue_size) % 8;
  sub.queue[static_cast<std::size_t>(tail)] = {now, id, in.memory, in.write_barrier, in.read_barrier,
                                               static_cast<std::uint8_t>(warp.group_open % max_groups)};
  if (++sub.queue_size == 1) post_front(sub, now);
}

void Engine::post_front(SubCore& sub, std::uint64_t now) {
  const QueuedAccess& head = sub.queue[static_cast<std::size_t>(sub.queue_head)];
  const std::uint64_t at = std::max({head.issued + front_delay, sub.front_ready, now + 1});
  events_.post(at, {EventKind::front_arrival, 0, static_cast<std::uint16_t>(&sub - subs_.data())});
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
  front_head_ = (front_head_ + 1) % 16;
  --front_size_;
  const QueuedAccess access = sub.queue[static_cast<std::size_t>(sub.queue_head)];
  const MemoryCost& cost = program_.memory[static_cast<std::size_t>(access.memory)];
  front_free_ = now + cost.front_cycles;
  count_.lsu_cycles += cost.front_cycles;
  sub.front_ready = now + cost.sub_core_cycles;
  sub.queue_head = (sub.queue_head + 1) % 8;
  if (sub.queue_size-- == queue_capacity_) sub.next_try = std::min(sub.next_try, now + 1);
  if (sub.queue_size > 0) post_front(sub, now);
  complete(sub, access, now);
  if (front_size_ > 0 && !front_posted_) serve_front(now);
}

void Engine::complete(SubCore& sub, const QueuedAccess& access, std::uint64_t now) {
  const MemoryCost& cost = program_.memory[static_cast<std::size_t>(access.memory)];
  if (cost.kind == MemoryKind::barrier) {
    arrive_at_barrier(warps_[access.warp].cta, now);
    return;
  }
  count_.shared_wavefronts += cost.wavefronts;
  count_.shared_conflict_wavefronts += cost.conflict_wavefronts;
  if (access.read_barrier >= 0) {
    const std::uint64_t lead = std::max<std::uint64_t>(cost.read_release, front_delay) - front_delay;
    events_.post(now + std::max<std::uint64_t>(lead, 1),
                 {EventKind::release, static_cast<std::uint8_t>(access.read_barrier), access.warp});
  }
  const std::uint64_t ready = std::max(now + 1, data_ready(sub, access, cost, now));
  if (access.write_barrier >= 0) {
    events_.post(ready, {EventKind::release, static_cast<std::uint8_t>(access.write_barrier), access.warp});
  }
  if (cost.kind == MemoryKind::async_copy) {
    events_.post(ready, {EventKind::async_done, access.group, access.warp});
  }
}

void Engine::arrive_at_barrier(std::uint16_t slot, std::uint64_t now) {
  CtaSlot& cta = slots_[slot];
  if (++cta.arrived == cta.running) events_.post(now + barrier_latency_, {EventKind::barrier_open, 0, slot});
}

std::uint64_t Engine::data_ready(SubCore& sub, const QueuedAccess& access, const MemoryCost& cost, std::uint64_t now) {
  const std::uint64_t unloaded = now + (cost.latency > front_delay ? cost.latency - front_delay : 1u);
  const auto sectors = static_cast<double>(cost.sectors);
  (void)access;
  switch (cost.kind) {
    case MemoryKind::load_shared:
      count_.shared_bytes += cost.bytes;
      return unloaded;
    case MemoryKind::store_shared:
      count_.shared_bytes += cost.bytes;
      return unloaded;
    case MemoryKind::load_global:
    case MemoryKind::async_copy: {
      count_.l1_bytes += cost.bytes;
      count_.read_sectors += sectors;
      const double beyond = 1.0 - env_.l1_hit_rate;
      read_port_free_ = std::max(read_port_free_, static_cast<double>(now)) + sectors * 32.0 * beyond / env_.read_bytes_per_cycle;
      const double latency = env_.latency * beyond + env_.l1_latency * env_.l1_hit_rate - front_delay + cost.latency;
      std::uint64_t ready = static_cast<std::uint64_t>(read_port_free_ + latency);
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
      write_port_free_ = std::max(write_port_free_, static_cast<double>(now)) + sectors * 32.0 / env_.write_bytes_per_cycle;
      return static_cast<std::uint64_t>(write_port_free_) + 1;
    case MemoryKind::constant:
    case MemoryKind::barrier:
    case MemoryKind::none: return unloaded;
  }
  return unloaded;
}

void Engine::start_cta(int slot, std::uint64_t now) {
  CtaSlot& cta = slots_[static_cast<std::size_t>(slot)];
  cta.running = program_.warps;
  cta.arrived = 0;
  cta.started = cta.main_begin = cta.main_end = now + skipped_;
  cta.in_main_loop = false;
  periodic_.restart();
  for (int i = 0; i < program_.warps; ++i) {
    Warp& warp = warps_[static_cast<std::size_t>(cta.first_warp + i)];
    SubCore& sub = subs_[warp.sub];
    const Warp fresh{.pc = 0, .cta = warp.cta, .sub = warp.sub, .bit = warp.bit, .ready_at = now, .last_issue = now};
    warp = fresh;
    sub.live |= 1u << warp.bit;
    sub.blocked &= ~(1u << warp.bit);
    check_blocked(warp, now);
    sub.next_try = std::min(sub.next_try, now);
  }
}

// The leading warp of a CTA begins another trip. Where all resident CTAs are in their main loops, trips of the
// slowest are the clock by which a period is recognised.
void Engine::pass_trip(const Warp& warp, std::uint16_t id, std::uint64_t now) {
  if (id != slots_[warp.cta].first_warp) return;
  periodic_.trips.resize(slots_.size());
  std::int64_t most_left = -1;
  std::uint16_t reference = 0;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const CtaSlot& cta = slots_[slot];
    periodic_.trips[slot] = -1;
    if (cta.running == 0) continue;
    if (!cta.in_main_loop) return;
    periodic_.trips[slot] = warps_[cta.first_warp].trips[static_cast<std::size_t>(main_loop_)];
    const std::int64_t left = work_.trips - periodic_.trips[slot];
    if (left > most_left) {
      most_left = left;
      reference = static_cast<std::uint16_t>(slot);
    }
  }
  if (reference != warp.cta) return;
  const std::int64_t periods = periodic_.observe(now, work_.trips, count_);
  if (periods <= 0) return;
  for (Warp& each : warps_) {
    if (slots_[each.cta].running == 0) continue;
    each.trips[static_cast<std::size_t>(main_loop_)] += static_cast<std::int32_t>(periods * periodic_.advanced(each.cta));
  }
  skipped_ += static_cast<std::uint64_t>(periods) * periodic_.length();
  count_ += periodic_.counters() * static_cast<double>(periods);
}

void Engine::phase_change(Warp& warp, std::uint16_t id, std::int32_t from, std::int32_t to, std::uint64_t now) {
  CtaSlot& cta = slots_[warp.cta];
  if (id != cta.first_warp) return;
  if (from < program_.mainloop_begin && to >= program_.mainloop_begin) {
    cta.main_begin = now + skipped_;
    cta.in_main_loop = true;
    periodic_.restart();
  }
  if (from < program_.epilogue_begin && to >= program_.epilogue_begin) {
    cta.main_end = now + skipped_;
    cta.in_main_loop = false;
    periodic_.restart();
  }
}

void Engine::finish_warp(SubCore& sub, Warp& warp, std::uint64_t now) {
  sub.live &= ~(1u << warp.bit);
  CtaSlot& cta = slots_[warp.cta];
  if (--cta.running > 0) {
    // A barrier may be waiting only for warps that have left.
    if (cta.arrived > 0 && cta.arrived == cta.running) {
      events_.post(now + barrier_latency_, {EventKind::barrier_open, 0, warp.cta});
    }
    return;
  }
  ++finished_;
  end_ = now + 1 + skipped_;
  count_.prologue_cycles += static_cast<double>(cta.main_begin - cta.started);
  count_.mainloop_cycles += static_cast<double>(cta.main_end - cta.main_begin);
  count_.epilogue_cycles += static_cast<double>(end_ - cta.main_end);
  for (int i = 0; i < program_.warps; ++i) {
    const Warp& other = warps_[static_cast<std::size_t>(cta.first_warp + i)];
    count_.stall_cycles[static_cast<std::size_t>(Stall::drained)] += static_cast<double>(now - other.last_issue);
  }
  if (launched_ < work_.ctas) {
    ++launched_;
    events_.post(now + std::max<std::uint64_t>(1, static_cast<std::uint64_t>(work_.relaunch)), {EventKind::cta_start, 0, warp.cta});
  }
}

}  // namespace

SmResult run_sm(const DecodedProgram& program, const arch::SmSpec& sm, const CoreSwitches& switches,
                const MemoryEnvironment& environment, const SmWork& work) {
  return Engine(program, sm, switches, environment, work).run();
}

}  // namespace noteg::core
