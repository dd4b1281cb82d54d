// A calendar queue: events up to `horizon` cycles ahead in one slot per cycle, later ones in an
// overflow heap. No allocation once the pools have grown to their working size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace noteg::sm {

enum class EventKind : std::uint8_t {
  front_arrival,
  front_free,
  release,
  copy_arrival,  // of a copy beside multiplications of warpgroups: its data come, pc is its memory
  async_done,
  barrier_open,
  cta_start,
  registers_read,     // scoreboard: of the instruction at pc
  registers_written,  // likewise
  phase_arrival,      // at a transaction barrier: counter is the ring, warp the CTA slot, pc the barrier
  box_arrival,        // of a bulk copy, likewise
  phase_complete,     // likewise
  matmul_begun,       // warp is the warpgroup
  matmul_group_ended,
};

struct Event {
  EventKind kind = EventKind::release;
  std::uint8_t counter = 0;  // dependence counter, or group
  std::uint16_t warp = 0;    // or sub-core, or CTA slot
  std::int32_t pc = 0;       // of scoreboard events
};

class EventWheel {
 public:
  static constexpr std::uint64_t horizon = 1024;  // beyond DRAM's latency; small enough for the host's first cache

  EventWheel() { head_.fill(-1); }

  void post(std::uint64_t time, Event event) {
    ++pending_;
    if (time < base_ + horizon)
      link(time, event);
    else
      keep_for_later(time, event);
  }

  // First cycle >= now that holds an event, or never.
  [[nodiscard]] std::uint64_t next(std::uint64_t now) {
    if (pending_ == 0) return never;
    advance(now);
    const std::uint64_t start = now % horizon;
    for (std::uint64_t word = 0; word <= words; ++word) {
      const std::uint64_t index = (start / 64 + word) % words;
      std::uint64_t bits = occupied_[index];
      if (word == 0) bits &= ~std::uint64_t{0} << (start % 64);
      if (word == words) bits &= ~(~std::uint64_t{0} << (start % 64));
      if (bits != 0) {
        const std::uint64_t slot = index * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
        return now + (slot + horizon - start) % horizon;
      }
    }
    return far_.empty() ? never : far_.front().time;
  }

  // Calls f(event) for each event of this cycle, in the order of posting.
  template <class F>
  void drain(std::uint64_t now, F&& f) {
    advance(now);
    const std::uint64_t slot = now % horizon;
    std::int32_t node = head_[slot];
    if (node < 0) return;
    head_[slot] = -1;
    occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    while (node >= 0) {
      Node& done = pool_[static_cast<std::size_t>(node)];
      const Event event = done.event;
      const std::int32_t following = done.next;
      done.next = free_;
      free_ = node;
      --pending_;
      f(event);
      node = following;
    }
  }

  // Calls f(cycles from now, event) for each event from `now` on, in the order in which they will be drained.
  template <class F>
  void each(std::uint64_t now, F&& f) const {
    for (std::uint64_t ahead = 0; ahead < horizon;) {
      const std::uint64_t slot = (now + ahead) % horizon;
      const std::uint64_t bits = occupied_[slot / 64] >> (slot % 64);
      if (bits == 0) {
        ahead += 64 - slot % 64;
        continue;
      }
      ahead += static_cast<std::uint64_t>(std::countr_zero(bits));
      if (ahead >= horizon) break;
      for (std::int32_t node = head_[(now + ahead) % horizon]; node >= 0;
           node = pool_[static_cast<std::size_t>(node)].next)
        f(ahead, pool_[static_cast<std::size_t>(node)].event);
      ++ahead;
    }
    std::vector<Far> rest = far_;
    std::ranges::sort(rest, [](const Far& a, const Far& b) { return later(b, a); });
    for (const Far& event : rest) f(event.time - now, event.event);
  }

  static constexpr std::uint64_t never = ~std::uint64_t{0};

 private:
  static constexpr std::uint64_t words = horizon / 64;
  struct Node {
    Event event;
    std::int32_t next = -1;
  };
  struct Far {
    std::uint64_t time, sequence;
    Event event;
  };
  static bool later(const Far& a, const Far& b) { return a.time != b.time ? a.time > b.time : a.sequence > b.sequence; }

  [[gnu::noinline]] void keep_for_later(std::uint64_t time, Event event) {
    far_.push_back({time, sequence_++, event});
    std::push_heap(far_.begin(), far_.end(), later);
  }

  [[gnu::noinline]] void grow() {
    free_ = static_cast<std::int32_t>(pool_.size());
    pool_.push_back({});
  }

  void advance(std::uint64_t now) {
    base_ = now;
    while (!far_.empty() && far_.front().time < base_ + horizon) {
      std::pop_heap(far_.begin(), far_.end(), later);
      link(far_.back().time, far_.back().event);
      far_.pop_back();
    }
  }

  void link(std::uint64_t time, Event event) {
    if (free_ < 0) grow();
    const std::int32_t node = free_;
    Node& used = pool_[static_cast<std::size_t>(node)];
    free_ = used.next;
    used = {event, -1};
    const std::uint64_t slot = time % horizon;
    std::int32_t* const after_last = &pool_[static_cast<std::size_t>(tail_[slot])].next;
    *(head_[slot] < 0 ? &head_[slot] : after_last) = node;
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    tail_[slot] = node;
  }

  std::array<std::int32_t, horizon> head_{};
  std::array<std::int32_t, horizon> tail_{};
  std::array<std::uint64_t, words> occupied_{};
  std::vector<Node> pool_;
  std::int32_t free_ = -1;  // first of the nodes that nobody uses
  std::vector<Far> far_;
  std::uint64_t base_ = 0, sequence_ = 0;
  std::int64_t pending_ = 0;
};

}  // namespace noteg::sm
