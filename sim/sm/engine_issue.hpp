// What every instruction passes through at issue, compiled into the cycle loop: accounting of the wait before it, its
// pipe, its read ports, and when its warp may go on.
#pragma once

#include <algorithm>

#include "sim/sm/engine_state.hpp"

namespace noteg::sm {

// Cycles never fill the last bit, and signed numbers are converted in one instruction of the host.
inline double as_double(std::uint64_t cycles) { return static_cast<double>(static_cast<std::int64_t>(cycles)); }

[[gnu::always_inline]] inline void Engine::occupy_pipe(SubCore& sub, const Warp& warp, const DecodedInstruction& in,
                                                       std::uint64_t now) {
  // Others that were ready for a pipe need not be looked at before it is free.
  const auto put_others_off = [&](std::uint32_t warps, std::uint64_t free) {
    sub.wheel.put_off(warps & ~(1u << warp.bit), free, now);
  };
  const auto fma_taken = [&] {
    sub.pipe_free[static_cast<std::size_t>(Action::fma_heavy)] = sub.heavy_free;
    sub.pipe_free[static_cast<std::size_t>(Action::fma)] =
        dual_fma_ ? std::min(sub.lite_free, sub.heavy_free) : sub.heavy_free;
    tally_.fma_cycles += dual_fma_ ? 1 : fma_interval_;
    sub.busy_pipes |= 1u << static_cast<unsigned>(Action::fma) | 1u << static_cast<unsigned>(Action::fma_heavy);
    if (!dual_fma_) put_others_off(sub.needs[static_cast<std::size_t>(Action::fma)], sub.heavy_free);
  };
  const auto taken_until = [&](std::uint64_t free) {
    const auto pipe = static_cast<std::size_t>(in.action);
    sub.pipe_free[pipe] = free;
    sub.busy_pipes |= 1u << pipe;
    put_others_off(sub.needs[pipe], free);
  };
  if (in.action == Action::tensor) {  // the most frequent of a matrix kernel
    const TensorCost& cost = program_.tensor[static_cast<std::size_t>(in.tensor)];
    sub.tensor_free = std::max(sub.tensor_free, as_double(now)) + cost.interval;
    count_.tensor_cycles += cost.interval;
    count_.tensor_macs[cost.kind] += cost.macs;
    return taken_until(static_cast<std::uint64_t>(static_cast<std::int64_t>(sub.tensor_free)));
  }
  switch (in.action) {
    case Action::fma: {
      const bool lite = dual_fma_ && sub.lite_free <= now;
      const std::uint64_t free = now + fma_interval_;
      sub.lite_free = lite ? free : sub.lite_free;
      sub.heavy_free = lite ? sub.heavy_free : free;
      fma_taken();
      break;
    }
    case Action::fma_heavy:
      sub.heavy_free = now + heavy_interval_;
      fma_taken();
      break;
    case Action::alu:
      taken_until(now + alu_interval_);
      tally_.alu_cycles += alu_interval_;
      break;
    case Action::half: taken_until(now + half_interval_); break;
    case Action::mufu:
      sub.mufu_free = std::max(now, sub.mufu_free) + mufu_interval_;
      taken_until(queue_free(sub.mufu_free, mufu_interval_));
      break;
    case Action::fp64:
      if (fp64_shared_) {
        fp64_free_ = std::max(now, fp64_free_) + fp64_interval_;
        for (SubCore& each : subs_) {
          each.pipe_free[static_cast<std::size_t>(Action::fp64)] = queue_free(fp64_free_, fp64_interval_);
          each.busy_pipes |= 1u << static_cast<unsigned>(Action::fp64);
        }
      } else {
        sub.fp64_free = std::max(now, sub.fp64_free) + fp64_interval_;
        taken_until(sub.fp64_free);
      }
      break;
    case Action::uniform: taken_until(now + uniform_interval_); break;
    case Action::branch:
      // One branch a cycle is what a sub-core issues at most.
      if (branch_interval_ > 1 || shared_pipes_ != 0)
        sub.pipe_free[static_cast<std::size_t>(Action::branch)] = now + branch_interval_;
      break;
    case Action::tensor:
    case Action::memory:
    case Action::constant_load:
    case Action::control:
    case Action::barrier:
    case Action::asynchronous:
    case Action::exit: break;
  }
  if ((shared_pipes_ >> static_cast<unsigned>(in.action) & 1u) != 0) share_pipe(sub, in.action);
}

[[gnu::always_inline]] inline void Engine::account(SubCore& sub, Warp& warp, std::uint64_t now) {
  ++tally_.warp_instructions;
  const std::uint64_t ready = warp.last_issue + 1;
  if (now <= std::max(ready, warp.stalled_until))  // the most frequent case of split_wait()
    count_.stall_cycles[static_cast<std::size_t>(Stall::wait)] += as_double(now - std::min(ready, now));
  else
    split_wait(sub, warp, now, [this](Stall reason, std::uint64_t from, std::uint64_t until) {
      count_.stall_cycles[static_cast<std::size_t>(reason)] += as_double(until - from);
    });
  warp.failed_by = Stall::not_selected;
  warp.last_issue = sub.issued_last[warp.bit] = now;
}

[[gnu::always_inline]] inline void Engine::read_operands(SubCore& sub, const DecodedInstruction& in, std::uint16_t id,
                                                         std::uint64_t now) {
  if (in.reads == 0 && in.action != Action::tensor) return;
  const ReadPorts::Grant grant =
      in.action == Action::tensor
          ? sub.ports.allocate_wide(program_.tensor[static_cast<std::size_t>(in.tensor)].need, now)
          : sub.ports.allocate(in, id, now);
  tally_.rf_reads += grant.reads;
  tally_.rf_hits += grant.hits;
  sub.issue_free = grant.allocated - issue_lead_;
  tally_.rf_conflict_cycles += grant.allocated - 2 - now;
}

[[gnu::always_inline]] inline void Engine::go_on(SubCore& sub, Warp& warp, std::uint16_t id, std::int32_t next,
                                                 std::uint64_t now) {
  const DecodedInstruction& to = warp.next[next - warp.pc];
  if (to.region != warp.next->region) phase_change(warp, id, warp.pc, next, now);
  if (!icache_.never_misses()) fetch(warp, warp.pc, next, now);
  warp.pc = next;
  warp.next = &to;
  if (plain_) set_held_by(sub, warp, to.held_by);
  if (to.waits || warp.at_barrier || !plain_) check_blocked(warp, now);
  // Nobody need look at it before its pipe is free; what waits for no pipe finds a time that is over by then.
  sub.wheel.put_back(warp.bit, std::max(warp.ready_at, sub.pipe_free[to.held_by]), now);
}

// The short way of an instruction that needs nothing but its pipe and its operands (DecodedInstruction::simple).
[[gnu::always_inline]] inline void Engine::issue_simple(SubCore& sub, Warp& warp, std::uint16_t id, std::uint64_t now) {
  const DecodedInstruction& in = *warp.next;
  account(sub, warp, now);
  sub.issued_at = now;
  ++count_.issued[in.opcode];
  occupy_pipe(sub, warp, in, now);
  read_operands(sub, in, id, now);
  warp.ready_at = warp.stalled_until = now + in.hold;
  go_on(sub, warp, id, warp.pc + 1, now);
}

}  // namespace noteg::sm
