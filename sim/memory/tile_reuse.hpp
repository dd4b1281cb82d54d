// DRAM and L2 traffic of a tiled GEMM from the tiles that are live together: exact arithmetic on tile
// sets, no address traces. One law: bytes are found again if what was touched since their last use still fits.
// A wave of CTAs begins in lockstep, so its rows of tiles use the same bytes at the same time; with every wave the
// CTAs drift further apart, and so grows what lies between two uses. Left out: set conflicts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"

namespace noteg::memory {

struct TileGrid {
  std::int64_t tiles_m = 1, tiles_n = 1;  // tiles of C
  std::int64_t batch = 1, split_k = 1;
  kernels::Raster raster = kernels::Raster::along_m;
  int swizzle_log2 = 0;
  int cluster_m = 1, cluster_n = 1;  // CTAs; the raster walks whole clusters

  [[nodiscard]] std::int64_t ctas() const { return tiles_m * tiles_n * batch * split_k; }
  // Tiles across the raster that it walks side by side: a band, of whole clusters.
  [[nodiscard]] std::int64_t width() const {
    const bool along_m = raster == kernels::Raster::along_m;
    const std::int64_t band = std::max<std::int64_t>(std::int64_t{1} << swizzle_log2, along_m ? cluster_n : cluster_m);
    return std::min(band, along_m ? tiles_n : tiles_m);
  }
};

// What L2 holds when the kernel starts. empty: nothing, and results stay as far as they fit, as profilers flush it.
// cold: other data, results among them that have yet to go to DRAM. warm: what the launch before of the same kernel
// left. steady: the kernel is one layer of many: A was written by the layer before and is there as far as it fits
// beside as many weights as B's, B and the results of the last pass are gone. overwritten: a fill of more than L2 ran
// before, as benchmarks flush it; each of its bytes goes to DRAM before another takes its place.
enum class L2State : std::uint8_t { empty, cold, warm, steady, overwritten };
inline constexpr std::array<std::string_view, 5> l2_state_names{"empty", "cold", "warm", "steady", "overwritten"};
[[nodiscard]] constexpr std::string_view name_of(L2State state) {
  return l2_state_names.at(static_cast<std::size_t>(state));
}
[[nodiscard]] constexpr std::optional<L2State> l2_state_from(std::string_view text) {
  for (std::size_t i = 0; i < l2_state_names.size(); ++i)
    if (l2_state_names[i] == text) return static_cast<L2State>(i);
  return std::nullopt;
}

// Hashed sets and a replacement that is not strict LRU turn the cliff at distance == capacity into a slope.
struct Capacity {
  double bytes = 0;
  double kept_below = 0.9, gone_above = 1.15;  // arch::L2Spec
};
[[nodiscard]] inline Capacity capacity_of(const arch::L2Spec& l2) {
  return {l2.size.value, l2.kept_below, l2.gone_above};
}

struct ReuseRequest {
  TileGrid grid;
  kernels::GemmShape shape;
  kernels::Tile tile;
  double bytes_in = 4, bytes_out = 4;  // per element
  double a_stored = 1;                 // of A's bytes: a sparse A keeps half of its values, and their places
  std::int64_t live_ctas = 1;          // CTAs resident on the chip together
  Capacity capacity;                   // of L2
  int l2_partitions = 1;               // each keeps copies of what its own SMs read
  double drift_per_wave = 0;           // of a CTA's duration: by so much more the starts of each wave lie apart
  L2State l2 = L2State::warm;
  bool reads_c = false;
  bool reads_queries = false;                // attention: as many bytes as the results, elsewhere
  double granule = 64;                       // bytes that one miss brings
  double piece_along_k = 128;                // bytes of a row along K that a load brings at least
  double drift_steps = 1;                    // sm.drift_steps
  double banks = 0;                          // rows that DRAM holds open; 0: all
  bool a_along_k = true, b_along_k = false;  // which operands are contiguous along K
  bool waits_apart = false;                  // CTAs that share a tile wait for a part of it each, not all for all
};

struct ReuseResult {
  double requested_bytes = 0;  // of A and B by all CTAs, whole tiles clipped to the matrix
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  double compulsory_bytes = 0;  // A, B (and C where read) once
  double c_missing = 0;         // 0..1, of the C (or of the queries) that is read: comes from DRAM
  double spread = 0;            // 0..1 of a CTA's duration: how far the CTAs of a wave lie apart, mean of the waves
  double opened_rows = 0;       // of DRAM, for reads by CTAs that have drifted apart
  double waiting_steps = 0;     // 0..1: k tiles of CTAs that are in DRAM when the first CTA asks for them
  double waiting_places = 1;    // in DRAM where what such a k tile misses lies: geometric mean
};

// Distinct tile rows and columns touched by CTAs [first, first + count) of the raster.
struct LiveTiles {
  double rows = 0, columns = 0;
};
[[nodiscard]] LiveTiles live_tiles(const TileGrid& grid, std::int64_t count);
// So many, all used alike, are met again as often: of two CTAs out of `count` that follow each other, from any place of
// the raster on, one in `rows` has the row of the other.
[[nodiscard]] LiveTiles tiles_met(const TileGrid& grid, std::int64_t count);

// Part of the bytes touched again after `distance` distinct bytes that an L2 of such a capacity still holds.
[[nodiscard]] double retained_fraction(double distance, const Capacity& capacity);

// Part of a CTA's duration by which the CTAs of a wave drift apart in each wave; `warps` resident on the SM. The more
// warps compete for a sub-core, the less evenly CTAs get on. Where no loads run ahead every k tile waits for its own:
// CTAs that are ahead wait for DRAM and the others, which find the same bytes in L2, catch up.
[[nodiscard]] double drift_per_wave(const arch::SmSpec& sm, int warps, bool loads_ahead);

// How far the CTAs of a wave lie apart in `waves` waves that drift by `drift_per_wave`, 0 (lockstep) to 1 (they follow
// one another evenly).
struct Spread {
  double drift_per_wave = 0, waves = 1;
  [[nodiscard]] double mean() const;
  // Mean over the waves of retained_fraction, of a distance that grows with the spread up to `distance`.
  [[nodiscard]] double retained(double distance, const Capacity& capacity) const;
};

// Copies that an L2 of several partitions keeps of a byte that `readers` SMs read, each on either side by chance: one
// where it belongs, one more if any of them is on the other side.
[[nodiscard]] double l2_copies(int partitions, double readers);

// Share of what each SM reads for itself that L2 still holds when so many bytes lie between two uses.
[[nodiscard]] double kept_by_one_reader(const arch::L2Spec& l2, double bytes);

[[nodiscard]] ReuseResult tile_reuse(const ReuseRequest& request);

}  // namespace noteg::memory
