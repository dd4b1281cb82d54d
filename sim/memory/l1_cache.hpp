// The L1 of an SM, as lines come and go. H200M, l1_kept: sets of four. Of a full set the line leaves that was used
// longest ago among those that were never found there; where all were, all are as new again. So who passes over more
// than L1 holds finds nothing, what was found once outlives any stream of what is not, and rows of CTAs that have ended
// stand in the way of those to come (tests/data/compiled/rows: of rows of 16 KB in eight CTAs a second pass finds a
// third, though all would fit).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace noteg::memory {

// Keeps a Time by sector: when it was asked for.
template <class Time>
class L1Cache {
 public:
  static constexpr std::uint64_t line_sectors = 4;  // of 32 bytes

  explicit L1Cache(std::int64_t bytes)
      : sets_(static_cast<std::size_t>(std::max<std::int64_t>(1, bytes / (ways * line_bytes)))) {}

  void clear() { std::ranges::fill(sets_, Set{}); }

  // When the sector was asked for, if it is there; it is afterwards.
  std::optional<Time> touch(std::uint64_t sector, const Time& now) {
    const std::uint64_t tag = sector / line_sectors, which = sector % line_sectors;
    Set& set = sets_[place_of(tag)];
    for (Line& line : set) {
      if (line.used == 0 || line.tag != tag) continue;
      line.used = ++uses_;
      std::optional<Time>& asked = line.asked[which];
      if (asked) {
        line.is_found = true;
        return asked;
      }
      asked = now;
      return std::nullopt;
    }
    Line& leaves = next_to_leave(set);
    leaves = {tag, ++uses_, false, {}};
    leaves.asked[which] = now;
    return std::nullopt;
  }

 private:
  static constexpr std::int64_t ways = 4, line_bytes = 128;
  struct Line {
    std::uint64_t tag = 0;
    std::uint64_t used = 0;  // latest, in touches; 0: it is empty
    bool is_found = false;
    std::array<std::optional<Time>, line_sectors> asked{};
  };
  using Set = std::array<Line, ways>;

  // Lines that follow each other lie in sets that do, in blocks that are scattered.
  [[nodiscard]] std::size_t place_of(std::uint64_t tag) const {
    constexpr std::uint64_t scatter = 0x9e3779b97f4a7c15, block = 512;
    return static_cast<std::size_t>((tag + (tag / block * scatter >> 40)) % sets_.size());
  }

  static Line& next_to_leave(Set& set) {
    if (std::ranges::all_of(set, &Line::is_found))
      for (Line& line : set) line.is_found = false;
    return *std::ranges::min_element(set, {}, [](const Line& line) { return std::pair(line.is_found, line.used); });
  }

  std::vector<Set> sets_;
  std::uint64_t uses_ = 0;
};

}  // namespace noteg::memory
