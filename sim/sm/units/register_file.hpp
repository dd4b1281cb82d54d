// Register file of one sub-core: banks, their read ports and the register file cache. A fixed-latency instruction
// reserves ports in the Allocate stage: it must read all its operands in the three cycles behind it, one warp register
// per bank, port and cycle; if it cannot, it waits there and holds the pipe behind it (MICRO25, sections 5.1 and 5.3).
// Operands that no window holds take as many cycles as they need. Slots are taken from the end of the window: that
// order, and no other that we tried, reproduces 40 of 41 FFMA sequences that we timed on an H200 with chosen register
// parities (tests/sm). The cache serves operands whose reuse bit was set by the previous reader of the same bank and
// position; one register named twice is read once.
// Register r lies in bank r mod banks. Two banks of one port, as all shipped GPUs have, go by tables; up to
// `most_banks` banks and any number of ports count reads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "sim/sm/decoded.hpp"
#include "sim/sm/state_hash.hpp"

namespace noteg::sm {

struct RegisterFileSpec {
  int banks = 2, ports = 1, window = 3;
  bool cache = true;
  bool ideal = false;  // operands never wait
  unsigned width = 1;  // instructions that pass Allocate in a cycle, 1 or 2
};

class RegisterFile {
 public:
  explicit RegisterFile(const RegisterFileSpec& spec)
      : banks_(static_cast<std::size_t>(std::clamp(spec.banks, 1, most_banks))),
        ports_(spec.ports),
        window_(spec.window),
        uncached_(spec.cache ? std::uint8_t{0} : uncached_slot),
        cached_(spec.cache ? ~0u : 0),
        ideal_(spec.ideal),
        one_(spec.ports == 1 && banks_ <= 2),
        has_tables_(one_ && spec.window == 3 && !spec.ideal),
        next_(spec.width > 1 ? 0 : 1) {}

  struct Grant {
    std::uint64_t allocated = 0;  // cycle in which the instruction leaves Allocate
    unsigned reads = 0;           // port reads
    unsigned hits = 0;            // served by the register file cache
  };

