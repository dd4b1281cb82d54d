// The Allocate stage of one sub-core: reserves register read ports. A fixed-latency instruction must read
// all its operands in the three cycles after Allocate, one warp register per bank, port and cycle; if
// it cannot, it waits there and holds the pipe behind it (MICRO25, sections 5.1 and 5.3). Slots are taken from
// the end of the window: that order, and no other that we tried, reproduces 40 of 41 FFMA sequences that we timed on
// an H200 with chosen register parities (tests/core). The register file cache serves operands whose reuse bit
// was set by the previous reader of the same bank and position; one register named twice is read once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "sim/core/decoded.hpp"

namespace noteg::core {

class ReadPorts {
 public:
  ReadPorts(int ports, int window, bool cache, bool ideal)
      : ports_(ports),
        window_(window),
        cache_(cache),
        cached_(cache ? ~0u : 0),
        ideal_(ideal),
        one_(ports == 1),
        shift_(one_ ? 0 : 2) {}

  struct Grant {
    std::uint64_t allocated = 0;  // cycle in which the instruction leaves Allocate
    unsigned reads = 0;           // port reads
    unsigned hits = 0;            // served by the register file cache
  };

  // An instruction that issues at `now` (it reaches Allocate two cycles later at the earliest).
  Grant allocate(const DecodedInstruction& instruction, std::uint16_t warp, std::uint64_t now) {
    Grant grant;
    std::uint32_t needs = 0;  // of the two banks
    const std::uint32_t owner = (static_cast<std::uint32_t>(warp) << 16) | 0x8000'0000u;
    for (std::uint8_t i = 0; i < instruction.reads; ++i) {
      const ReadPort& port = instruction.read[i];
      const std::uint32_t tag = owner | port.reg;
      std::uint32_t& entry = entry_[cache_ ? port.slot : uncached_slot];
      const bool hit = entry == tag;
      grant.hits += static_cast<unsigned>(hit);
      needs += port.need & (static_cast<std::uint32_t>(hit) - 1);
      // Any access takes the value away unless the reader asks to keep it.
      entry = tag & port.keep & cached_;
    }
    const std::array<unsigned, 2> need{needs & 0xffff, needs >> 16};
    grant.reads = need[0] + need[1];
    move_to(std::max(now + 2, allocated_ + 1));
    if (!ideal_ && grant.reads > 0) {
      if (one_ && window_ == 3 && (used_[0] | used_[1]) < near && (need[0] | need[1]) <= 3) {
        const unsigned fits = fits_in_three[used_[0]][need[0]] & fits_in_three[used_[1]][need[1]];
        move_to(allocated_ + static_cast<unsigned>(std::countr_zero(fits)));
        for (std::size_t bank = 0; bank < used_.size(); ++bank)
          used_[bank] |= last_of_three[used_[bank] & 7][need[bank]];
      } else {
        wait_for_room(need, window_);
        for (std::size_t bank = 0; bank < used_.size(); ++bank) take_last(bank, need[bank]);
      }
    }
    grant.allocated = allocated_;
    return grant;
  }

  // A matrix instruction gathers operands of several registers over as many cycles as the fuller bank needs, and one
  // more at most; nothing of it is cached.
  Grant allocate_wide(const std::array<unsigned, 2>& need, std::uint64_t now) {
    Grant grant;
    grant.reads = need[0] + need[1];
    move_to(std::max(now + 2, allocated_ + 1));
    if (!ideal_ && one_ && (used_[0] | used_[1]) == 0) {
      for (std::size_t bank = 0; bank < used_.size(); ++bank) used_[bank] = (std::uint64_t{1} << need[bank]) - 1;
    } else if (!ideal_) {
      wait_for_room(need, std::min(static_cast<int>(std::max(need[0], need[1])) + 1, cells - 1));
      for (std::size_t bank = 0; bank < used_.size(); ++bank) {
        if (one_ && used_[bank] < near && need[bank] < first_free.size())
          used_[bank] |= first_free[need[bank]][used_[bank]];
        else
          take_first(bank, need[bank]);
      }
    }
    grant.allocated = allocated_;
    return grant;
  }

  // Calls add(value) for all that decides what happens from `now` on, times relative to it.
  template <class Add>
  void state(std::uint64_t now, Add&& add) const {
    ReadPorts moved = *this;
    if (moved.allocated_ < now + 1) moved.move_to(now + 1);
    add(moved.allocated_ - now);
    for (const std::uint64_t used : moved.used_) add(used);
    for (const std::uint32_t entry : entry_) add(entry);
  }

