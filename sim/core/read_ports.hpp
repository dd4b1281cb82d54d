// The Allocate stage of one sub-core: reserves register read ports. A fixed-latency instruction must read
// all its operands in the three cycles after Allocate, one warp register per bank, port and cycle; if
// it cannot, it waits there and holds the pipe behind it (MICRO25, sections 5.1 and 5.3). Slots are taken from
// the end of the window: that order, and no other that we tried, reproduces 40 of 41 FFMA sequences that we timed on
// an H200 with chosen register parities (tests/core). The register file cache serves operands whose reuse bit
// was set by the previous reader of the same bank and position; one register named twice is read once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/core/decoded.hpp"

namespace noteg::core {

class ReadPorts {
 public:
  ReadPorts(int ports, int window, bool cache, bool ideal)
      : ports_(ports), window_(window), cache_(cache), ideal_(ideal) {}

  struct Grant {
    std::uint64_t allocated = 0;  // cycle in which the instruction leaves Allocate
    int reads = 0;                // port reads
    int hits = 0;                 // served by the register file cache
  };

  // An instruction that issues at `now` (it reaches Allocate two cycles later at the earliest).
  Grant allocate(const DecodedInstruction& instruction, std::uint16_t warp, std::uint64_t now) {
    Grant grant;
    std::array<int, 2> need{};
    for (std::uint8_t i = 0; i < instruction.reads; ++i) {
      const ReadPort& port = instruction.read[i];
      const std::uint32_t tag = (static_cast<std::uint32_t>(warp) << 16) | port.reg | 0x8000'0000u;
      if (port.cached != 0 && cache_) {
        if (entry_[port.slot] == tag) {
          ++grant.hits;
        } else if (port.repeated == 0) {
          ++need[port.bank];
        }
        // Any access takes the value away unless the reader asks to keep it.
        entry_[port.slot] = port.reuse != 0 ? tag : 0;
      } else if (port.repeated == 0) {
        ++need[port.bank];
      }
    }
    grant.reads = need[0] + need[1];
    std::uint64_t cycle = std::max(now + 2, allocated_ + 1);
    if (!ideal_) {
      while (!fits(need[0], 0, cycle) || !fits(need[1], 1, cycle)) ++cycle;
      reserve(need[0], 0, cycle);
      reserve(need[1], 1, cycle);
    }
    allocated_ = cycle;
    grant.allocated = cycle;
    return grant;
  }

  // A matrix instruction gathers operands of several registers over as many cycles as the fuller bank needs, and one
  // more at most; nothing of it is cached.
  Grant allocate_wide(const std::array<int, 2>& need, std::uint64_t now) {
    Grant grant;
    grant.reads = need[0] + need[1];
    std::uint64_t cycle = std::max(now + 2, allocated_ + 1);
    if (!ideal_) {
      const int span = std::min<int>(std::max(need[0], need[1]) + 1, static_cast<int>(ring) - 1);
      while (free_in(0, cycle, span) < need[0] || free_in(1, cycle, span) < need[1]) ++cycle;
      for (int bank = 0; bank < 2; ++bank) take_first(bank, cycle, need[static_cast<std::size_t>(bank)]);
    }
    allocated_ = cycle;
    grant.allocated = cycle;
    return grant;
  }

 private:
  int free_in(int bank, std::uint64_t cycle, int span) {
    refresh(bank, cycle + static_cast<std::uint64_t>(span));
    int room = 0;
    for (int i = 1; i <= span; ++i)
      room += ports_ - used_[static_cast<std::size_t>(bank)][(cycle + static_cast<std::uint64_t>(i)) % ring];
    return room;
  }

  void take_first(int bank, std::uint64_t cycle, int need) {
    for (std::uint64_t i = 1; need > 0; ++i) {
      int& used = used_[static_cast<std::size_t>(bank)][(cycle + i) % ring];
      while (used < ports_ && need > 0) {
        ++used;
        --need;
      }
    }
  }

  // used_[bank] counts reads per cycle in a ring of 16 cycles; stale cycles are cleared lazily.
  static constexpr std::uint64_t ring = 16;

  void refresh(int bank, std::uint64_t cycle) {
    auto& seen = seen_[static_cast<std::size_t>(bank)];
    auto& used = used_[static_cast<std::size_t>(bank)];
    if (cycle <= seen) return;
    const std::uint64_t from = cycle - seen >= ring ? cycle - ring + 1 : seen + 1;
    for (std::uint64_t c = from; c <= cycle; ++c) used[c % ring] = 0;
    seen = cycle;
  }

  bool fits(int need, int bank, std::uint64_t cycle) {
    if (need == 0) return true;
    refresh(bank, cycle + static_cast<std::uint64_t>(window_));
    int room = 0;
    for (int i = 1; i <= window_; ++i)
      room += ports_ - used_[static_cast<std::size_t>(bank)][(cycle + static_cast<std::uint64_t>(i)) % ring];
    return room >= need;
  }

  void reserve(int need, int bank, std::uint64_t cycle) {
    for (int i = window_; need > 0; --i) {
      auto& used = used_[static_cast<std::size_t>(bank)][(cycle + static_cast<std::uint64_t>(i)) % ring];
      while (used < ports_ && need > 0) {
        ++used;
        --need;
      }
    }
  }

  int ports_, window_;
  bool cache_, ideal_;
  std::uint64_t allocated_ = 0;
  std::array<std::uint32_t, 8> entry_{};
  std::array<std::array<int, ring>, 2> used_{};
  std::array<std::uint64_t, 2> seen_{};
};

}  // namespace noteg::core
