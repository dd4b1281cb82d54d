// What every instruction passes through at issue, compiled into the cycle loop: which warp of a sub-core is tried,
// accounting of its wait, its pipe, its operands, and when its warp may go on.
#pragma once

#include <algorithm>

#include "sim/sm/machine.hpp"

namespace noteg::sm {

// Cycles after which a variable-latency instruction outside the load/store path has read its sources.
inline constexpr std::uint64_t source_release = 6;

// Returns 0 if the warp has issued, or else the first cycle in which trying again makes sense.
inline std::uint64_t Machine::try_issue(SubCore& sub, Warp& warp, std::uint64_t now) {
  if (warp.ready_at > now) {  // further ahead than the wheel reaches
    sub.scheduler.try_from(warp, warp.ready_at, now);
    return warp.ready_at;
  }
  const DecodedInstruction& in = *warp.next;
  if (in.constant_line != no_constant && switches.constant_cache) {
    const bool has_asked = warp.failed_by == Stall::constant_miss;  // what comes for it is not missed again
    const std::uint64_t there =
        has_asked ? warp.failed_until : sub.constants.touch(in.constant_line, now, constant_fill);
    if (there > now) {
      if (!has_asked && there > now + constant_miss_hold)
        sub.issue_free = std::max(sub.issue_free, now + constant_miss_hold);
      warp.failed_by = Stall::constant_miss;
      warp.failed_until = there;
      return there;
    }
  }
  if (in.queues) {
    if (load_store.is_full(sub.index)) {
      sub.scheduler.wait_for_queue(warp);
      return never;  // the queue wakes the sub-core when an entry leaves
    }
  } else {
    const std::uint64_t free = pipes.free_from(sub.index, static_cast<std::size_t>(in.action));
    if (free > now) {
      sub.scheduler.try_from(warp, free, now);
      return free;
    }
  }
  issue(sub, warp, now);
  return 0;
}

inline void Machine::issue(SubCore& sub, Warp& warp, std::uint64_t now) {
  const DecodedInstruction& in = *warp.next;
  const std::uint16_t id = id_of(warp);
  const bool to_memory = in.action == Action::memory || in.action == Action::constant_load;
  if (observer.listens()) observer.issues(*this, warp, now);
  account(sub, warp, now);
  pipes.occupy(sub.index, sub.scheduler, warp, in, now, tally, count);
  if (observer.listens()) observer.piped(*this, warp, now);
  // An address finds a free port, unless matrix instructions leave none: then it takes a cycle of its own
  // (h100_sm_micro, mma_loop).
  if (!to_memory || (in.action == Action::memory && ports_full_))
    read_operands(sub, in, id, now);
  else
    tally.rf_reads += in.reads;
  if (scoreboard) {
    warp.ready_at = now + 1;
    if (!to_memory) scoreboard->issued(id, warp.pc, now);
  } else {
    if (in.write_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.write_barrier);
    if (in.read_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.read_barrier);
    warp.ready_at = now + in.hold;
  }
  warp.stalled_until = warp.ready_at;
  warp.ready_at = std::max(warp.ready_at, now + in.redirect);
  if (in.action == Action::exit) {
    sub.scheduler.end(warp);
    return ctas.end_warp(warp, now);
  }
  go_on(sub, warp, execute(sub, warp, now), now);
}

// What an instruction does beside taking its pipe; returns where its warp goes on.
inline std::int32_t Machine::execute(SubCore& sub, Warp& warp, std::uint64_t now) {
  const DecodedInstruction& in = *warp.next;
  const std::uint16_t id = id_of(warp);
  std::int32_t next = warp.pc + 1;
  switch (in.action) {
    case Action::memory: load_store.enqueue(warp, id, in, now); break;
    case Action::constant_load: load_store.load_constant(warp, id, in, now); break;
    case Action::branch: next = branch(warp, now); break;
    case Action::barrier:
      if (!switches.barriers) break;
      warp.at_barrier = true;
      load_store.enqueue(warp, id, in, now);
      break;
    case Action::asynchronous:
      async.issue(warp, id, in, now);
      if (!in.queues && (in.write_barrier >= 0 || in.read_barrier >= 0)) signal(warp, now);
      break;
    case Action::exit: break;
    case Action::mufu:
    case Action::fp64:
    case Action::fma:
    case Action::fma_heavy:
    case Action::alu:
    case Action::half:
    case Action::tensor:
    case Action::uniform:
    case Action::control: signal(warp, now + pipes.queued(sub.index, in, now)); break;
  }
  if (in.commit != 0) {
    // An empty or already finished group at the head is complete at once.
    ++warp.group_open;
    warp.group[warp.group_open % max_groups] = 0;
    retire_groups(warp);
  }
  if (program.tiles.empty()) return next;
  const TileShare& share = program.tiles[static_cast<std::size_t>(place_of(warp))];
  return next == share.loop && next == warp.pc + 1 && tiles_of(share) < 1 ? share.exit : next;
}

// The guard of a loop: past the loop where it has no iteration.
inline std::int32_t Machine::pass_guard(Warp& warp, const DecodedLoop& loop, std::uint64_t now) {
  if (iterations_of(place_of(warp), loop) > 0) return warp.pc + 1;
  warp.stalled_until = now + 1;
  warp.ready_at = std::max(warp.ready_at, now + redirect_);
  return loop.branch + 1;
}

// A backward branch: another iteration of its loop, or on behind it.
inline std::int32_t Machine::branch(Warp& warp, std::uint64_t now) {
  const DecodedInstruction& in = *warp.next;
  const auto loop = static_cast<std::size_t>(in.loop);
  if (warp.pc < program.loops[loop].begin) return pass_guard(warp, program.loops[loop], now);
  std::int32_t& done = warp.iterations[static_cast<std::size_t>(program.loops[loop].depth)];
  if (++done < iterations_of(place_of(warp), program.loops[loop])) {
    if (fast_forward) fast_forward->iteration_begins(warp, in.loop, now);
    warp.stalled_until = now + 1;
    warp.ready_at = std::max(warp.ready_at, now + redirect_);
    return in.target;
  }
  done = 0;
  if (fast_forward) fast_forward->loop_ends(in.loop);
  return warp.pc + 1;
}

// A variable-latency instruction outside the load/store path starts at `begins`: when its counters are released.
inline void Machine::signal(const Warp& warp, std::uint64_t begins) {
  const DecodedInstruction& in = *warp.next;
  const std::uint16_t id = id_of(warp);
  const std::uint64_t now = warp.last_issue;
  if (scoreboard) {
    if (!scoreboard->is_variable(warp.pc)) return;
    events.post(now + in.latency, {EventKind::registers_written, 0, id, warp.pc});
    events.post(now + source_release, {EventKind::registers_read, 0, id, warp.pc});
    return;
  }
  if (in.write_barrier >= 0 && in.commit == 0)
    events.post(begins + in.latency, {EventKind::release, static_cast<std::uint8_t>(in.write_barrier), id});
  if (in.read_barrier >= 0)
    events.post(now + source_release, {EventKind::release, static_cast<std::uint8_t>(in.read_barrier), id});
}

// --- The short way.

// May the warp go on with an instruction that needs nothing but its pipe, and finds it free?
inline bool Machine::goes_the_short_way(const Warp& warp, std::uint64_t now) const {
  const DecodedInstruction& in = *warp.next;
  return (static_cast<unsigned>(plain_) & static_cast<unsigned>(in.simple) &
          static_cast<unsigned>(warp.ready_at <= now) &
          static_cast<unsigned>(pipes.free_from(warp.sub, static_cast<std::size_t>(in.action)) <= now)) != 0;
}

// Warp `bit` has issued: when is there anything to do again?
inline void Machine::sleep(SubCore& sub, int bit, bool yields, bool went_on, std::uint64_t now) {
  sub.scheduler.has_issued(bit, yields, went_on);
  next_try(sub) = std::max(now + 1, sub.issue_free);
  if (!sub.scheduler.has_ready(now)) next_try(sub) = std::max(next_try(sub), sub.scheduler.next_ready(now));
}

[[gnu::always_inline]] inline void Machine::account(SubCore& sub, Warp& warp, std::uint64_t now) {
  ++tally.warp_instructions;
  const std::uint64_t ready = warp.last_issue + 1;
  if (now <= std::max(ready, warp.stalled_until))  // the most frequent case of split_wait()
    count.stall_cycles[static_cast<std::size_t>(Stall::wait)] += as_double(now - std::min(ready, now));
  else
    split_wait(warp, now, [this](Stall reason, std::uint64_t from, std::uint64_t until) {
      count.stall_cycles[static_cast<std::size_t>(reason)] += as_double(until - from);
    });
  warp.failed_by = Stall::not_selected;
  warp.last_issue = now;
  sub.scheduler.issues(warp, now);
  sub.issued_at = now;
  ++count.issued[warp.next->opcode];
}

[[gnu::always_inline]] inline void Machine::read_operands(SubCore& sub, const DecodedInstruction& in, std::uint16_t id,
                                                          std::uint64_t now) {
  if (in.reads == 0 && in.action != Action::tensor) return;
  const RegisterFile::Grant grant =
      in.action == Action::tensor
          ? sub.registers.allocate_wide(program.tensor[static_cast<std::size_t>(in.tensor)].need, now)
          : sub.registers.allocate(in, id, now);
  tally.rf_reads += grant.reads;
  tally.rf_hits += grant.hits;
  sub.issue_free = grant.allocated - issue_lead_ + in.held_dispatch;
  const std::uint64_t held = grant.allocated - 2 - now;
  tally.rf_conflict_cycles += held;
  if (held + in.held_dispatch > 0) sub.holds.add(now + 1, sub.issue_free);
}

[[gnu::always_inline]] inline void Machine::go_on(SubCore& sub, Warp& warp, std::int32_t next, std::uint64_t now) {
  const DecodedInstruction& to = warp.next[next - warp.pc];
  if (to.region != warp.next->region) ctas.change_region(warp, warp.pc, next, now);
  if (!icache.never_misses()) fetch(warp, warp.pc, next, now);
  warp.pc = next;
  warp.next = &to;
  if (plain_) sub.scheduler.set_need(warp, to.held_by);
  if (to.waits || warp.at_barrier || !plain_) check_blocked(warp, now);
  // Nobody need look at it before its pipe is free; what waits for no pipe finds a time that is over by then.
  sub.scheduler.try_again_from(warp, std::max(warp.ready_at, pipes.free_from(sub.index, to.held_by)), now);
}

// The short way of an instruction that needs nothing but its pipe and its operands (DecodedInstruction::simple).
[[gnu::always_inline]] inline void Machine::issue_simple(SubCore& sub, Warp& warp, std::uint64_t now) {
  const DecodedInstruction& in = *warp.next;
  account(sub, warp, now);
  pipes.occupy(sub.index, sub.scheduler, warp, in, now, tally, count);
  read_operands(sub, in, id_of(warp), now);
  warp.ready_at = warp.stalled_until = now + in.hold;
  go_on(sub, warp, warp.pc + 1, now);
}

[[gnu::always_inline]] inline void Machine::step(SubCore& sub, std::uint64_t now) {
  if (sub.issue_free > now) {
    next_try(sub) = sub.issue_free;
    return;
  }
  WarpScheduler& scheduler = sub.scheduler;
  std::uint32_t candidates = scheduler.candidates(now);
  // A warp that goes on while it can; then whom the policy chooses.
  int bit = scheduler.going_on(candidates, now, sub.issue_free, sub.issued_at);
  bool goes_on = bit >= 0;
  if (!goes_on || !goes_the_short_way(scheduler.warp(bit), now)) {
    std::uint64_t again = never;
    // Those that wait for nothing but a pipe that is busy or a place in the queue that is full are not asked.
    const bool is_full = switches.barriers && load_store.is_full(sub.index);
    std::uint32_t held = candidates & scheduler.needs(queue_place) & (0u - static_cast<std::uint32_t>(is_full));
    held |= pipes.held(sub.index, scheduler, candidates, now, again);
    candidates &= ~held;
    if (goes_on && (candidates >> bit & 1u) == 0) {
      bit = scheduler.going_on(candidates, now, sub.issue_free, sub.issued_at);
      goes_on = bit >= 0;
    }
    while (true) {
      if (candidates == 0) {
        next_try(sub) = std::min(again, scheduler.next_ready(now));
        return;
      }
      if (!goes_on) bit = scheduler.choose(candidates);
      Warp& warp = scheduler.warp(bit);
      if (goes_the_short_way(warp, now)) break;
      const bool yields = warp.next->yields;
      const std::uint64_t retry = try_issue(sub, warp, now);
      if (retry == 0) return sleep(sub, bit, yields, goes_on, now);
      goes_on = false;
      if (sub.issue_free > now) {
        next_try(sub) = sub.issue_free;
        return;
      }
      candidates &= ~(1u << bit);
      again = std::min(again, retry);
    }
  }
  const bool yields = scheduler.warp(bit).next->yields;
  issue_simple(sub, scheduler.warp(bit), now);
  sleep(sub, bit, yields, goes_on, now);
}

}  // namespace noteg::sm
