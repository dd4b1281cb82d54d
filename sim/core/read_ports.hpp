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
      : ports_(ports), window_(window), cache_(cache), ideal_(ideal), narrow_(ports == 1 && window == 3) {}

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
      needs += hit ? 0 : port.need;
      // Any access takes the value away unless the reader asks to keep it.
      entry = port.reuse && cache_ ? tag : 0;
    }
    const std::uint32_t need0 = needs & 0xffff, need1 = needs >> 16;
    grant.reads = need0 + need1;
    move_to(std::max(now + 2, allocated_ + 1));
    if (!ideal_ && grant.reads > 0) {
      if (narrow_ && ((used_[0] | used_[1]) >> 12) == 0 && (need0 | need1) <= 3) {
        const Fit& fit = fits[taken_of_three(used_[0]) << 7 | taken_of_three(used_[1]) << 4 | need0 << 2 | need1];
        allocated_ += fit.wait;
        used_[0] = (used_[0] >> (4 * fit.wait)) + fit.takes[0];
        used_[1] = (used_[1] >> (4 * fit.wait)) + fit.takes[1];
        grant.allocated = allocated_;
        return grant;
      }
      const std::array<int, 2> need{static_cast<int>(need0), static_cast<int>(need1)};
      while (room(0, window_) < need[0] || room(1, window_) < need[1]) move_to(allocated_ + 1);
      take_last(0, need[0]);
      take_last(1, need[1]);
    }
    grant.allocated = allocated_;
    return grant;
  }

  // A matrix instruction gathers operands of several registers over as many cycles as the fuller bank needs, and one
  // more at most; nothing of it is cached.
  Grant allocate_wide(const std::array<int, 2>& need, std::uint64_t now) {
    Grant grant;
    grant.reads = static_cast<unsigned>(need[0] + need[1]);
    move_to(std::max(now + 2, allocated_ + 1));
    if (!ideal_) {
      const int span = std::min(std::max(need[0], need[1]) + 1, cells - 1);
      if (ports_ == 1) {
        while (free_of(0, span) < need[0] || free_of(1, span) < need[1]) move_to(allocated_ + 1);
        for (std::size_t bank = 0; bank < used_.size(); ++bank) used_[bank] |= first_free(used_[bank], need[bank]);
        grant.allocated = allocated_;
        return grant;
      }
      while (room(0, span) < need[0] || room(1, span) < need[1]) move_to(allocated_ + 1);
      for (std::size_t bank = 0; bank < used_.size(); ++bank) take_first(bank, need[bank]);
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
  // used_[bank] counts the reads of the cycles after allocated_, four bits for each of 16 cycles.
  static constexpr int cells = 16;
  static constexpr std::uint64_t each_cell = 0x1111'1111'1111'1111;

  void move_to(std::uint64_t cycle) {
    const std::uint64_t by = cycle - allocated_;
    allocated_ = cycle;
    for (std::uint64_t& used : used_) used = by < cells ? used >> (4 * by) : 0;
  }

  // Reads that the next `span` cycles can still take.
  [[nodiscard]] int room(std::size_t bank, int span) const {
    const std::uint64_t used = used_[bank] & ((std::uint64_t{1} << (4 * span)) - 1);
    if (span == 3 && ports_ < 4) return span * ports_ - static_cast<int>((used + (used >> 4) + (used >> 8)) & 15u);
    int room = span * ports_;
    for (int i = 0; i < span; ++i) room -= used_in(bank, i);
    return room;
  }

  // Of one port: cycles among the next `span` in which it is free.
  [[nodiscard]] int free_of(std::size_t bank, int span) const {
    const std::uint64_t used = used_[bank] & ((std::uint64_t{1} << (4 * span)) - 1);
    return span - static_cast<int>(used * each_cell >> (4 * (cells - 1)));
  }

  // The first `need` cycles in which the only port is free.
  static std::uint64_t first_free(std::uint64_t used, int need) {
    std::uint64_t free = ~used & each_cell, taken = 0;
    for (; need > 0; --need) {
      taken |= free & (~free + 1);
      free &= free - 1;
    }
    return taken;
  }

  [[nodiscard]] int used_in(std::size_t bank, int cell) const {
    return static_cast<int>(used_[bank] >> (4 * cell) & 15u);
  }

  void take(std::size_t bank, int cell, int& need) {
    while (used_in(bank, cell) < ports_ && need > 0) {
      used_[bank] += std::uint64_t{1} << (4 * cell);
      --need;
    }
  }

  void take_first(std::size_t bank, int need) {
    for (int cell = 0; need > 0; ++cell) take(bank, cell, need);
  }

  void take_last(std::size_t bank, int need) {
    if (narrow_) {
      used_[bank] += last_of_three[taken_of_three(used_[bank])][static_cast<std::size_t>(need)];
      return;
    }
    for (int cell = window_ - 1; need > 0; --cell) take(bank, cell, need);
  }

  // One bit for each of the next three cycles: is the only port taken?
  static std::size_t taken_of_three(std::uint64_t used) {
    return static_cast<std::size_t>((used & 0x111) * 0x124 >> 8 & 7);
  }

  // Cycles until `need` of three are free, nothing being taken beyond the three, by which of them are taken.
  static constexpr auto cycles_until_room = [] {
    std::array<std::array<unsigned, 4>, 8> table{};
    for (unsigned taken = 0; taken < 8; ++taken)
      for (unsigned need = 0; need < 4; ++need)
        while (3 - static_cast<unsigned>(std::popcount(taken >> table[taken][need])) < need) ++table[taken][need];
    return table;
  }();

  // What taking 0 to 3 free cycles of three from their end adds to used_, by which of them are taken.
  static constexpr auto last_of_three = [] {
    std::array<std::array<std::uint16_t, 4>, 8> table{};
    for (unsigned taken = 0; taken < 8; ++taken)
      for (unsigned need = 1; need < 4; ++need) {
        unsigned left = need;
        for (unsigned cell = 3; cell-- > 0 && left > 0;) {
          if ((taken >> cell & 1u) != 0) continue;
          table[taken][need] = static_cast<std::uint16_t>(table[taken][need] | 1u << (4 * cell));
          --left;
        }
      }
    return table;
  }();

  // One port and three cycles: how long to wait for room in both banks and what is taken then, by which cycles of bank
  // 0 and of bank 1 are taken (three bits each) and by how many of each are needed (two bits each).
  struct Fit {
    std::uint16_t wait;
    std::array<std::uint16_t, 2> takes;
  };
  static constexpr auto fits = [] {
    std::array<Fit, 1024> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
      const std::array<std::size_t, 2> taken{i >> 7, i >> 4 & 7}, need{i >> 2 & 3, i & 3};
      const unsigned wait = std::max(cycles_until_room[taken[0]][need[0]], cycles_until_room[taken[1]][need[1]]);
      table[i].wait = static_cast<std::uint16_t>(wait);
      for (std::size_t bank = 0; bank < 2; ++bank)
        table[i].takes[bank] = last_of_three[taken[bank] >> wait][need[bank]];
    }
    return table;
  }();

  int ports_, window_;
  bool cache_, ideal_;
  bool narrow_;                                           // one port and three cycles: tables tell everything
  std::uint64_t allocated_ = 0;                           // cycle in which the last instruction left Allocate
  std::array<std::uint32_t, uncached_slot + 1> entry_{};  // the last is never kept
  std::array<std::uint64_t, 2> used_{};
};

}  // namespace noteg::core
