// What every instruction passes through at issue, compiled into the cycle loop: which warp of a sub-core is tried,
// accounting of its wait, its pipe, its operands, and when its warp may go on.
#pragma once

#include <algorithm>

#include "sim/sm/machine.hpp"

namespace noteg::sm {

// May the warp go on with an instruction that needs nothing but its pipe, and finds it free?
inline bool Machine::goes_the_short_way(const Warp& warp, std::uint64_t now) const {
  const DecodedInstruction& in = *warp.next;
  return (static_cast<unsigned>(plain_) & static_cast<unsigned>(in.simple) &
          static_cast<unsigned>(warp.ready_at <= now) &
          static_cast<unsigned>(pipes.free_from(warp.sub, static_cast<std::size_t>(in.action)) <= now)) != 0;
}

// Warp `bit` has issued: when is there anything to do again?
inline void Machine::sleep(SubCore& sub, int bit, std::uint64_t now) {
  sub.scheduler.has_issued(bit);
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
  sub.issue_free = grant.allocated - issue_lead_;
  tally.rf_conflict_cycles += grant.allocated - 2 - now;
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
  // Greedy: the warp that issued last goes on while it can; then whom the policy chooses.
  bool greedy = scheduler.goes_on(candidates);
  int bit = scheduler.last();
  if (!greedy || !goes_the_short_way(scheduler.warp(bit), now)) {
    std::uint64_t again = never;
    // Those that wait for nothing but a pipe that is busy or a place in the queue that is full are not asked.
    const bool is_full = switches.barriers && load_store.is_full(sub.index);
    std::uint32_t held = candidates & scheduler.needs(queue_place) & (0u - static_cast<std::uint32_t>(is_full));
    held |= pipes.held(sub.index, scheduler, candidates, now, again);
    candidates &= ~held;
    greedy = scheduler.goes_on(candidates);
    while (true) {
      if (candidates == 0) {
        next_try(sub) = std::min(again, scheduler.next_ready(now));
        return;
      }
      if (!greedy) bit = scheduler.choose(candidates);
      greedy = false;
      Warp& warp = scheduler.warp(bit);
      if (goes_the_short_way(warp, now)) break;
      const std::uint64_t retry = try_issue(sub, warp, now);
      if (retry == 0) return sleep(sub, bit, now);
      if (sub.issue_free > now) {
        next_try(sub) = sub.issue_free;
        return;
      }
      candidates &= ~(1u << bit);
      again = std::min(again, retry);
    }
  }
  issue_simple(sub, scheduler.warp(bit), now);
  sleep(sub, bit, now);
}

}  // namespace noteg::sm
