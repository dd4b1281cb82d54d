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

inline void Engine::hold(SubCore& sub, int bit, std::uint64_t now) {
  Warp& warp = warps_[sub.warp_of[static_cast<std::size_t>(bit)]];
  if (warp.held_by == queue_place) {
    warp.failed_by = Stall::memory_queue;
    warp.failed_until = never;  // known only when an entry leaves
    sub.queueing |= 1u << bit;  // and then the queue wakes the sub-core
    return;
  }
  warp.failed_by = Stall::math_pipe;
  warp.failed_until = sub.pipe_free[warp.held_by];
  sub.wheel.put(bit, warp.failed_until, now);
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

// Where the longest waiting warp comes first: those that are held and come before the first that is not have had their
// turn.
void Engine::hold_longer_waiting(SubCore& sub, std::uint32_t& candidates, std::uint32_t held, std::uint64_t now) {
  const std::uint32_t open = candidates & ~held;
  const int first = open != 0 ? longest_waiting(sub, open) : -1;
  const std::uint64_t since = first < 0 ? never : sub.issued_last[static_cast<std::size_t>(first)];
  for (std::uint32_t left = candidates & held; left != 0; left &= left - 1) {
    const int bit = std::countr_zero(left);
    const std::uint64_t last = sub.issued_last[static_cast<std::size_t>(bit)];
    if (last > since || (last == since && bit < first)) continue;
    hold(sub, bit, now);
    candidates &= ~(1u << bit);
  }
}

// Which of the warps that may be ready is tried first; a larger bit is a younger warp.
inline int Engine::next_candidate(const SubCore& sub, std::uint32_t candidates) const {
  switch (switches_.scheduler) {
    case Scheduler::cggty:
      if (longest_waiting_first_) return longest_waiting(sub, candidates);
      break;
    case Scheduler::gto: return std::countr_zero(candidates);
    case Scheduler::lrr: {
      const std::uint32_t after = sub.last >= 31 ? 0 : candidates & (~0u << (sub.last + 1));
      return std::countr_zero(after != 0 ? after : candidates);
    }
  }
  return 31 - std::countl_zero(candidates);
}

void Engine::step(SubCore& sub, std::uint64_t now) {
  if (sub.issue_free > now) {
    sub.next_try = sub.issue_free;
    return;
  }
  const std::uint32_t waiting = sub.live & ~sub.blocked;
  std::uint32_t candidates = waiting & sub.wheel.ready(now) & ~sub.queueing;
  const std::uint32_t closed = candidates & held(sub, now) & ~sub.wheel.early();
  std::uint64_t again = never;
  // Greedy: the warp that issued last goes on while it can; then the youngest (or what the switch says).
  bool greedy = switches_.scheduler != Scheduler::lrr && sub.last >= 0 && (candidates >> sub.last & 1u) != 0;
  const bool longest = switches_.scheduler == Scheduler::cggty && longest_waiting_first_;
  while (candidates != 0) {
    if (longest && !greedy) hold_longer_waiting(sub, candidates, closed, now);
    if (candidates == 0) break;
    const int bit = greedy ? sub.last : next_candidate(sub, candidates);
    greedy = false;
    candidates &= ~(1u << bit);
    if ((closed >> bit & 1u) != 0) {
      hold(sub, bit, now);
      continue;
    }
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
