// DRAM and L2 traffic of a tiled GEMM from the tiles that are live together: exact arithmetic on tile
// sets, no address traces. A wave of CTAs walks K in step, so within a wave every distinct A and B tile
// comes from DRAM at most once; between waves it is found again if the bytes touched since still fit. CTAs of which
// many share an SM drift apart and follow one another instead. Left out: set conflicts.
#pragma once

#include <cstdint>

#include "kernels/config.hpp"

namespace noteg::memory {

struct TileGrid {
  std::int64_t tiles_m = 1, tiles_n = 1;  // tiles of C
  std::int64_t batch = 1, split_k = 1;
  kernels::Raster raster = kernels::Raster::along_m;
  int swizzle_log2 = 0;

  [[nodiscard]] std::int64_t ctas() const { return tiles_m * tiles_n * batch * split_k; }
};

struct ReuseRequest {
  TileGrid grid;
  kernels::GemmShape shape;
  kernels::Tile tile;
  double bytes_in = 4, bytes_out = 4;  // per element
  double a_stored = 1;                 // of A's bytes: a sparse A keeps half of its values, and their places
  std::int64_t live_ctas = 1;          // CTAs resident on the chip together
  double l2_bytes = 0;                 // capacity that the kernel can use
  double a_copies = 1, b_copies = 1;   // that L2 keeps of a byte: its partitions each keep what their own SMs read
  bool in_step = true;                 // CTAs of a wave walk K together; else they have drifted apart
  bool warm = true;                    // A and B were used just before
  bool empty = false;                  // L2 is empty before and left as it is afterwards: results stay where they fit
  bool reads_c = false;
  double granule = 64;                       // bytes that one miss brings
  bool a_along_k = true, b_along_k = false;  // which operands are contiguous along K
};

struct ReuseResult {
  double requested_bytes = 0;  // of A and B by all CTAs, whole tiles clipped to the matrix
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  double compulsory_bytes = 0;  // A, B (and C where read) once
  double c_missing = 0;         // 0..1, of the C that is read: comes from DRAM
  double opened_rows = 0;       // of DRAM, for reads by CTAs that have drifted apart
  double waiting_steps = 0;     // 0..1: k tiles of CTAs that are in DRAM when the first CTA asks for them
  double waiting_places = 1;    // in DRAM where what such a k tile misses lies: geometric mean
  [[nodiscard]] double dram_fraction() const { return requested_bytes > 0 ? dram_read_bytes / requested_bytes : 0; }
};

// Distinct tile rows and columns touched by CTAs [first, first + count) of the raster.
struct LiveTiles {
  double rows = 0, columns = 0;
};
[[nodiscard]] LiveTiles live_tiles(const TileGrid& grid, std::int64_t count);

// Part of `bytes` touched again after `distance` distinct bytes that an L2 of `capacity` still holds.
[[nodiscard]] double retained_fraction(double distance, double capacity);

[[nodiscard]] ReuseResult tile_reuse(const ReuseRequest& request);

}  // namespace noteg::memory
