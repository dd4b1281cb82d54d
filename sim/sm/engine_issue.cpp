// Issue of instructions that wait for more than a pipe, and what holds a warp back.
#include <algorithm>

#include "sim/sm/engine_issue.hpp"

namespace noteg::sm {

namespace {

// Cycles after which a variable-latency instruction outside the load/store path has read its sources.
constexpr std::uint64_t source_release = 6;

}  // namespace

// Fetch runs an instruction buffer ahead of issue; a jump starts it anew at its target.
void Engine::fetch(Warp& warp, std::int32_t from, std::int32_t next, std::uint64_t now) {
  if (icache_.never_misses()) return;
  const std::int32_t line = icache_.line_of(next);
  if (next != from + 1 || line != icache_.line_of(from))
    warp.ready_at = std::max(warp.ready_at, icache_.touch(warp.sub, line, now));
  const std::int32_t ahead = icache_.line_of(next + icache_.lead());
  if (ahead != line) icache_.touch(warp.sub, ahead, now);
}

// Returns 0 if the warp has issued, or else the first cycle in which trying again makes sense.
std::uint64_t Engine::try_issue(SubCore& sub, Warp& warp, std::uint16_t id, std::uint64_t now) {
  if (warp.ready_at > now) {  // further ahead than the wheel reaches
    sub.wheel.put(warp.bit, warp.ready_at, now);
    return warp.ready_at;
  }
  const DecodedInstruction& in = *warp.next;
  if (in.constant_line != no_constant && switches_.constant_cache) {
    const std::uint64_t there = sub.constants.touch(in.constant_line, now);
    if (there > now) {
      warp.failed_by = Stall::constant_miss;
      warp.failed_until = there;
      if (there > now + constant_miss_hold) sub.issue_free = std::max(sub.issue_free, now + constant_miss_hold);
      return there;
    }
  }
  if (in.action == Action::memory || (in.action == Action::barrier && switches_.barriers)) {
    if (sub.queue_size >= queue_capacity_) {
      sub.queueing |= 1u << warp.bit;
      return never;  // the queue wakes the sub-core when an entry leaves
    }
  } else {
    std::uint64_t free = sub.pipe_free[static_cast<std::size_t>(in.action)];
    if (in.async >= 0 && program_.async[static_cast<std::size_t>(in.async)].kind == kernels::AsyncKind::matmul) {
      free = matmul_room(warp);
      if (free > now) {
        warp.failed_by = Stall::math_pipe;
        warp.failed_until = free;
      }
    }
    if (free > now) {
      sub.wheel.put(warp.bit, free, now);
      return free;
    }
  }
  issue(sub, warp, id, in, now);
  return 0;
}

// What one sub-core has just put into a pipe of which the SM has one keeps the others from it.
void Engine::share_pipe(const SubCore& user, Action action) {
  const auto pipe = static_cast<std::size_t>(action);
  const auto fma = static_cast<std::size_t>(Action::fma), heavy = static_cast<std::size_t>(Action::fma_heavy);
  for (SubCore& each : subs_) {
    if (pipe == fma) each.lite_free = std::max(each.lite_free, user.lite_free);
    if (pipe == fma || pipe == heavy) {
      each.heavy_free = std::max(each.heavy_free, user.heavy_free);
      each.pipe_free[heavy] = each.heavy_free;
      each.pipe_free[fma] = dual_fma_ ? std::min(each.lite_free, each.heavy_free) : each.heavy_free;
      each.busy_pipes |= 1u << fma | 1u << heavy;
      continue;
    }
    each.pipe_free[pipe] = user.pipe_free[pipe];
    if (action == Action::mufu) each.mufu_free = user.mufu_free;
    if (pipe < pipes) each.busy_pipes |= 1u << pipe;
  }
}

// Variable-latency instructions wait in a queue of their unit, not at issue (MICRO25, section 5).
std::uint64_t Engine::queue_free(std::uint64_t unit_free, std::uint64_t interval) const {
  const std::uint64_t waiting = variable_queue_ * interval;
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
  occupy_pipe(sub, warp, in, now);
  if (work_.recorder != nullptr) record_pipe(sub, in, id, warp.pc, now);

  if (in.action != Action::memory && in.action != Action::constant_load) read_operands(sub, in, id, now);
  if (scoreboard_) {
    warp.ready_at = now + 1;
    if (in.action != Action::memory && in.action != Action::constant_load) scoreboard_->issued(id, warp.pc, now);
  } else {
    if (in.write_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.write_barrier);
    if (in.read_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.read_barrier);
    warp.ready_at = now + in.hold;
  }
  warp.stalled_until = warp.ready_at;

  std::int32_t next = warp.pc + 1;
  switch (in.action) {
    case Action::memory: enqueue(sub, warp, id, in, now); break;
    case Action::constant_load: load_constant(sub, warp, id, in, now); break;
    case Action::branch: {
      const auto loop = static_cast<std::size_t>(in.loop);
      const std::int64_t trips = trips_of(id - slots_[warp.cta].first_warp, program_.loops[loop]);
      if (++warp.trips[loop] < trips) {
        if (fast_) fast_->iteration_begins(warp, in.loop, now);
        if (watches_trips_ && program_.loops[loop].is_main) pass_trip(warp, id, now);
        next = in.target;
        warp.ready_at = std::max(warp.ready_at, now + redirect_);
      } else {
        warp.trips[loop] = 0;
        if (fast_) fast_->loop_ends(in.loop);
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
  go_on(sub, warp, id, next, now);
}

// Is the next instruction of this warp held by a counter, a barrier or an unfinished copy group?
void Engine::check_blocked(Warp& warp, std::uint64_t now) {
  const DecodedInstruction& in = *warp.next;
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
  next_try(sub) = std::min(next_try(sub), now);
}

void Engine::release(Warp& warp, int counter, std::uint64_t now) {
  warp.counters -= std::uint64_t{1} << (8 * counter);
  const std::uint64_t byte = std::uint64_t{0xff} << (8 * counter);
  warp.long_mask &= (warp.counters & byte) == 0 ? ~byte : ~std::uint64_t{0};
  check_blocked(warp, now);
}

}  // namespace noteg::sm
