// The warp scheduler of a sub-core: which of its warps are there, wait for nothing but their stall count, and are past
// it; and which is tried first (scheduling_policy.hpp). It issues one instruction a cycle unless told otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "sim/sm/state_hash.hpp"
#include "sim/sm/units/scheduling_policy.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::sm {

// Which warps of a sub-core are past their stall count, kept as a bit mask: a ring of 64 cycles holds the warps that
// become ready in each, so that warps which still wait cost nothing per cycle.
class ReadyWheel {
 public:
  // Warp `bit` becomes ready at `at`. One that lies further ahead than the ring wakes early and has to be put in again.
  void put(int bit, std::uint64_t at, std::uint64_t now) {
    advance(now);
    ready_ |= 1u << bit;
    put_off(1u << bit, at, now);
  }

  // The same of a warp that is ready and will not be before `at`, which lies ahead. Call ready(now) before.
  void put_back(int bit, std::uint64_t at, std::uint64_t now) {
    ready_ &= ~(1u << bit);
    await(1u << bit, at, now);
  }

  // Those of a mask that are ready wait until `at`. Call ready(now) before.
  void put_off(std::uint32_t mask, std::uint64_t at, std::uint64_t now) {
    mask &= ready_;
    if (mask == 0 || at <= now) return;
    ready_ &= ~mask;
    await(mask, at, now);
  }

  // Warps that are ready at `now`.
  [[nodiscard]] std::uint32_t ready(std::uint64_t now) {
    advance(now);
    return ready_;
  }

  // Of these, the warps that have become ready since the last issue.
  [[nodiscard]] std::uint32_t arrived() const { return arrived_ & ready_; }
  void forget_arrivals() { arrived_ = 0; }

  // First cycle after `now` in which one of `warps` becomes ready, or `otherwise`. Call ready(now) before.
  [[nodiscard]] std::uint64_t next(std::uint32_t warps, std::uint64_t now, std::uint64_t otherwise) const {
    std::uint64_t ahead = std::rotr(occupied_, static_cast<int>((now + 1) % ring));
    while (ahead != 0) {
      const std::uint64_t at = now + 1 + static_cast<std::uint64_t>(std::countr_zero(ahead));
      if ((cells_[at % ring] & warps) != 0) return at;
      ahead &= ahead - 1;
    }
    return otherwise;
  }

 private:
  static constexpr std::uint64_t ring = 64;

  void await(std::uint32_t mask, std::uint64_t at, std::uint64_t now) {
    const std::uint64_t cell = std::min(at, now + ring - 1) % ring;
    cells_[cell] |= mask;
    occupied_ |= std::uint64_t{1} << cell;
  }

  void advance(std::uint64_t now) {
    if (now == at_) return;
    const std::uint64_t by = now - at_;
    std::uint64_t past = std::rotr(occupied_, static_cast<int>((at_ + 1) % ring));
    past &= by < ring ? (std::uint64_t{1} << by) - 1 : ~std::uint64_t{0};
    // Mostly one cell or none, which no host foresees: the first is passed without asking.
    do {
      const std::uint64_t any = past != 0 ? 1 : 0;
      constexpr std::uint64_t last = std::uint64_t{1} << (ring - 1);
      const std::uint64_t cell = (at_ + 1 + static_cast<std::uint64_t>(std::countr_zero(past | last))) % ring;
      const auto taken = static_cast<std::uint32_t>(0 - any);
      ready_ |= cells_[cell] & taken;
      arrived_ |= cells_[cell] & taken;
      cells_[cell] &= ~taken;
      occupied_ &= ~(any << cell);
      past &= past - 1;
    } while (past != 0);
    at_ = now;
  }

  std::array<std::uint32_t, ring> cells_{};
  std::uint64_t occupied_ = 0, at_ = 0;
  std::uint32_t ready_ = 0, arrived_ = 0;
};

// The warps of a sub-core by their CTAs, the CTA that started first in front.
class CtasByAge {
 public:
  void start(const Warp& warp) {
    const std::uint32_t bit = 1u << warp.bit;
    if (size_ > 0 && slot_[size_ - 1] == warp.cta) {
      warps_[size_ - 1] |= bit;
      return;
    }
    warps_[size_] = bit;
    slot_[size_++] = warp.cta;
  }

