// Readiness, pipes, read ports and stall accounting of one sub-core.
#include <algorithm>

#include "sim/core/engine_state.hpp"

namespace noteg::core {

namespace {

// Cycles after which a variable-latency instruction outside the load/store path has read its sources.
constexpr std::uint64_t source_release = 6;

// Cycles from an instruction to the warp's next one.
std::uint64_t hold_of(const DecodedInstruction& in) { return std::max<std::uint64_t>(in.stall, in.yield != 0 ? 2 : 1); }

}  // namespace

inline void Engine::occupy_pipe(SubCore& sub, const DecodedInstruction& in, std::uint64_t now) {
  const auto fma_taken = [&] {
    sub.pipe_free[static_cast<std::size_t>(Action::fma_heavy)] = sub.heavy_free;
    sub.pipe_free[static_cast<std::size_t>(Action::fma)] =
        dual_fma_ ? std::min(sub.lite_free, sub.heavy_free) : sub.heavy_free;
    tally_.fma_cycles += dual_fma_ ? 1 : fma_interval_;
    sub.busy_pipes |= 1u << static_cast<unsigned>(Action::fma) | 1u << static_cast<unsigned>(Action::fma_heavy);
  };
  const auto taken_until = [&](std::uint64_t free) {
    sub.pipe_free[static_cast<std::size_t>(in.action)] = free;
    sub.busy_pipes |= 1u << static_cast<unsigned>(in.action);
  };
  switch (in.action) {
    case Action::fma:
      (dual_fma_ && sub.lite_free <= now ? sub.lite_free : sub.heavy_free) = now + fma_interval_;
      fma_taken();
      break;
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
        for (SubCore& each : subs_)
          each.pipe_free[static_cast<std::size_t>(Action::fp64)] = queue_free(fp64_free_, fp64_interval_);
      } else {
        sub.fp64_free = std::max(now, sub.fp64_free) + fp64_interval_;
        taken_until(sub.fp64_free);
      }
      break;
    case Action::tensor: {
      const TensorCost& cost = program_.tensor[static_cast<std::size_t>(in.tensor)];
      sub.tensor_free = std::max(sub.tensor_free, static_cast<double>(now)) + cost.interval;
      taken_until(static_cast<std::uint64_t>(sub.tensor_free));
      count_.tensor_cycles += cost.interval;
      count_.tensor_macs[cost.kind] += cost.macs;
      break;
    }
    case Action::uniform: taken_until(now + uniform_interval_); break;
    case Action::memory:
    case Action::constant_load:
    case Action::control:
    case Action::branch:
    case Action::barrier:
    case Action::asynchronous:
    case Action::exit: break;
  }
}

inline void Engine::account(SubCore& sub, Warp& warp, std::uint64_t now) {
  ++tally_.warp_instructions;
  if (now != warp.last_issue + 1)
    split_wait(sub, warp, now, [this](Stall reason, std::uint64_t from, std::uint64_t until) {
      count_.stall_cycles[static_cast<std::size_t>(reason)] += static_cast<double>(until - from);
    });
  warp.failed_by = Stall::not_selected;
  warp.last_issue = sub.issued_last[warp.bit] = now;
}

inline void Engine::read_operands(SubCore& sub, const DecodedInstruction& in, std::uint16_t id, std::uint64_t now) {
  if (in.reads == 0 && in.action != Action::tensor) return;
  const ReadPorts::Grant grant =
      in.action == Action::tensor
          ? sub.ports.allocate_wide(program_.tensor[static_cast<std::size_t>(in.tensor)].need, now)
          : sub.ports.allocate(in, id, now);
  tally_.rf_reads += grant.reads;
  tally_.rf_hits += grant.hits;
  sub.issue_free = grant.allocated - 1;
  tally_.rf_conflict_cycles += grant.allocated - 2 - now;
}

// Fetch runs an instruction buffer ahead of issue; a jump starts it anew at its target.
void Engine::fetch(Warp& warp, std::int32_t from, std::int32_t next, std::uint64_t now) {
  if (icache_.never_misses()) return;
  const std::int32_t line = icache_.line_of(next);
  if (next != from + 1 || line != icache_.line_of(from))
    warp.ready_at = std::max(warp.ready_at, icache_.touch(warp.sub, line, now));
  const std::int32_t ahead = icache_.line_of(next + icache_.lead());
  if (ahead != line) icache_.touch(warp.sub, ahead, now);
}

