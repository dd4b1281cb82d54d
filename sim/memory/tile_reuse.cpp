#include "sim/memory/tile_reuse.hpp"

#include <algorithm>
#include <cmath>

namespace noteg::memory {

LiveTiles live_tiles(const TileGrid& grid, std::int64_t count) {
  const std::int64_t plane = grid.tiles_m * grid.tiles_n;
  const std::int64_t in_plane = std::min(count, plane);
  const bool along_m = grid.raster == kernels::Raster::along_m;
  const std::int64_t fast = along_m ? grid.tiles_m : grid.tiles_n;
  const std::int64_t slow = along_m ? grid.tiles_n : grid.tiles_m;
  // A swizzle of s walks 2^s slow tiles before it moves on along the fast axis.
  const std::int64_t width = std::min<std::int64_t>(std::int64_t{1} << grid.swizzle_log2, slow);
  const std::int64_t band = fast * width;
  double fast_tiles = 0, slow_tiles = 0;
  if (in_plane >= band) {
    fast_tiles = static_cast<double>(fast);
    const auto bands = in_plane / band;
    const auto rest = in_plane % band;
    slow_tiles = static_cast<double>(bands * width) + (rest > 0 ? static_cast<double>(std::min(width, rest)) : 0.0);
    slow_tiles = std::min(slow_tiles, static_cast<double>(slow));
  } else {
    slow_tiles = static_cast<double>(std::min(width, in_plane));
    fast_tiles = static_cast<double>((in_plane + width - 1) / width);
  }
  // Waves start in the middle of a row as often as not: half a slow tile more on average is ignored.
  return along_m ? LiveTiles{fast_tiles, slow_tiles} : LiveTiles{slow_tiles, fast_tiles};
}

namespace {

// Hashed sets and a replacement that is not strict LRU turn the cliff at distance == capacity into a slope. H200M:
// repeated passes of all SMs over one buffer find everything again up to 27 MiB and nothing from 35 MiB on, with
// 30 MiB in each partition; kernels whose tiles have one or two readers find 34 to 46 MB again.
constexpr double full_below = 0.9, none_above = 1.15;

}  // namespace

double retained_fraction(double distance, double capacity) {
  if (distance <= 0) return 1;
  if (capacity <= 0) return 0;
  const double x = distance / capacity;
  if (x <= full_below) return 1;
  if (x >= none_above) return 0;
  return (none_above - x) / (none_above - full_below);
}

namespace {

// Results are written back when something else needs their place. Repeated launches find their own results again; in a
// launch that starts empty only the last part of all traffic stays; else others' results make room for these, byte
// for byte.
double written_share(const ReuseRequest& request, double traffic) {
  if (request.warm) return 1.0 - retained_fraction(traffic, request.l2_bytes);
  if (request.empty) return traffic > 0 ? std::max(0.0, 1.0 - request.l2_bytes / traffic) : 0;
  return 1;
}

double share(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0; }

// A step waits if its rows of A or its columns of B are missing. Where an operand lies along K, one miss brings the
// next k tiles too, and both operands begin a granule at the same step.
double waiting_steps(const ReuseRequest& request, double a_missing, double b_missing) {
  const double granules = std::min(1.0, request.tile.k * request.bytes_in / request.granule);
  const double a_begins = request.a_along_k ? granules : 1.0, b_begins = request.b_along_k ? granules : 1.0;
  const double both = std::min(a_begins, b_begins);
  return a_missing * a_begins + b_missing * b_begins - a_missing * b_missing * both;
}

}  // namespace

ReuseResult tile_reuse(const ReuseRequest& request) {
  ReuseResult out;
  const auto m = static_cast<double>(request.shape.m), n = static_cast<double>(request.shape.n);
  const auto k = static_cast<double>(request.shape.k), batch = static_cast<double>(request.shape.batch);
  const TileGrid& grid = request.grid;
  const double a_bytes = m * k * request.bytes_in * request.a_stored, b_bytes = k * n * request.bytes_in,
               c_bytes = m * n * request.bytes_out;
  const auto tiles_m = static_cast<double>(grid.tiles_m), tiles_n = static_cast<double>(grid.tiles_n);

  // Every column of tiles reads all of A, every row of tiles all of B.
  out.requested_bytes = batch * (a_bytes * tiles_n + b_bytes * tiles_m);
  out.compulsory_bytes = batch * (a_bytes + b_bytes + (request.reads_c ? c_bytes : 0));

  const std::int64_t total = grid.ctas();
  const std::int64_t live = std::max<std::int64_t>(1, std::min(request.live_ctas, total));
  const std::int64_t planes = grid.batch * grid.split_k;
  const std::int64_t plane_ctas = grid.tiles_m * grid.tiles_n;
  const double planes_live =
      std::clamp(static_cast<double>(live) / static_cast<double>(plane_ctas), 1.0, static_cast<double>(planes));
  const LiveTiles tiles = live_tiles(grid, live);

  // Bytes of A and B that one wave touches at least once.
  const double row_bytes = a_bytes / tiles_m / static_cast<double>(grid.split_k);
  const double column_bytes = b_bytes / tiles_n / static_cast<double>(grid.split_k);
  const double wave_a = tiles.rows * row_bytes * planes_live;
  const double wave_b = tiles.columns * column_bytes * planes_live;
  const double waves = static_cast<double>(total) / static_cast<double>(live);

  // First touches over the run: each wave brings its own distinct tiles ...
  const double touched_a = std::max(batch * a_bytes, wave_a * waves);
  const double touched_b = std::max(batch * b_bytes, wave_b * waves);
  // ... and finds again what an earlier wave left, if the bytes between still fit.
  const double c_per_wave = c_bytes * batch / std::max(1.0, waves);
  const double again =
      retained_fraction(wave_a * request.a_copies + wave_b * request.b_copies + c_per_wave, request.l2_bytes);
  const double repeated = (touched_a - batch * a_bytes) + (touched_b - batch * b_bytes);
  double first = batch * (a_bytes + b_bytes);
  // A warm L2 holds what the previous launch of the same kernel left behind.
  const double kept = batch * (a_bytes * request.a_copies + b_bytes * request.b_copies + c_bytes);
  const double missing = request.warm ? 1.0 - retained_fraction(kept, request.l2_bytes) : 1.0;
  first *= missing;
  out.dram_read_bytes = first + repeated * (1.0 - again);
  if (request.reads_c) out.dram_read_bytes += batch * c_bytes * missing;
  out.dram_write_bytes = batch * c_bytes * written_share(request, kept);
  const double found = 1.0 - again;
  const double a_missing = share(batch * a_bytes * missing + (touched_a - batch * a_bytes) * found, touched_a);
  const double b_missing = share(batch * b_bytes * missing + (touched_b - batch * b_bytes) * found, touched_b);
  out.waiting_steps = waiting_steps(request, a_missing, b_missing);
  // Without L2 every request would go out; no tile set can need more than that.
  out.dram_read_bytes = std::min(out.dram_read_bytes, out.requested_bytes + (request.reads_c ? batch * c_bytes : 0));
  return out;
}

}  // namespace noteg::memory