  void end(const Warp& warp) {
    std::size_t at = 0;
    while ((warps_[at] >> warp.bit & 1u) == 0) ++at;
    if ((warps_[at] &= ~(1u << warp.bit)) != 0) return;
    for (--size_; at < size_; ++at) {
      warps_[at] = warps_[at + 1];
      slot_[at] = slot_[at + 1];
    }
  }

  // Those of the oldest CTA that has some among them; all are live.
  [[nodiscard]] std::uint32_t of_oldest(std::uint32_t candidates) const {
    std::size_t at = 0;
    while ((candidates & warps_[at]) == 0) ++at;
    return candidates & warps_[at];
  }

  void hash(StateHash& add) const {
    for (std::size_t i = 0; i < size_; ++i) add(warps_[i]);
  }

 private:
  std::array<std::uint32_t, 32> warps_{};
  std::array<std::uint16_t, 32> slot_{};
  std::size_t size_ = 0;
};

class WarpScheduler {
 public:
  WarpScheduler(Scheduler policy, bool longest_waiting_first)
      : policy_(policy),
        takes_turns_(policy == Scheduler::cggty && longest_waiting_first),
        greedy_(is_greedy(policy) ? ~0u : 0) {}

  void add(Warp& warp) { warps_[warp.bit] = &warp; }
  [[nodiscard]] Warp& warp(int bit) const { return *warps_[static_cast<std::size_t>(bit)]; }

  // A warp has started; it has ended.
  void start(const Warp& warp, std::uint64_t now) {
    state_.live |= 1u << warp.bit;
    state_.blocked &= ~(1u << warp.bit);
    state_.queueing &= ~(1u << warp.bit);
    state_.issued_last[warp.bit] = now;
    if (takes_turns_) by_age_.start(warp);
  }
  void end(const Warp& warp) {
    state_.live &= ~(1u << warp.bit);
    if (takes_turns_) by_age_.end(warp);
  }
  // It is a warp of the next CTA in its slot.
  void renew(const Warp& warp) {
    if (!takes_turns_) return;
    by_age_.end(warp);
    by_age_.start(warp);
  }
  [[nodiscard]] bool is_live(const Warp& warp) const { return (state_.live >> warp.bit & 1u) != 0; }

  // Its next instruction waits for something that an event will bring, or no longer.
  void block(const Warp& warp) { state_.blocked |= 1u << warp.bit; }
  void unblock(const Warp& warp) { state_.blocked &= ~(1u << warp.bit); }
  [[nodiscard]] bool is_blocked(const Warp& warp) const { return (state_.blocked >> warp.bit & 1u) != 0; }

  // It has found the load/store queue full; that has room again.
  void wait_for_queue(const Warp& warp) { state_.queueing |= 1u << warp.bit; }
  void queue_has_room() { state_.queueing = 0; }

  // What its next instruction may wait for and nothing beside (DecodedInstruction::held_by).
  void set_need(Warp& warp, std::uint8_t by) {
    needs_[warp.held_by] &= ~(1u << warp.bit);
    needs_[by] |= 1u << warp.bit;
    warp.held_by = by;
  }
  [[nodiscard]] std::uint32_t needs(std::size_t what) const { return needs_[what]; }

  // Cycles from which warps may be tried.
  void try_from(const Warp& warp, std::uint64_t at, std::uint64_t now) { wheel_.put(warp.bit, at, now); }
  void try_again_from(const Warp& warp, std::uint64_t at, std::uint64_t now) { wheel_.put_back(warp.bit, at, now); }
  void put_off(std::uint32_t warps, std::uint64_t at, std::uint64_t now) { wheel_.put_off(warps, at, now); }