 private:
  // used_[bank] counts the reads of the 16 cycles after allocated_, in one bit each where there is one port, else in
  // four.
  static constexpr int cells = 16;
  // Reads no further ahead than eight cycles: what tables of one port are made for.
  static constexpr std::uint64_t near = 256;

  void move_to(std::uint64_t cycle) {
    const std::uint64_t by = cycle - allocated_;
    allocated_ = cycle;
    for (std::uint64_t& used : used_) used >>= std::min<std::uint64_t>(by << shift_, 63);
  }

  // Until both banks have room for what is needed within `span` cycles.
  void wait_for_room(const std::array<unsigned, 2>& need, int span) {
    while (room(0, span) < static_cast<int>(need[0]) || room(1, span) < static_cast<int>(need[1]))
      move_to(allocated_ + 1);
  }

  // Reads that the next `span` cycles can still take.
  [[nodiscard]] int room(std::size_t bank, int span) const {
    if (one_) {
      const std::uint64_t used = used_[bank] & ((std::uint64_t{1} << span) - 1);
      return span - ones[used & 0xff] - ones[used >> 8];
    }
    int room = span * ports_;
    for (int i = 0; i < span; ++i) room -= used_in(bank, i);
    return room;
  }

  [[nodiscard]] int used_in(std::size_t bank, int cell) const {
    return static_cast<int>(used_[bank] >> (static_cast<unsigned>(cell) << shift_) & (one_ ? 1u : 15u));
  }

  void take(std::size_t bank, int cell, unsigned& need) {
    while (used_in(bank, cell) < ports_ && need > 0) {
      used_[bank] += std::uint64_t{1} << (static_cast<unsigned>(cell) << shift_);
      --need;
    }
  }

  void take_first(std::size_t bank, unsigned need) {
    for (int cell = 0; need > 0; ++cell) take(bank, cell, need);
  }

  void take_last(std::size_t bank, unsigned need) {
    for (int cell = window_ - 1; need > 0; --cell) take(bank, cell, need);
  }

  // Tables of one port, by which of the next eight cycles are taken.

  // How many of them.
  static constexpr auto ones = [] {
    std::array<std::uint8_t, near> table{};
    for (unsigned taken = 0; taken < near; ++taken) table[taken] = static_cast<std::uint8_t>(std::popcount(taken));
    return table;
  }();

  // Delays after which `need` of three cycles are free, a bit for each delay.
  static constexpr auto fits_in_three = [] {
    std::array<std::array<std::uint16_t, 4>, near> table{};
    for (unsigned taken = 0; taken < near; ++taken)
      for (unsigned need = 0; need < 4; ++need)
        for (unsigned delay = 0; delay <= 8; ++delay)
          if (3 - static_cast<unsigned>(std::popcount(taken >> delay & 7)) >= need)
            table[taken][need] = static_cast<std::uint16_t>(table[taken][need] | 1u << delay);
    return table;
  }();

  // What `need` reads take of three cycles, from their end, by which of the three are taken.
  static constexpr auto last_of_three = [] {
    std::array<std::array<std::uint8_t, 4>, 8> table{};
    for (unsigned taken = 0; taken < 8; ++taken)
      for (unsigned need = 1; need < 4; ++need) {
        unsigned left = need;
        for (unsigned cell = 3; cell-- > 0 && left > 0;) {
          if ((taken >> cell & 1u) != 0) continue;
          table[taken][need] = static_cast<std::uint8_t>(table[taken][need] | 1u << cell);
          --left;
        }
      }
    return table;
  }();

  // The first cycles that are free, by how many are needed.
  static constexpr auto first_free = [] {
    std::array<std::array<std::uint16_t, near>, 9> table{};
    for (unsigned need = 1; need < table.size(); ++need)
      for (unsigned taken = 0; taken < near; ++taken) {
        unsigned left = need;
        for (unsigned cell = 0; left > 0; ++cell) {
          if ((taken >> cell & 1u) != 0) continue;
          table[need][taken] = static_cast<std::uint16_t>(table[need][taken] | 1u << cell);
          --left;
        }
      }
    return table;
  }();

  int ports_, window_;
  bool cache_;
  std::uint32_t cached_;  // all bits, or none
  bool ideal_;
  bool one_;                                              // port
  unsigned shift_;                                        // a cycle has 1 << shift_ bits in used_
  std::uint64_t allocated_ = 0;                           // cycle in which the last instruction left Allocate
  std::array<std::uint32_t, uncached_slot + 1> entry_{};  // the last is never kept
  std::array<std::uint64_t, 2> used_{};
};

}  // namespace noteg::core
