// L0 constant cache of a sub-core for the constant operands of fixed-latency instructions. Its tags are looked up at
// issue; a miss holds the warp until the line is there. Cold at the start of a kernel: its parameters are new.
// Loads of constants (LDC) take another path and do not fill it (MICRO25, section 5.4).
#pragma once

#include <array>
#include <cstdint>

#include "sim/sm/state_hash.hpp"

namespace noteg::sm {

class ConstantCache {
 public:
  explicit ConstantCache(std::uint64_t miss_delay) : delay_(miss_delay) {}

  // Cycle from which the 64-byte line can be used; asks for it if it is not there.
  std::uint64_t touch(std::uint16_t line, std::uint64_t now) {
    Entry* set = &entries_[static_cast<std::size_t>(line % sets) * ways];
    Entry* oldest = set;
    for (std::size_t way = 0; way < ways; ++way) {
      if (set[way].line == line) {
        set[way].used = now;
        return set[way].ready;
      }
      if (set[way].used < oldest->used) oldest = &set[way];
    }
    *oldest = {line, now + delay_, now};
    return oldest->ready;
  }

  void hash(StateHash& add) const {
    for (std::size_t set = 0; set < sets; ++set) {
      const auto& [a_line, a_ready, a_used] = entries_[set * ways];
      const auto& [b_line, b_ready, b_used] = entries_[set * ways + 1];
      add(a_line | static_cast<std::uint64_t>(b_line) << 16 | static_cast<std::uint64_t>(b_used < a_used) << 32);
      add.until(a_ready);
      add.until(b_ready);
    }
  }

 private:
  // 4 sets of 64 bytes in 2 ways (MICRO25 artifact).
  static constexpr std::size_t sets = 4, ways = 2;
  static constexpr std::uint16_t none = 0xffff;
  struct Entry {
    std::uint16_t line = none;
    std::uint64_t ready = 0, used = 0;
  };
  std::uint64_t delay_;
  std::array<Entry, sets * ways> entries_{};
};

// A miss stops the scheduler for so long; then it goes on with another warp (MICRO25, section 5.1).
inline constexpr std::uint64_t constant_miss_hold = 4;

}  // namespace noteg::sm