  [[nodiscard]] std::uint32_t waiting() const { return state_.live & ~state_.blocked; }
  [[nodiscard]] std::uint32_t candidates(std::uint64_t now) { return waiting() & wheel_.ready(now) & ~state_.queueing; }
  [[nodiscard]] bool has_ready(std::uint64_t now) { return (waiting() & wheel_.ready(now)) != 0; }
  [[nodiscard]] std::uint64_t next_ready(std::uint64_t now) const { return wheel_.next(waiting(), now, never); }
  // The warp that goes on before any that waits, -1: none. A greedy policy stays with the one that issued last. Where
  // warps take turns it is one whose last instruction did not yield and whose stall count has just ended, or ended
  // while the whole sub-core was kept from issuing: the one in the midst of a burst, else who issued longest ago. What
  // could have issued and did not, since its pipe or the load/store queue had no room, is one of those that wait
  // (h100_sm_micro, greedy_turns, yield_turns).
  [[nodiscard]] int going_on(std::uint32_t candidates, std::uint64_t now, std::uint64_t issue_free,
                             std::uint64_t issued_at) const {
    if (!takes_turns_) return (candidates & state_.greedy) != 0 ? state_.last : -1;
    std::uint32_t left = candidates & state_.unyielding & wheel_.arrived();
    if (left == 0) return -1;
    const auto goes_on = [&](int bit) {
      const std::uint64_t ready = warp(bit).ready_at;
      return ready > issued_at && now <= std::max(ready, issue_free);
    };
    if (state_.bursts && (left >> state_.last & 1u) != 0 && goes_on(state_.last)) return state_.last;
    std::uint32_t on = 0;
    for (; left != 0; left &= left - 1)
      if (goes_on(std::countr_zero(left))) on |= left & (0u - left);
    return policy::longest_waiting({state_.last, &state_.issued_last, takes_turns_}, on);
  }
  [[nodiscard]] int choose(std::uint32_t candidates) const {
    if (takes_turns_) candidates = by_age_.of_oldest(candidates);
    return first_choice(policy_, {state_.last, &state_.issued_last, takes_turns_}, candidates);
  }

  // A warp issues; it was the one of its cycle. One that has ended is none to go on with, nor is the next in its place.
  void issues(const Warp& warp, std::uint64_t now) { state_.issued_last[warp.bit] = now; }
  void has_issued(int bit, bool yields, bool went_on) {
    const std::uint32_t there = state_.live & 1u << bit;
    state_.bursts = went_on && bit == state_.last && there != 0;
    state_.last = there != 0 ? bit : -1;
    state_.greedy = there & greedy_;
    state_.unyielding = (state_.unyielding & ~(1u << bit)) | static_cast<std::uint32_t>(!yields) << bit;
    wheel_.forget_arrivals();
  }

  // The last issue of the warp that has waited longest.
  [[nodiscard]] std::uint64_t waiting_since(std::uint64_t now) const {
    std::uint64_t since = now;
    for (std::uint32_t left = state_.live; left != 0; left &= left - 1)
      since = std::min(since, state_.issued_last[static_cast<std::size_t>(std::countr_zero(left))]);
    return since;
  }

  // Since when the warp that could issue, and has waited longest for that, could.
  [[nodiscard]] std::uint64_t ready_since(std::uint64_t now) const {
    std::uint64_t since = now;
    for (std::uint32_t left = waiting(); left != 0; left &= left - 1) {
      const Warp& one = warp(std::countr_zero(left));
      since = std::min(since, std::max({one.last_issue + 1, one.stalled_until, one.ready_at, one.unblocked_at}));
    }
    return since;
  }

  // When warps may be tried follows from their own state; those that queue try again when it has room.
  void hash(StateHash& add) const {
    const auto& [live, blocked, queueing, last, greedy, unyielding, bursts, issued_last] = state_;
    add(static_cast<std::uint64_t>(live) << 32 | blocked);
    add(static_cast<std::uint64_t>(queueing) << 32 | greedy);
    add(static_cast<std::uint64_t>(last));
    if (takes_turns_) {
      by_age_.hash(add);
      add(static_cast<std::uint64_t>(unyielding & live) << 1 | static_cast<std::uint64_t>(bursts));
    }
    for (std::uint32_t left = live; left != 0; left &= left - 1)
      add.at(issued_last[static_cast<std::size_t>(std::countr_zero(left))]);
  }

 private:
  struct State {
    std::uint32_t live = 0, blocked = 0, queueing = 0;
    std::int32_t last = -1;
    std::uint32_t greedy = 0;
    std::uint32_t unyielding = 0;                 // warps whose last instruction did not yield
    bool bursts = false;                          // the warp that issued last had issued before, and went on
    std::array<std::uint64_t, 32> issued_last{};  // Warp::last_issue, side by side
  };
  Scheduler policy_;
  bool takes_turns_;      // CTAs by age, their warps by how long they have waited
  std::uint32_t greedy_;  // all bits, or none
  State state_;
  CtasByAge by_age_;
  ReadyWheel wheel_;
  std::array<Warp*, 32> warps_{};
  std::array<std::uint32_t, no_single_wait + 1> needs_{};  // warps by Warp::held_by
};

}  // namespace noteg::sm
