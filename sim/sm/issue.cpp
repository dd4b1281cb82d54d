// Issue of instructions that wait for more than a pipe.
#include "sim/sm/issue.hpp"

#include <algorithm>

namespace noteg::sm {

namespace {

// Cycles after which a variable-latency instruction outside the load/store path has read its sources.
constexpr std::uint64_t source_release = 6;

}  // namespace

// Returns 0 if the warp has issued, or else the first cycle in which trying again makes sense.
std::uint64_t Machine::try_issue(SubCore& sub, Warp& warp, std::uint64_t now) {
  if (warp.ready_at > now) {  // further ahead than the wheel reaches
    sub.scheduler.try_from(warp, warp.ready_at, now);
    return warp.ready_at;
  }
  const DecodedInstruction& in = *warp.next;
  if (in.constant_line != no_constant && switches.constant_cache) {
    const std::uint64_t there = sub.constants.touch(in.constant_line, now);
    if (there > now) {
      warp.failed_by = Stall::constant_miss;
      warp.failed_until = there;
      if (there > now + constant_miss_hold) sub.issue_free = std::max(sub.issue_free, now + constant_miss_hold);
      return there;
    }
  }
  if (in.action == Action::memory || (in.action == Action::barrier && switches.barriers)) {
    if (load_store.is_full(sub.index)) {
      sub.scheduler.wait_for_queue(warp);
      return never;  // the queue wakes the sub-core when an entry leaves
    }
  } else {
    std::uint64_t free = pipes.free_from(sub.index, static_cast<std::size_t>(in.action));
    if (in.async >= 0 && program.async[static_cast<std::size_t>(in.async)].kind == kernels::AsyncKind::matmul) {
      free = async.matmul_room(warp);
      if (free > now) {
        warp.failed_by = Stall::math_pipe;
        warp.failed_until = free;
      }
    }
    if (free > now) {
      sub.scheduler.try_from(warp, free, now);
      return free;
    }
  }
  issue(sub, warp, now);
  return 0;
}

void Machine::issue(SubCore& sub, Warp& warp, std::uint64_t now) {
  const DecodedInstruction& in = *warp.next;
  const std::uint16_t id = id_of(warp);
  const bool to_memory = in.action == Action::memory || in.action == Action::constant_load;
  if (observer.listens()) observer.issues(*this, warp, now);
  account(sub, warp, now);
  pipes.occupy(sub.index, sub.scheduler, warp, in, now, tally, count);
  if (observer.listens()) observer.piped(*this, warp, now);
  if (!to_memory) read_operands(sub, in, id, now);
  if (scoreboard) {
    warp.ready_at = now + 1;
    if (!to_memory) scoreboard->issued(id, warp.pc, now);
  } else {
    if (in.write_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.write_barrier);
    if (in.read_barrier >= 0) warp.counters += std::uint64_t{1} << (8 * in.read_barrier);
    warp.ready_at = now + in.hold;
  }
  warp.stalled_until = warp.ready_at;
  if (in.action == Action::exit) {
    sub.scheduler.end(warp);
    return ctas.end_warp(warp, now);
  }
  go_on(sub, warp, execute(sub, warp, now), now);
}

// What an instruction does beside taking its pipe; returns where its warp goes on.
std::int32_t Machine::execute(SubCore& sub, Warp& warp, std::uint64_t now) {
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
      if (in.write_barrier >= 0 || in.read_barrier >= 0) signal(warp, now);
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

// A backward branch: another iteration of its loop, or on behind it.
std::int32_t Machine::branch(Warp& warp, std::uint64_t now) {
  const DecodedInstruction& in = *warp.next;
  const auto loop = static_cast<std::size_t>(in.loop);
  if (++warp.iterations[loop] < iterations_of(place_of(warp), program.loops[loop])) {
    if (fast_forward) fast_forward->iteration_begins(warp, in.loop, now);
    warp.ready_at = std::max(warp.ready_at, now + redirect_);
    return in.target;
  }
  warp.iterations[loop] = 0;
  if (fast_forward) fast_forward->loop_ends(in.loop);
  return warp.pc + 1;
}

// A variable-latency instruction outside the load/store path starts at `begins`: when its counters are released.
void Machine::signal(const Warp& warp, std::uint64_t begins) {
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

}  // namespace noteg::sm