inline void Engine::go_on(Warp& warp, std::uint16_t id, std::int32_t next, std::uint64_t now) {
  const DecodedInstruction& to = program_.code[static_cast<std::size_t>(next)];
  if (to.region != program_.code[static_cast<std::size_t>(warp.pc)].region) phase_change(warp, id, warp.pc, next, now);
  if (!icache_.never_misses()) fetch(warp, warp.pc, next, now);
  warp.pc = next;
  SubCore& sub = subs_[warp.sub];
  if (plain_) set_held_by(sub, warp, to.held_by);
  if (to.waits || warp.at_barrier || !plain_) check_blocked(warp, now);
  sub.wheel.put(warp.bit, warp.ready_at, now);
}

// The short way of an instruction that needs nothing but its pipe and its operands (DecodedInstruction::simple).
inline void Engine::issue_simple(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in,
                                 std::uint64_t now) {
  account(sub, warp, now);
  sub.issued_at = now;
  ++count_.issued[in.opcode];
  occupy_pipe(sub, in, now);
  read_operands(sub, in, id, now);
  warp.ready_at = warp.stalled_until = now + hold_of(in);
  go_on(warp, id, warp.pc + 1, now);
}

Engine::Try Engine::try_issue(SubCore& sub, Warp& warp, std::uint16_t id, std::uint64_t now) {
  if (warp.ready_at > now) {  // further ahead than the wheel reaches
    sub.wheel.put(warp.bit, warp.ready_at, now);
    return {false, warp.ready_at};
  }
  const DecodedInstruction& in = program_.code[static_cast<std::size_t>(warp.pc)];
  if (in.simple && plain_) {
    const std::uint64_t free = sub.pipe_free[static_cast<std::size_t>(in.action)];
    if (free > now) {
      warp.failed_by = Stall::math_pipe;
      warp.failed_until = free;
      sub.wheel.put(warp.bit, free, now);
      return {false, free};
    }
    issue_simple(sub, warp, id, in, now);
    return {true, 0};
  }
  if (in.constant_line != no_constant && switches_.constant_cache) {
    const std::uint64_t there = sub.constants.touch(in.constant_line, now);
    if (there > now) {
      warp.failed_by = Stall::constant_miss;
      warp.failed_until = there;
      if (there > now + constant_miss_hold) sub.issue_free = std::max(sub.issue_free, now + constant_miss_hold);
      return {false, there};
    }
  }
  if (in.action == Action::memory || (in.action == Action::barrier && switches_.barriers)) {
    if (sub.queue_size >= queue_capacity_) {
      warp.failed_by = Stall::memory_queue;
      warp.failed_until = never;  // known only when an entry leaves
      sub.queueing |= 1u << warp.bit;
      return {false, never};  // the queue wakes the sub-core when an entry leaves
    }
  } else {
    std::uint64_t free = sub.pipe_free[static_cast<std::size_t>(in.action)];
    if (in.async >= 0 && program_.async[static_cast<std::size_t>(in.async)].kind == kernels::AsyncKind::matmul)
      free = matmul_room(warp);
    if (free > now) {
      warp.failed_by = Stall::math_pipe;
      warp.failed_until = free;
      sub.wheel.put(warp.bit, free, now);
      return {false, free};
    }
  }
  issue(sub, warp, id, in, now);
  return {true, 0};
}

// Variable-latency instructions wait in a queue of their unit, not at issue (MICRO25, section 5).
std::uint64_t Engine::queue_free(std::uint64_t unit_free, std::uint64_t interval) {
  const std::uint64_t waiting = variable_queue * interval;
  return unit_free > waiting ? unit_free - waiting : 0;
}

// Cycles between the issue of a variable-latency instruction and its start in its unit.
std::uint64_t Engine::queued(const SubCore& sub, const DecodedInstruction& in, std::uint64_t now) const {
  switch (in.action) {
    case Action::mufu: return sub.mufu_free - mufu_interval_ - now;
    case Action::fp64: return (fp64_shared_ ? fp64_free_ : sub.fp64_free) - fp64_interval_ - now;
    case Action::fma:
    case Action::fma_heavy:
    case Action::alu:
    case Action::half:
    case Action::tensor:
    case Action::uniform:
    case Action::memory:
    case Action::constant_load:
    case Action::control:
    case Action::branch:
    case Action::barrier:
    case Action::asynchronous:
    case Action::exit: break;
  }
  return 0;
}

