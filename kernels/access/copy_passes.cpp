#include "kernels/access/wavefronts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr unsigned lanes = 32;

// Bits of a line number that decide the two bits of its tag bank, by parity. Bits from 14 on did not vary in the
// measurement.
constexpr std::uint32_t low_bit = 0x3ab5, high_bit = 0x15da;
constexpr unsigned tag_banks = 4;

unsigned tag_bank(std::uint64_t line) {
  const auto bits = static_cast<std::uint32_t>(line);
  return static_cast<unsigned>(std::popcount(bits & low_bit) % 2 + 2 * (std::popcount(bits & high_bit) % 2));
}

struct Word {
  std::uint64_t line = 0;
  unsigned from = 0, to = 0;  // banks of L1's data and of shared memory
  int lookup = 0;
};

// At most eight words a lane, on as many lines; on the stack, since every build of a kernel counts thousands.
template <class Item, std::size_t capacity>
struct Few {
  std::array<Item, capacity> items;  // set up to count
  std::size_t count = 0;
  void push(const Item& item) { items[count++] = item; }
  [[nodiscard]] auto begin() { return items.begin(); }
  [[nodiscard]] auto end() { return items.begin() + static_cast<std::ptrdiff_t>(count); }
};
constexpr std::size_t most_words = 8 * lanes;
using Words = Few<Word, most_words>;

// Words of a copy in the order of the lanes.
Words words_of(const AccessPattern& copy, std::uint64_t base, SharedBanks banks, LineSizes sizes) {
  Words out;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((copy.active_mask >> lane & 1u) == 0) continue;
    for (std::uint64_t byte = 0; byte < std::min<std::uint64_t>(copy.bytes_per_lane, 8); byte += banks.width) {
      const std::uint64_t from = base + copy.offset[lane] + byte;
      const std::uint64_t to = copy.shared_offset[lane] + byte;
      out.push({from / sizes.line, static_cast<unsigned>(from / banks.width % banks.count),
                static_cast<unsigned>(to / banks.width % banks.count)});
    }
  }
  return out;
}

// Gives each word the look-up that its line is found in; returns how many there are.
int look_up(Words& words) {
  Few<std::uint64_t, most_words> seen;
  Few<int, most_words> lookup_of;
  std::array<int, tag_banks> taken{};
  for (Word& word : words) {
    const auto found = std::find(seen.begin(), seen.end(), word.line);
    if (found == seen.end()) {
      lookup_of.push(taken[tag_bank(word.line)]++);
      seen.push(word.line);
    }
    word.lookup = lookup_of.items[static_cast<std::size_t>(found - seen.begin())];
  }
  return *std::max_element(taken.begin(), taken.end());
}

// A word goes one wavefront behind the last earlier one of either bank.
int wavefronts(Words& words, int lookup, SharedBanks banks) {
  std::array<int, SharedBanks::most> from, to;  // set up as far as there are banks
  std::fill_n(from.begin(), banks.count, 0);
  std::fill_n(to.begin(), banks.count, 0);
  int last = 0;
  for (const Word& word : words) {
    if (word.lookup != lookup) continue;
    const int at = std::max(from[word.from], to[word.to]) + 1;
    from[word.from] = to[word.to] = at;
    last = std::max(last, at);
  }
  return last;
}

// Four rows of eight words, transposed into columns of a multiple of 32: what CUTLASS copies of an operand along K.
AccessPattern transposing_copy() {
  AccessPattern p;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    p.offset[lane] = lane / 8 * nominal_pitch + lane % 8 * 4;
    p.shared_offset[lane] = lane % 8 * 512 + lane / 8 * 4;
  }
  return p;
}

}  // namespace

CopyPasses copy_passes(const AccessPattern& copy, std::uint64_t base, SharedBanks banks, LineSizes sizes) {
  Words words = words_of(copy, base, banks, sizes);
  CopyPasses out;
  if (words.count == 0) return out;
  const int lookups = look_up(words);
  out.lookups = lookups;
  for (int i = 0; i < lookups; ++i) out.wavefronts += wavefronts(words, i, banks);
  return out;
}

AccessPattern with_pitch(const AccessPattern& copy, std::uint64_t pitch) {
  AccessPattern p = copy;
  for (std::uint32_t& offset : p.offset) {
    offset = static_cast<std::uint32_t>(offset / nominal_pitch * pitch + offset % nominal_pitch);
  }
  return p;
}

CopyPasses mean_copy_passes(const AccessPattern& copy, std::uint64_t pitch, SharedBanks banks, LineSizes sizes) {
  const AccessPattern p = with_pitch(copy, pitch);
  std::uint64_t rows = 1, run = copy.bytes_per_lane;
  for (const std::uint32_t offset : copy.offset) {
    rows = std::max<std::uint64_t>(rows, offset / nominal_pitch + 1);
    run = std::max<std::uint64_t>(run, offset % nominal_pitch + copy.bytes_per_lane);
  }
  // Blocks of rows, and places along a row, an odd number of runs apart so that no power of two is favoured.
  constexpr std::uint64_t blocks = 16, places = 16;
  const std::uint64_t runs = std::max<std::uint64_t>(1, pitch / run);
  const std::uint64_t apart = std::max<std::uint64_t>(1, runs / places) | 1u;
  CopyPasses sum;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (std::uint64_t place = 0; place < places; ++place) {
      const CopyPasses one = copy_passes(p, block * rows * pitch + place * apart % runs * run, banks, sizes);
      sum.lookups += one.lookups;
      sum.wavefronts += one.wavefronts;
    }
  }
  return {sum.lookups / (blocks * places), sum.wavefronts / (blocks * places)};
}

std::uint64_t alike_pitch(std::uint64_t pitch) {
  // And the wavefronts that the copy takes, computed once and for all; other pitches lie between.
  struct Known {
    std::uint64_t pitch;
    double wavefronts;
  };
  static constexpr std::array<Known, 4> known{
      {{nominal_pitch, 11}, {4128, 13.15625}, {3072, 18.95703125}, {4224, 21.1171875}}};
  const AccessPattern copy = transposing_copy();
  const double wanted = mean_copy_passes(copy, pitch).wavefronts;
  const auto apart = [&](const Known& one) {
    assert(one.wavefronts == mean_copy_passes(copy, one.pitch).wavefronts);
    return std::abs(one.wavefronts - wanted);
  };
  return std::ranges::min(known, {}, apart).pitch;
}

}  // namespace noteg::kernels
