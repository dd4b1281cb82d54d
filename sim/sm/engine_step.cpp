// The cycle loop, and one cycle of one sub-core: which warp issues.
#include <algorithm>
#include <bit>

#include "sim/sm/engine_issue.hpp"

namespace noteg::sm {

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

// Which of the warps that may be ready is tried first; a larger bit is a younger warp.
inline int Engine::next_candidate(const SubCore& sub, std::uint32_t candidates) const {
  switch (switches_.scheduler) {
    case Scheduler::cggty:
      if (longest_waiting_first_) return longest_waiting(sub, candidates);
      break;
    case Scheduler::gto: return std::countr_zero(candidates);
    case Scheduler::lrr: {
      const std::uint32_t after_last = sub.last >= 31 ? 0 : candidates & ~0u << (sub.last + 1);
      return std::countr_zero(after_last != 0 ? after_last : candidates);
    }
  }
  return 31 - std::countl_zero(candidates);
}

// May the warp go on with an instruction that needs nothing but its pipe, and finds it free?
inline bool Engine::goes_the_short_way(const SubCore& sub, const Warp& warp, std::uint64_t now) const {
  const DecodedInstruction& in = *warp.next;
  return (static_cast<unsigned>(plain_) & static_cast<unsigned>(in.simple) &
          static_cast<unsigned>(warp.ready_at <= now) &
          static_cast<unsigned>(sub.pipe_free[static_cast<std::size_t>(in.action)] <= now)) != 0;
}

// Returns the warps among `candidates` whose next instruction waits for nothing but a pipe that is busy or a place in
// the queue that is full; `again` becomes the first cycle in which one of these pipes is free.
inline std::uint32_t Engine::held(SubCore& sub, std::uint32_t candidates, std::uint64_t now,
                                  std::uint64_t& again) const {
  const auto where = [](bool condition) { return 0u - static_cast<std::uint32_t>(condition); };
  std::uint32_t held =
      candidates & sub.needs[queue_place] & where(sub.queue_size >= queue_capacity_) & where(switches_.barriers);
  std::uint32_t left = sub.busy_pipes;
  // No host foresees how many pipes are busy: two are looked at without asking, the second of one being none at all.
  const auto look_at_next = [&] {
    const auto pipe = static_cast<std::size_t>(std::countr_zero(left | 1u << no_single_wait));
    const std::uint64_t free = sub.pipe_free[pipe];
    const bool busy = free > now;
    sub.busy_pipes &= ~(static_cast<std::uint32_t>(!busy) << pipe);
    const std::uint32_t waiting = candidates & sub.needs[pipe] & where(busy);
    held |= waiting;
    again = std::min(again, waiting != 0 ? free : never);
    left &= left - 1;
  };
  look_at_next();
  look_at_next();
  while (left != 0) look_at_next();
  return held;
}

// Warp `bit` has issued: when is there anything to do again?
inline void Engine::sleep(SubCore& sub, int bit, std::uint64_t now) {
  sub.last = bit;
  if (switches_.scheduler != Scheduler::lrr) sub.greedy = 1u << bit;
  const std::uint32_t waiting = sub.live & ~sub.blocked;
  next_try(sub) = std::max(now + 1, sub.issue_free);
  if ((waiting & sub.wheel.ready(now)) == 0)
    next_try(sub) = std::max(next_try(sub), sub.wheel.next(waiting, now, never));
}

[[gnu::always_inline]] inline void Engine::step(SubCore& sub, std::uint64_t now) {
  if (sub.issue_free > now) {
    next_try(sub) = sub.issue_free;
    return;
  }
  const std::uint32_t waiting = sub.live & ~sub.blocked;
  std::uint32_t candidates = waiting & sub.wheel.ready(now) & ~sub.queueing;
  // Greedy: the warp that issued last goes on while it can; then the youngest (or what the switch says).
  bool greedy = (candidates & sub.greedy) != 0;
  int bit = sub.last;
  if (!greedy || !goes_the_short_way(sub, *sub.warps[static_cast<std::size_t>(bit)], now)) {
    std::uint64_t again = never;
    candidates &= ~held(sub, candidates, now, again);
    greedy = (candidates & sub.greedy) != 0;
    while (true) {
      if (candidates == 0) {
        next_try(sub) = std::min(again, sub.wheel.next(waiting, now, never));
        return;
      }
      if (!greedy) bit = next_candidate(sub, candidates);
      greedy = false;
      Warp& warp = *sub.warps[static_cast<std::size_t>(bit)];
      if (goes_the_short_way(sub, warp, now)) break;
      const std::uint64_t retry = try_issue(sub, warp, sub.warp_of[static_cast<std::size_t>(bit)], now);
      if (retry == 0) return sleep(sub, bit, now);
      if (sub.issue_free > now) {
        next_try(sub) = sub.issue_free;
        return;
      }
      candidates &= ~(1u << bit);
      again = std::min(again, retry);
    }
  }
  issue_simple(sub, *sub.warps[static_cast<std::size_t>(bit)], sub.warp_of[static_cast<std::size_t>(bit)], now);
  sleep(sub, bit, now);
}

// Until the last CTA has ended, or nothing can ever happen again: returns whether the work is done.
bool Engine::step_through() {
  constexpr std::size_t group = 4;  // sub-cores that are looked at at once
  const std::size_t groups = (subs_.size() + group - 1) / group * group;
  std::uint64_t now = 0;
  while (finished_ < ctas_ && !measured_) {
    events_.drain(now, [&](const Event& event) { handle(event, now); });
    if (cta_started_) {
      cta_started_ = false;
      if (work_.skip_periodic && !scoreboard_) pass_equal_rounds(now);
      if (fast_) fast_->ctas_have_started(now);
    }
    // What one sub-core does reaches another by events only, later than now.
    std::uint32_t due = 0;
    for (std::size_t from = 0; from < groups; from += group)
      for (std::size_t i = from; i < from + group; ++i) due |= static_cast<std::uint32_t>(next_try_[i] <= now) << i;
    for (std::uint32_t once_more = due & issue_twice_;; once_more = 0) {
      for (; due != 0; due &= due - 1) step(subs_[static_cast<std::size_t>(std::countr_zero(due))], now);
      if (once_more == 0) break;
      due = once_more;
    }
    std::uint64_t wake = never;
    for (std::size_t from = 0; from < groups; from += group)
      for (std::size_t i = from; i < from + group; ++i) wake = std::min(wake, next_try_[i]);
    now = wake <= now + 1 ? now + 1 : std::min(wake, events_.next(now + 1));
    if (now == never) return finished_ >= ctas_;
  }
  return true;
}

}  // namespace noteg::sm