  // An instruction that issues at `now` (it reaches Allocate two cycles later at the earliest).
  [[gnu::always_inline]] Grant allocate(const DecodedInstruction& instruction, std::uint16_t warp, std::uint64_t now) {
    Grant grant;
    std::uint64_t needs = 0;  // 16 bits for each bank
    const std::uint32_t owner = (static_cast<std::uint32_t>(warp) << 16) | 0x8000'0000u;
    for (std::uint8_t i = 0; i < instruction.reads; ++i) {
      const ReadPort& port = instruction.read[i];
      const std::uint32_t tag = owner | port.reg;
      std::uint32_t& entry = entry_[port.slot | uncached_];
      const bool hit = entry == tag;
      grant.hits += static_cast<unsigned>(hit);
      needs += port.need & (static_cast<std::uint64_t>(hit) - 1);
      // Any access takes the value away unless the reader asks to keep it.
      entry = tag & port.keep & cached_;
    }
    const auto of_bank = [needs](unsigned bank) { return static_cast<unsigned>(needs >> 16 * bank & 0xffff); };
    const BankReads need{of_bank(0), of_bank(1), of_bank(2), of_bank(3)};
    grant.reads = need[0] + need[1] + need[2] + need[3];
    move_to(std::max(now + 2, allocated_ + next_));
    if (has_tables_ && ((taken_ & ~both(near - 1)) | (needs & ~std::uint64_t{0x0003'0003})) == 0) {
      const unsigned fits = fits_in_three[taken_ & (near - 1)][need[0]] & fits_in_three[taken_ >> second][need[1]];
      const auto delay = static_cast<unsigned>(std::countr_zero(fits));
      allocated_ += delay;
      taken_ = taken_ >> delay & both(all_cells);
      taken_ |= last_of_three[taken_ & 7][need[0]] |
                static_cast<std::uint64_t>(last_of_three[taken_ >> second & 7][need[1]]) << second;
    } else if (!ideal_ && needs != 0) {
      const int span = std::max(window_, (static_cast<int>(std::ranges::max(need)) + ports_ - 1) / ports_);
      wait_for_room(need, span);
      for (std::size_t bank = 0; bank < banks_; ++bank) take_last(bank, span, need[bank]);
    }
    grant.allocated = allocated_;
    return grant;
  }

  // A matrix instruction gathers operands of several registers over as many cycles as the fuller bank needs, and one
  // more at most; nothing of it is cached.
  Grant allocate_wide(const BankReads& need, std::uint64_t now) {
    Grant grant;
    grant.reads = need[0] + need[1] + need[2] + need[3];
    move_to(std::max(now + 2, allocated_ + next_));
    if (!ideal_ && one_ && taken_ == 0) {
      taken_ = ((std::uint64_t{1} << need[0]) - 1) | ((std::uint64_t{1} << need[1]) - 1) << second;
    } else if (!ideal_) {
      wait_for_room(need, std::min(static_cast<int>(std::ranges::max(need)) + 1, cells - 1));
      for (std::size_t bank = 0; bank < banks_; ++bank) {
        const std::uint64_t taken = one_ ? taken_ >> second * bank & all_cells : near;
        if (one_ && taken < near && need[bank] < first_free.size())
          taken_ |= static_cast<std::uint64_t>(first_free[need[bank]][taken]) << second * bank;
        else
          take_first(bank, need[bank]);
      }
    }
    grant.allocated = allocated_;
    return grant;
  }

  void hash(StateHash& add) const {
    RegisterFile moved = *this;
    if (moved.allocated_ < add.now() + 1) moved.move_to(add.now() + 1);
    add.at(moved.allocated_);
    add(moved.taken_);
    for (const std::uint64_t used : moved.used_) add(used);
    for (const std::uint32_t entry : entry_) add(entry);
  }

 private:
  static constexpr int cells = 16;  // cycles after allocated_ that are kept
  static constexpr std::uint64_t all_cells = (std::uint64_t{1} << cells) - 1;
  static constexpr unsigned second = 32;  // where the bits of the second bank begin in taken_
  // Reads no further ahead than eight cycles: what tables of one port are made for.
  static constexpr std::uint64_t near = 256;

  // The same bits for each of the two banks.
  static constexpr std::uint64_t both(std::uint64_t bits) { return bits << second | bits; }

  void move_to(std::uint64_t cycle) {
    const std::uint64_t by = cycle - allocated_;
    allocated_ = cycle;
    taken_ = by < cells ? taken_ >> by & both(all_cells) : 0;
    if (one_) return;
    for (std::uint64_t& used : used_) used = by < cells ? used >> several * by : 0;
  }

  // Until all banks have room for what is needed within `span` cycles.
  void wait_for_room(const BankReads& need, int span) {
    const auto fits = [&] {
      for (std::size_t bank = 0; bank < banks_; ++bank)
        if (room(bank, span) < static_cast<int>(need[bank])) return false;
      return true;
    };
    while (!fits()) move_to(allocated_ + 1);
  }

  // Reads that the next `span` cycles can still take.
  [[nodiscard]] int room(std::size_t bank, int span) const {
    if (one_) {
      const std::uint64_t taken = taken_ >> second * bank & ((std::uint64_t{1} << span) - 1);
      return span - ones[taken & 0xff] - ones[taken >> 8];
    }
    int room = span * ports_;
    for (int i = 0; i < span; ++i) room -= used_in(bank, i);
    return room;
  }

  [[nodiscard]] int used_in(std::size_t bank, int cell) const {
    const auto at = static_cast<unsigned>(cell);
    return static_cast<int>(one_ ? taken_ >> (second * bank + at) & 1u : used_[bank] >> several * at & 15u);
  }

  void take(std::size_t bank, int cell, unsigned& need) {
    const auto at = static_cast<unsigned>(cell);
    for (; used_in(bank, cell) < ports_ && need > 0; --need) {
      if (one_)
        taken_ |= std::uint64_t{1} << (second * bank + at);
      else
        used_[bank] += std::uint64_t{1} << several * at;
    }
  }

  void take_first(std::size_t bank, unsigned need) {
    for (int cell = 0; need > 0; ++cell) take(bank, cell, need);
  }

  void take_last(std::size_t bank, int span, unsigned need) {
    for (int cell = span - 1; need > 0; --cell) take(bank, cell, need);
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

  std::size_t banks_;
  int ports_, window_;
  std::uint8_t uncached_;  // makes any slot an uncached one, or none
  std::uint32_t cached_;   // all bits, or none
  bool ideal_;
  bool one_;  // port
  bool has_tables_;
  std::uint64_t next_;                                    // cycles from one instruction in Allocate to the next
  std::uint64_t allocated_ = 0;                           // cycle in which the last instruction left Allocate
  std::array<std::uint32_t, 2 * uncached_slot> entry_{};  // those from uncached_slot on are never kept
  // Reads of the cycles after allocated_: of one port a bit for each cycle, both banks in one number; of several ports
  // their count in `several` bits each, by bank.
  std::uint64_t taken_ = 0;
  std::array<std::uint64_t, most_banks> used_{};
  static constexpr unsigned several = 4;
};

}  // namespace noteg::sm