void Engine::issue(SubCore& sub, Warp& warp, std::uint16_t id, const DecodedInstruction& in, std::uint64_t now) {
  if (work_.recorder != nullptr) record_issue(sub, warp, id, now);
  account(sub, warp, now);
  sub.issued_at = now;
  ++count_.issued[in.opcode];
  occupy_pipe(sub, in, now);
  if (work_.recorder != nullptr) record_pipe(sub, in, id, warp.pc, now);

  if (in.action != Action::memory && in.action != Action::constant_load) read_operands(sub, in, id, now);
  if (scoreboard_) {
    warp.ready_at = now + 1;
    if (in.action != Action::memory && in.action != Action::constant_load) scoreboard_->issued(id, warp.pc, now);
  } else {
    if (in.write_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.write_barrier);
    if (in.read_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.read_barrier);
    warp.ready_at = now + hold_of(in);
  }
  warp.stalled_until = warp.ready_at;

  std::int32_t next = warp.pc + 1;
  switch (in.action) {
    case Action::memory: enqueue(sub, warp, id, in, now); break;
    case Action::constant_load: load_constant(sub, warp, id, in, now); break;
    case Action::branch: {
      const auto loop = static_cast<std::size_t>(in.loop);
      const std::int64_t trips = trips_of(warp, program_.loops[loop]);
      if (++warp.trips[loop] < trips) {
        if (watches_trips_ && program_.loops[loop].is_main) pass_trip(warp, id, now);
        next = in.target;
        warp.ready_at = std::max(warp.ready_at, now + redirect_);
      } else {
        warp.trips[loop] = 0;
      }
      break;
    }
    case Action::barrier:
      if (!switches_.barriers) break;
      warp.at_barrier = true;
      enqueue(sub, warp, id, in, now);
      break;
    case Action::asynchronous: issue_async(warp, id, in, now); break;
    case Action::exit: finish_warp(sub, warp, now); return;
    case Action::mufu:
    case Action::fp64:
    case Action::fma:
    case Action::fma_heavy:
    case Action::alu:
    case Action::half:
    case Action::tensor:
    case Action::uniform:
    case Action::control:
      if (scoreboard_) {
        if (!scoreboard_->is_variable(warp.pc)) break;
        events_.post(now + in.latency, {EventKind::registers_written, 0, id, warp.pc});
        events_.post(now + source_release, {EventKind::registers_read, 0, id, warp.pc});
        break;
      }
      if (in.write_barrier >= 0 && in.commit == 0) {
        events_.post(now + queued(sub, in, now) + in.latency,
                     {EventKind::release, static_cast<std::uint8_t>(in.write_barrier), id});
      }
      if (in.read_barrier >= 0) {
        events_.post(now + source_release, {EventKind::release, static_cast<std::uint8_t>(in.read_barrier), id});
      }
      break;
  }
  if (in.commit != 0) {
    // An empty or already finished group at the head is complete at once.
    ++warp.group_open;
    warp.group[warp.group_open % max_groups] = 0;
    retire_groups(warp);
  }
  if (!program_.tiles.empty()) {
    const TileShare& share = program_.tiles[id - slots_[warp.cta].first_warp];
    if (next == share.loop && next == warp.pc + 1 && tiles_of(share) < 1) next = share.exit;
  }
  go_on(warp, id, next, now);
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
  } else if (in.depbar_counter >= 0) {
    const int counter = 8 * in.depbar_counter;
    if ((warp.counters >> counter & 0xff) > in.depbar) {
      reason = (warp.long_mask >> counter & 0xff) != 0 ? Stall::long_scoreboard : Stall::short_scoreboard;
    }
  } else if (in.depbar != 0xff && static_cast<std::uint16_t>(warp.group_open - warp.group_head) > in.depbar) {
    reason = Stall::async_copy;
  } else if (!program_.async.empty()) {
    reason = check_async(warp, in);
    if (reason == Stall::selected) warp.async.sync_barrier = -1;
  }
  if (scoreboard_ && reason == Stall::selected) reason = check_scoreboard(warp);
  if (reason == Stall::selected) {
    if ((sub.blocked >> warp.bit & 1u) != 0) unblock(warp, now);
    return;
  }
  sub.blocked |= 1u << warp.bit;
  warp.blocked_by = reason;
}

Stall Engine::check_scoreboard(Warp& warp) {
  const Scoreboard::Hold hold = scoreboard_->hold(id_of(warp), warp.pc);
  if (hold.pending) return hold.global ? Stall::long_scoreboard : Stall::short_scoreboard;
  if (hold.ready_at > warp.ready_at) warp.ready_at = warp.stalled_until = hold.ready_at;
  return Stall::selected;
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

}  // namespace noteg::core
