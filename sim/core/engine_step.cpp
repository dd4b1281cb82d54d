// One cycle of one sub-core: which warp issues.
#include <algorithm>
#include <bit>

#include "sim/core/engine_state.hpp"

namespace noteg::core {

// Warps whose next instruction waits for nothing but a pipe that is busy or a place in the queue that is full.
inline std::uint32_t Engine::held(SubCore& sub, std::uint64_t now) const {
  std::uint32_t held = sub.queue_size >= queue_capacity_ && switches_.barriers ? sub.needs[queue_place] : 0;
  for (std::uint32_t left = sub.busy_pipes; left != 0; left &= left - 1) {
    const auto pipe = static_cast<std::size_t>(std::countr_zero(left));
    if (sub.pipe_free[pipe] > now)
      held |= sub.needs[pipe];
    else
      sub.busy_pipes &= ~(1u << pipe);
  }
  return held;
}

// Sets those of `warps` aside that held() found: until their pipe is free, or until the queue wakes the sub-core.
void Engine::hold(SubCore& sub, std::uint32_t warps, std::uint64_t now) {
  const auto fail = [&](std::uint32_t mask, Stall by, std::uint64_t until) {
    for (; mask != 0; mask &= mask - 1) {
      Warp& warp = warps_[sub.warp_of[static_cast<std::size_t>(std::countr_zero(mask))]];
      warp.failed_by = by;
      warp.failed_until = until;
    }
  };
  if (const std::uint32_t queueing = warps & sub.needs[queue_place]; queueing != 0) {
    sub.queueing |= queueing;
    fail(queueing, Stall::memory_queue, never);  // known only when an entry leaves
  }
  for (std::uint32_t left = sub.busy_pipes; left != 0; left &= left - 1) {
    const auto pipe = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint32_t waiting = warps & sub.needs[pipe];
    if (waiting == 0) continue;
    sub.wheel.put_all(waiting, sub.pipe_free[pipe], now);
    fail(waiting, Stall::math_pipe, sub.pipe_free[pipe]);
  }
}

// The warp whose last issue lies furthest back, the youngest of several.
inline int Engine::longest_waiting(const SubCore& sub, std::uint32_t candidates) {
  int best = -1;
  std::uint64_t since = never;
  for (; candidates != 0; candidates &= candidates - 1) {
    const int bit = std::countr_zero(candidates);
    const std::uint64_t last = sub.issued_last[static_cast<std::size_t>(bit)];
    if (best >= 0 && last > since) continue;
    best = bit;
    since = last;
  }
  return best;
}

// Warps that a round robin comes to before it begins anew.
inline std::uint32_t Engine::after_last(const SubCore& sub) { return sub.last >= 31 ? 0 : ~0u << (sub.last + 1); }

// Those that are held and have had their turn before `first`, the one that is tried next; all where there is none.
inline std::uint32_t Engine::held_before(const SubCore& sub, std::uint32_t held, int first) const {
  if (first < 0) return held;
  const std::uint32_t older = (1u << first) - 1;
  switch (switches_.scheduler) {
    case Scheduler::cggty:
      if (longest_waiting_first_) break;
      return held & ~older;
    case Scheduler::gto: return held & older;
    case Scheduler::lrr: {
      const std::uint32_t after = after_last(sub);
      return (after >> first & 1u) != 0 ? held & after & older : held & (after | older);
    }
  }
  const std::uint64_t since = sub.issued_last[static_cast<std::size_t>(first)];
  std::uint32_t before = 0;
  for (std::uint32_t left = held; left != 0; left &= left - 1) {
    const int bit = std::countr_zero(left);
    const std::uint64_t last = sub.issued_last[static_cast<std::size_t>(bit)];
    if (last < since || (last == since && bit > first)) before |= 1u << bit;
  }
  return before;
}

// Which of the warps that may be ready is tried first; a larger bit is a younger warp.
inline int Engine::next_candidate(const SubCore& sub, std::uint32_t candidates) const {
  switch (switches_.scheduler) {
    case Scheduler::cggty:
      if (longest_waiting_first_) return longest_waiting(sub, candidates);
      break;
    case Scheduler::gto: return std::countr_zero(candidates);
    case Scheduler::lrr: {
      const std::uint32_t after = candidates & after_last(sub);
      return std::countr_zero(after != 0 ? after : candidates);
    }
  }
  return 31 - std::countl_zero(candidates);
}

// Does the warp that issued last go on with an instruction that needs nothing but its pipe, and finds it free?
inline bool Engine::issue_next_simple(SubCore& sub, std::uint64_t now) {
  const std::uint16_t id = sub.warp_of[static_cast<std::size_t>(sub.last)];
  Warp& warp = warps_[id];
  const DecodedInstruction& in = program_.code[static_cast<std::size_t>(warp.pc)];
  if (!in.simple || warp.ready_at > now || sub.pipe_free[static_cast<std::size_t>(in.action)] > now) return false;
  issue_simple(sub, warp, id, in, now);
  sub.next_try = std::max(now + 1, sub.issue_free);
  return true;
}

void Engine::step(SubCore& sub, std::uint64_t now) {
  if (sub.issue_free > now) {
    sub.next_try = sub.issue_free;
    return;
  }
  const std::uint32_t waiting = sub.live & ~sub.blocked;
  std::uint32_t candidates = waiting & sub.wheel.ready(now) & ~sub.queueing;
  // Greedy: the warp that issued last goes on while it can; then the youngest (or what the switch says).
  bool greedy = switches_.scheduler != Scheduler::lrr && sub.last >= 0 && (candidates >> sub.last & 1u) != 0;
  if (greedy && plain_ && issue_next_simple(sub, now)) return;
  const std::uint32_t closed = candidates & held(sub, now) & ~sub.wheel.early();
  std::uint64_t again = never;
  while (candidates != 0) {
    const std::uint32_t open = candidates & ~closed;
    const int bit = greedy ? sub.last : open != 0 ? next_candidate(sub, open) : -1;
    const std::uint32_t set_aside = greedy ? closed & 1u << bit : held_before(sub, candidates & closed, bit);
    if (set_aside != 0) {
      hold(sub, set_aside, now);
      candidates &= ~set_aside;
      if (greedy || candidates == 0) {
        greedy = false;
        continue;
      }
    }
    greedy = false;
    candidates &= ~(1u << bit);
    const std::uint16_t id = sub.warp_of[static_cast<std::size_t>(bit)];
    const Try outcome = try_issue(sub, warps_[id], id, now);
    if (outcome.issued) {
      sub.last = bit;
      sub.next_try = std::max(now + 1, sub.issue_free);
      return;
    }
    if (sub.issue_free > now) {
      sub.next_try = sub.issue_free;
      return;
    }
    again = std::min(again, outcome.again);
  }
  sub.next_try = std::min(again, sub.wheel.next(waiting, now, never));
}

}  // namespace noteg::core
