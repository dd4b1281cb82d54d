// What the SMs of a tiled GEMM ask of L2, after L1: exact arithmetic on sectors, no address traces.
// A CTA finds a sector again that it shares with its next k tile; CTAs of one SM find each other's tiles.
// Left out: L1's capacity, which holds several k tiles of every resident CTA in all kernels measured.
#pragma once

#include <cstdint>

#include "kernels/config/shape.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::memory {

// One operand, seen as lines of consecutive elements: of `line` elements in the matrix, of `piece` in a tile.
struct OperandLines {
  std::int64_t line = 1;   // elements from one line to the next
  std::int64_t piece = 1;  // elements of a line that a CTA's tile covers, whole tiles
  bool along_k = true;  // lines run along K: a CTA walks down its lines, else it takes a piece of new lines each step
  bool through_l1 = true;    // false: copies of 16 bytes to shared memory, which pass L1 by
  double live_tiles = 1;     // different tiles of this operand among the CTAs that are live
  std::int64_t sector = 32;  // bytes
};

struct SharingCtas {
  int resident = 1;  // CTAs on an SM
  int slots = 32;    // CTAs that an SM could hold
};

// Sectors fetched from L2 over the sectors that the useful bytes alone would fill; at least 1 where nothing is shared.
[[nodiscard]] double fetched_over_useful(const OperandLines& operand, const SharingCtas& ctas, double element_bytes);

// Sectors touched by pieces of `bytes` that lie `pitch` bytes apart, each counted for itself, over bytes / sector.
[[nodiscard]] double straddle(std::int64_t bytes, std::int64_t pitch, std::int64_t sector = 32);

}  // namespace noteg::memory
