// What the front end keeps close: instruction caches and a cache of constant operands.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "arch/spec.hpp"
#include "sim/sm/decoded.hpp"
#include "sim/sm/state_hash.hpp"

namespace noteg::sm {

// Instruction caches of an SM: an L0 per sub-core and the L1 that they share; lines stay by least recent use. A stream
// buffer runs ahead of each sub-core: a miss brings the next few lines too, and who enters a line that has come asks
// for the next few that have not. So lines come at a rate, however fast they are used: straight-line code
// from L1 takes 2.2 cycles an instruction on an H100 where it could issue one in one or in two, and four where it can
// issue one in four; one line in three is waited for (h100_sm_micro, straight_line). All sub-cores may ask at once:
// four warps in step are as fast as one.
// Warm at the start: our H200 finds the lines of the launch before in L0 and L1. After other code has run L0 is cold
// and L1 holds the kernel, as on the first launch of a kernel there.
// From L0 fetch bandwidth is no limit: two warps of a sub-core that take turns at a loop of 27 instructions leave no
// bubble on an H200, where one fetch per cycle for the warp that issued last would leave three per turn.
class InstructionCaches {
 public:
  // places: in the kernel's code, of all instructions that any warp runs.
  InstructionCaches(const arch::FrontEndSpec& spec, InstructionCache mode, int sub_cores,
                    std::span<const std::int32_t> places);

  // Nothing can miss: the caller need not ask.
  [[nodiscard]] bool never_misses() const { return never_misses_; }

  [[nodiscard]] std::int32_t line_of(std::int32_t pc) const {
    return shift_ >= 0 ? std::max(pc, 0) >> shift_ : pc / per_line_;
  }

  // Cycle from which instructions of `line` can issue in `sub`; asks for the line if it is not there.
  std::uint64_t touch(int sub, std::int32_t line, std::uint64_t now);
  // The same of a warp that goes on there: the stream buffer follows.
  std::uint64_t enter(int sub, std::int32_t line, std::uint64_t now);

  void hash(StateHash& add) const {
    if (never_misses_) return;
    for (const Level& level : l0_) level.hash(add);
    l1_.hash(add);
  }

  // Of all caches, there or not: how long it takes to look at their state.
  [[nodiscard]] double lines() const { return never_misses_ ? 0 : lines_ * static_cast<double>(l0_.size() + 1); }

  // Instructions that fetch runs ahead of issue: the depth of the instruction buffer.
  [[nodiscard]] std::int32_t lead() const { return lead_; }

 private:
  struct Line {
    std::uint64_t ready = 0;  // there, or on its way
    std::uint64_t used = 0;
    bool present = false;
  };
  // One cache over the lines of the program: present or not, evicting the least recently used line of a set.
  class Level {
   public:
    Level(std::int64_t capacity_lines, std::int64_t ways, std::int64_t lines, bool warm);
    Line& operator[](std::int32_t line) { return lines_[static_cast<std::size_t>(line)]; }
    void insert(std::int32_t line, std::uint64_t ready, std::uint64_t now);

    // Which lines are there and in which order they would leave.
    void hash(StateHash& add) const {
      const bool evicts = static_cast<std::int64_t>(lines_.size()) > sets_ * ways_;
      std::vector<std::pair<std::uint64_t, std::uint64_t>> order;  // last use, line
      for (std::size_t line = 0; line < lines_.size(); ++line) {
        const auto& [ready, used, present] = lines_[line];
        if (!present) continue;
        if (ready > add.now()) add(ready - add.now() + (line << 32));
        order.emplace_back(evicts ? used : 0, line);
      }
      if (evicts) std::ranges::sort(order);
      for (const auto& [used, line] : order) add(line);
    }

   private:
    std::int64_t sets_, ways_;
    std::vector<Line> lines_;
  };

  std::uint64_t request(int sub, std::int32_t line, std::uint64_t at);
  void run_ahead(int sub, std::int32_t line, std::uint64_t at);

  std::int32_t per_line_, shift_, lead_, lines_, prefetch_;
  std::uint64_t l1_latency_, l2_latency_;
  bool never_misses_;
  std::vector<Level> l0_;
  Level l1_;
};

// What brings lines to the L0 constant caches of all sub-cores, one after the other.
class ConstantFill {
 public:
  ConstantFill(std::uint64_t delay, double interval) : delay_(delay), interval_(interval) {}

  // When a line is there that is asked for now.
  std::uint64_t ask(std::uint64_t now) {
    const double begins = std::max(free_, static_cast<double>(now));
    free_ = begins + interval_;
    return static_cast<std::uint64_t>(begins) + delay_;
  }
  void hash(StateHash& add) const { add.until(free_); }

 private:
  std::uint64_t delay_;
  double interval_;
  double free_ = 0;
};

// L0 constant cache of a sub-core for the constant operands of fixed-latency instructions. Its tags are looked up at
// issue; a miss holds the warp until the line comes, which then needs it no more. Cold at the start of a kernel: its
// parameters are new. Loads of constants (LDC) take another path and do not fill it (MICRO25, section 5.4): the SM has
// one such cache for them.
class ConstantCache {
 public:
  // Cycle from which the 64-byte line can be used; asks for it if it is not there.
  std::uint64_t touch(std::uint16_t line, std::uint64_t now, ConstantFill& fill) {
    const auto set = entries_.begin() + line % sets * ways, end = set + ways;
    auto there = std::find_if(set, end, [&](const Entry& each) { return each.line == line; });
    if (there == end) *--there = {line, fill.ask(now)};
    std::rotate(set, there, there + 1);
    return set->ready;
  }

  void hash(StateHash& add) const {
    for (const auto& [line, ready] : entries_) {
      add(line);
      add.until(ready);
    }
  }

 private:
  // 2 KiB in lines of 64 bytes (h200_memory_micro, constants_at_launch: 32 lines that are loaded again are there, 60
  // are not). Which lines share a set is not known.
  static constexpr std::size_t sets = 8, ways = 4;
  static constexpr std::uint16_t none = 0xffff;
  struct Entry {
    std::uint16_t line = none;
    std::uint64_t ready = 0;
  };

  std::array<Entry, sets * ways> entries_{};  // of a set, the one that was used last in front
};

// A miss stops the scheduler for so long; then it goes on with another warp (MICRO25, section 5.1).
inline constexpr std::uint64_t constant_miss_hold = 4;

}  // namespace noteg::sm
