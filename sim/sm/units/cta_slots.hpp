// CTA slots: CTAs start in them, meet at barriers, end, and are replaced while there are more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/sm/counters.hpp"
#include "sim/sm/state_hash.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::sm {

class Machine;
struct SmWork;

class CtaSlots {
 public:
  explicit CtaSlots(Machine& sm);

  // The first CTA of each slot is on its way.
  void launch_first();
  void start(std::size_t slot, std::uint64_t now);
  void end_warp(const Warp& warp, std::uint64_t now);
  // A store of the CTA lies in the load/store unit; it leaves that, and will have left the SM: until then the slot is
  // not free (h100_sm_micro, store_drain).
  void will_store(std::size_t slot) { ++slots_[slot].to_store; }
  void stores(std::size_t slot, std::uint64_t gone, std::uint64_t now);
  // An answer to something that the CTA has asked for; the last of them so far.
  void expect_answer(std::size_t slot, std::uint64_t at) {
    slots_[slot].answered = std::max(slots_[slot].answered, at);
  }
  [[nodiscard]] std::uint64_t answered(std::size_t slot) const { return slots_[slot].answered; }
  // A warp has arrived at the CTA's barrier; all that wait there may go on.
  void arrive_at_barrier(std::size_t slot, std::uint64_t now);
  void open_barrier(std::size_t slot, std::uint64_t now);
  // A warp goes on from one part of the program to another.
  void change_region(const Warp& warp, std::int32_t from, std::int32_t to, std::uint64_t now);

  [[nodiscard]] bool is_running(std::size_t slot) const { return slots_[slot].running > 0; }
  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] bool all_ended() const { return ended_ >= ctas_; }
  [[nodiscard]] std::int64_t launched() const { return launched_; }
  [[nodiscard]] std::int64_t ended() const { return ended_; }
  [[nodiscard]] std::int64_t to_launch() const { return ctas_ - launched_; }
  [[nodiscard]] std::int64_t most_at_once() const { return most_at_once_; }  // so far
  // Of the last that has ended, or is seen to, with what was skipped.
  [[nodiscard]] std::uint64_t end() const { return std::max(end_, seen_end_); }
  [[nodiscard]] int emptied_together() const { return emptied_together_; }
  // When a CTA first came to its main loop, with skipped cycles; of CTAs without one, when the first started.
  [[nodiscard]] std::uint64_t first_main() const { return first_main_; }

  // So many CTAs have come and gone, in so many cycles, and left the SM as it is.
  void replace(std::int64_t ctas, std::uint64_t cycles);
  // The CTA of a slot has ended, and the next one in it is where that was.
  void turn_over(std::size_t slot, std::uint64_t at);
  void hash(StateHash& add) const;

 private:
  struct Slot {
    bool is_taken = false;                          // by a CTA that has not ended, or has not begun yet
    int running = 0, arrived = 0;                   // warps
    std::uint64_t started = 0, first_main = 0;      // with skipped cycles
    std::uint64_t main_begin = 0, main_cycles = 0;  // while any warpgroup is in its main loop, of all tiles
    std::uint64_t lead_begin = 0, lead_cycles = 0;  // while the leading warp is
    int main_loops = 0;                             // warpgroups that are in theirs
    int to_store = 0;                               // stores in the load/store unit
    std::uint64_t stores_gone = 0;                  // when its stores have left the SM
    std::uint64_t answered = 0;                     // when all has that it asked for beyond the SM

    void shift(std::uint64_t cycles);  // it runs so much later
  };
  void launch(std::size_t slot, std::uint64_t ready);
  void open_complete_barrier(std::size_t slot, std::uint64_t now);
  void end(std::size_t slot, std::uint64_t now);
  void see_end(std::uint64_t free);
  [[nodiscard]] std::size_t free_slot() const;
  void count_phases(const Slot& cta);
  void have_passed(std::int64_t ctas, std::uint64_t end);

  Machine& sm_;
  std::uint64_t barrier_latency_;
  std::vector<Slot> slots_;
  std::int64_t ctas_, launched_ = 0, ended_ = 0, most_at_once_ = 0;
  int room_;                       // warps that could still be there
  std::uint64_t next_launch_ = 0;  // no CTA starts before
  std::uint64_t next_end_ = 0;     // nor is one seen to end
  std::uint64_t refilled_ = 0;     // those that have followed others would be there by then, at the rate of ends
  std::uint64_t end_ = 0, seen_end_ = 0;
  std::uint64_t last_refill_ = 0;  // end of the CTA whose slot took the last one
  int emptied_together_ = 0;
  std::uint64_t first_main_ = never;
};

}  // namespace noteg::sm
