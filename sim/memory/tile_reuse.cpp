#include "sim/memory/tile_reuse.hpp"

#include <algorithm>

#include "sim/support/arithmetic.hpp"

namespace noteg::memory {

namespace {

// The raster along its two axes. A swizzle of s walks 2^s slow tiles, whole clusters at least, before it moves on
// along the fast axis: a band.
struct Walk {
  std::int64_t fast, slow, width;
  bool along_m;

  [[nodiscard]] std::int64_t band() const { return fast * width; }
  [[nodiscard]] LiveTiles tiles(double of_fast, double of_slow) const {
    return along_m ? LiveTiles{of_fast, of_slow} : LiveTiles{of_slow, of_fast};
  }
};

Walk walk_of(const TileGrid& grid) {
  const bool along_m = grid.raster == kernels::Raster::along_m;
  const std::int64_t fast = along_m ? grid.tiles_m : grid.tiles_n;
  const std::int64_t slow = along_m ? grid.tiles_n : grid.tiles_m;
  return {fast, slow, grid.width(), along_m};
}

double fast_tiles(const Walk& walk, std::int64_t in_plane) {
  return static_cast<double>(in_plane >= walk.band() ? walk.fast : ceil_div(in_plane, walk.width));
}

}  // namespace

LiveTiles live_tiles(const TileGrid& grid, std::int64_t count) {
  const Walk walk = walk_of(grid);
  const std::int64_t in_plane = std::min(count, walk.fast * walk.slow);
  // Waves start in the middle of a row as often as not: half a slow tile more on average is ignored.
  const std::int64_t slow_tiles = in_plane / walk.band() * walk.width + std::min(walk.width, in_plane % walk.band());
  return walk.tiles(fast_tiles(walk, in_plane), static_cast<double>(std::min(slow_tiles, walk.slow)));
}

// Two places at random in a stretch of c bands lie in the same band with 1 - c / 3, or (3 c - 1) / (3 c^2) from c = 1
// on.
LiveTiles tiles_met(const TileGrid& grid, std::int64_t count) {
  const Walk walk = walk_of(grid);
  const std::int64_t in_plane = std::min(count, walk.fast * walk.slow);
  const double c = static_cast<double>(in_plane) / static_cast<double>(walk.band());
  const double bands = c < 1 ? 1 / (1 - c / 3) : 3 * c * c / (3 * c - 1);
  const double slow_tiles = std::min(static_cast<double>(walk.slow), static_cast<double>(walk.width) * bands);
  return walk.tiles(fast_tiles(walk, in_plane), slow_tiles);
}

// H200M: start times of the CTAs of 93 launches: 0.01 to 0.03 of a duration per wave with two warps on a sub-core, 0.02
// to 0.18 with three, 0.05 to 0.3 with four, 0.2 with five: the power 3.5 of the warps. Kernels with one buffer stay
// together with up to seven and are apart after a few waves with sixteen.
double drift_per_wave(const arch::SmSpec& sm, int warps, bool loads_ahead) {
  const double on_sub_core = static_cast<double>(warps) / sm.sub_cores;
  return portable::pow(on_sub_core / (loads_ahead ? sm.drift_warps : sm.drift_warps_waiting), sm.drift_power);
}

double l2_copies(int partitions, double readers) { return partitions < 2 ? 1.0 : 2.0 - portable::exp2(-readers); }

double Spread::mean() const {
  const double end = drift_per_wave * waves;
  return end <= 1 ? end / 2 : 1 - 1 / (2 * end);
}

double kept_by_one_reader(const arch::L2Spec& l2, double bytes) {
  return retained_fraction(bytes * l2_copies(l2.partitions, 1), capacity_of(l2));
}

double Spread::retained(double distance, const Capacity& capacity) const {
  const double end = drift_per_wave * waves;
  if (end <= 0 || distance <= 0) return 1;
  if (capacity.bytes <= 0) return 0;
  // The integral of retained_fraction over distances up to x times the capacity.
  const auto up_to = [&](double x) {
    const double kept = capacity.kept_below, gone = capacity.gone_above;
    const double rest = gone - std::clamp(x, kept, gone), slope = gone - kept;
    return std::min(x, kept) + (slope - rest * rest / slope) / 2;
  };
  const double most = std::min(1.0, end) * distance / capacity.bytes;
  const double growing = up_to(most) / most;
  return end <= 1 ? growing : growing / end + (1 - 1 / end) * retained_fraction(distance, capacity);
}

double retained_fraction(double distance, const Capacity& capacity) {
  if (distance <= 0) return 1;
  if (capacity.bytes <= 0) return 0;
  const double x = distance / capacity.bytes;
  if (x <= capacity.kept_below) return 1;
  if (x >= capacity.gone_above) return 0;
  return (capacity.gone_above - x) / (capacity.gone_above - capacity.kept_below);
}

namespace {

// Results are written back when something else needs their place. Repeated launches find their own results again; in a
// launch that starts empty only the last part of all traffic stays; else others' results make room for these, byte
// for byte.
double written_share(const ReuseRequest& request, double traffic) {
  if (request.l2 == L2State::warm) return 1.0 - retained_fraction(traffic, request.capacity);
  if (request.l2 == L2State::empty) return traffic > 0 ? std::max(0.0, 1.0 - request.capacity.bytes / traffic) : 0;
  return 1;
}

// What a fill left in L2 and `used` bytes of this launch push out, beyond what its `results` do.
double pushed_out(const ReuseRequest& request, double used, double results) {
  if (request.l2 != L2State::overwritten) return 0;
  return std::max(0.0, std::min(request.capacity.bytes, used) - results);
}

double share(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0; }

// Of an operand: what of it DRAM has to bring, and live CTAs that share a tile.
struct Missing {
  double share = 0, readers = 1;
};

// Places in which a tile of an operand lies: as many as it has rows along K, else one for each k, since what lies
// together comes together (H200M: the last of 128 rows of 128 bytes comes 60 cycles after a single one, of 32 bytes
// 230).
double places(const ReuseRequest& request, bool along_k, std::int64_t rows, int of_tile, double readers) {
  const std::int64_t all =
      along_k ? std::min<std::int64_t>(rows, of_tile) : std::min<std::int64_t>(request.shape.k, request.tile.k);
  return std::max(1.0, static_cast<double>(all) / (request.waits_apart ? readers : 1));
}

// A step waits if its rows of A or its columns of B are missing. Where an operand lies along K, one miss brings the
// next k tiles too, and both operands begin a granule at the same step. The wait grows with the logarithm of the places
// in which what is missing lies, so their mean over the steps is geometric.
void count_waits(const ReuseRequest& request, const Missing& a, const Missing& b, ReuseResult& out) {
  const double granules = std::min(1.0, request.tile.k * request.bytes_in / request.granule);
  const double a_begins = request.a_along_k ? granules : 1.0, b_begins = request.b_along_k ? granules : 1.0;
  const double both = a.share * b.share * std::min(a_begins, b_begins);
  const double a_only = a.share * a_begins - both, b_only = b.share * b_begins - both;
  const double a_places = places(request, request.a_along_k, request.shape.m, request.tile.m, a.readers);
  const double b_places = places(request, request.b_along_k, request.shape.n, request.tile.n, b.readers);
  out.waiting_steps = a_only + b_only + both;
  if (out.waiting_steps <= 0) return;
  const double logarithm =
      a_only * portable::log(a_places) + b_only * portable::log(b_places) + both * portable::log(a_places + b_places);
  out.waiting_places = portable::exp(logarithm / out.waiting_steps);
}

// Bytes of one operand: what the CTAs of the grid touch, and what of it DRAM has to bring.
struct Touches {
  double total = 0;  // touched for the first time by a wave in lockstep, or by a row of tiles on its own
  double from_dram = 0;
};

// A and B, or the operand that changes from CTA to CTA of the raster (fast) and the one that changes from row to row.
struct Operands {
  Touches fast, slow;
};

// CTAs live together, in tiles and bytes of the fast and the slow operand.
struct Wave {
  double count = 1;                         // waves of the plane
  double fast_bytes = 0, slow_bytes = 0;    // touched by one
  double fast_copies = 1, slow_copies = 1;  // kept of a byte that the CTAs of one wave read
  double passing_copies = 1;                // kept of a byte of the fast operand that row after row reads
  double result_bytes = 0;                  // of one
  double bands = 1, band_result = 0;        // rows of tiles that the raster walks one after the other
  double slow_band = 0;                     // bytes of the slow operand in one
  double width = 1;                         // tiles of the slow operand in one
  double live = 1;                          // CTAs
  double fast_tile = 0;                     // bytes of a row or column of tiles of the fast operand
  double row_ctas = 1;                      // in one row of tiles: each asks for the slow operand's tile
  bool whole_band = true;                   // a wave covers at least one
  Spread spread;
};

double mix(double lockstep, double apart, double spread) { return lockstep + (apart - lockstep) * spread; }

// Bytes of other tiles that pass between two CTAs that ask for the same tile one after the other: for the slow operand
// neighbours along the row of tiles, for the fast one neighbours across it.
struct Neighbours {
  double slow = 0, fast = 0;
};

// CTAs begin in the order of the raster, spread evenly over `spread` of a duration. They get on at rates of their own,
// so those that begin together are a part of it apart in the end (our H200: eight neighbours end within 0.4 of what a
// wave drifts, half of it on average). A tile is touched from the first to the last of its readers.
Neighbours neighbours(const Wave& wave, double spread) {
  constexpr double apart_on_average = 0.2;
  const double live = std::max(wave.live, wave.width), across = live / wave.width;
  const double drift = apart_on_average * std::min(1.0, wave.spread.drift_per_wave);
  const double slow_window = std::min(1.0, spread + drift), fast_window = std::min(1.0, spread / across + drift);
  const double slow_gap = slow_window / across, fast_gap = fast_window / wave.width;
  const double fast_tiles = across * wave.fast_tile;  // that are live, in bytes
  return {wave.slow_band * slow_window + fast_tiles * std::min(wave.width * slow_gap, fast_window + slow_gap),
          wave.slow_band * std::min(slow_window, across * fast_gap) + fast_tiles * fast_window};
}

// Part of what is asked for again that L2 has lost by then. Distances are spread widely about their mean, since CTAs
// that find their bytes there catch up with the one that waits for DRAM: rates of meeting that are themselves
// exponentially distributed, twice (Lomax). No constant; DRAM reads of 24 launches on our H200, 0.4 to 326 GB: 1.09
// times what was measured (geometric mean), 0.63 to 1.6.
double lost_between(double distance, const Capacity& capacity) {
  if (distance <= 0) return 0;
  const double held = 1 + capacity.bytes * (capacity.kept_below + capacity.gone_above) / 2 / distance;
  return 1 / (held * held);
}

// Every row of tiles (band) asks for the whole fast operand. Rows of one wave ask for it together in lockstep and one
// after the other as they drift apart: then a part of a row's bytes passes in between, all of them in the end. The
// first row of a wave finds what the wave before left. Where a wave covers a part of a row only, the fast operand
// comes back after the whole row. The slow operand is passed from neighbour to neighbour of a row; in lockstep it is
// touched again by each wave that has a part of the row.
// (H200M: reads of DRAM and start times of the CTAs in 189 launches, docs/model.md.)
// `fast_missing`, `slow_missing`: part of the operand that is not there at the start.
Operands touches(const Wave& wave, double fast, double slow, double fast_missing, double slow_missing,
                 const Capacity& capacity) {
  const double spread = wave.spread.mean();
  const double in_wave = wave.fast_bytes * wave.fast_copies + wave.slow_bytes * wave.slow_copies + wave.result_bytes;
  const double in_band = fast * wave.passing_copies + wave.slow_band * wave.slow_copies + wave.band_result;
  const double by_bands = fast * wave.bands;
  const double by_waves = wave.whole_band ? std::min(by_bands, fast * std::max(1.0, wave.count)) : by_bands;
  const double between_waves = wave.whole_band ? mix(in_wave, in_band, spread) : in_band;
  Operands out;
  out.fast.total = mix(by_waves, by_bands, spread);
  out.fast.from_dram = fast * fast_missing + (by_waves - fast) * (1.0 - retained_fraction(between_waves, capacity)) +
                       (by_bands - by_waves) * (1.0 - wave.spread.retained(in_band, capacity));
  const double slow_by_waves = std::max(slow, wave.slow_bytes * wave.count);
  out.slow.total = mix(slow_by_waves, slow * wave.row_ctas, spread);
  out.slow.from_dram =
      slow * slow_missing + (slow_by_waves - slow) * (1.0 - spread) * (1.0 - retained_fraction(in_wave, capacity));
  const Neighbours near = neighbours(wave, spread);
  out.slow.from_dram += slow * (wave.row_ctas - 1) * lost_between(near.slow, capacity);
  out.fast.from_dram += by_bands * (wave.width - 1) * lost_between(near.fast, capacity);
  return out;
}

// CTAs that have drifted apart read pieces of a row of B (or of a column of A) one at a time. They are spread evenly
// over K in the order of the raster, so neighbours are as many steps apart as the loop has for each live CTA, times
// sm.drift_steps. What several read in one step comes from one opened row.
double run_bytes(const ReuseRequest& request, int across) {
  const double steps =
      static_cast<double>(request.shape.k) / request.tile.k / static_cast<double>(request.grid.split_k);
  const double apart = request.drift_steps * steps / static_cast<double>(std::max<std::int64_t>(1, request.live_ctas));
  return std::max(request.granule, request.bytes_in * across / (1.0 - portable::exp(-apart)));
}

// An operand along K is read on in the next step, by a piece of each of its rows. Until then every other row that the
// wave reads has had its turn: of so many places, one in `banks` closes the row of DRAM that it meets. Where one step
// takes all of K, the `across` rows of a tile lie behind each other.
double rows_by_pieces(const ReuseRequest& request, double element, int across, double read, double places) {
  if (request.banks <= 0) return 0;
  const auto k = static_cast<double>(request.shape.k);
  const double piece = std::max(request.piece_along_k, element * (k <= request.tile.k ? k * across : request.tile.k));
  return read / piece * (1 - portable::exp(-places / request.banks));
}

// Of one operand: what DRAM brings, and how many of its rows (or columns) a wave reads side by side from there.
struct FromDram {
  double bytes = 0, side_by_side = 0;
};

// CTAs in lockstep read operands across K by whole rows.
double opened_rows(const ReuseRequest& request, const FromDram& a, const FromDram& b, double spread) {
  const double places = (request.a_along_k ? a.side_by_side : 0) + (request.b_along_k ? b.side_by_side : 0);
  const kernels::Tile& tile = request.tile;
  const double of_a = request.a_along_k
                          ? rows_by_pieces(request, request.bytes_in * request.a_stored, tile.m, a.bytes, places)
                          : spread * a.bytes / run_bytes(request, tile.m);
  const double of_b = request.b_along_k ? rows_by_pieces(request, request.bytes_in, tile.n, b.bytes, places)
                                        : spread * b.bytes / run_bytes(request, tile.n);
  return of_a + of_b;
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
  // Each tile of C that is read, or of queries, is read by one CTA.
  const double own_bytes = request.reads_c || request.reads_queries ? c_bytes : 0;
  out.compulsory_bytes = batch * (a_bytes + b_bytes + own_bytes);

  const std::int64_t total = grid.ctas();
  const std::int64_t live = std::max<std::int64_t>(1, std::min(request.live_ctas, total));
  const std::int64_t planes = grid.batch * grid.split_k;
  const std::int64_t plane_ctas = grid.tiles_m * grid.tiles_n;
  const double planes_live =
      std::clamp(static_cast<double>(live) / static_cast<double>(plane_ctas), 1.0, static_cast<double>(planes));
  const LiveTiles tiles = live_tiles(grid, live);

  // Per product or slice of K: what follows counts one and multiplies by how many there are.
  const bool a_is_fast = grid.raster == kernels::Raster::along_m;
  const double a_plane = a_bytes / static_cast<double>(grid.split_k);
  const double b_plane = b_bytes / static_cast<double>(grid.split_k);
  const double wave_a = tiles.rows * (a_plane / tiles_m) * planes_live;
  const double wave_b = tiles.columns * (b_plane / tiles_n) * planes_live;
  Wave wave;
  wave.count = static_cast<double>(total) / static_cast<double>(live) / static_cast<double>(planes);
  wave.fast_bytes = a_is_fast ? wave_a : wave_b;
  wave.slow_bytes = a_is_fast ? wave_b : wave_a;
  const auto readers = [&](double tiles_across) { return l2_copies(request.l2_partitions, tiles_across); };
  const double a_copies = readers(tiles_n), b_copies = readers(tiles_m);
  wave.result_bytes =
      c_bytes * static_cast<double>(planes) / std::max(1.0, static_cast<double>(total) / static_cast<double>(live));
  const double fast_tiles = a_is_fast ? tiles_m : tiles_n, slow_tiles = a_is_fast ? tiles_n : tiles_m;
  const auto width = static_cast<double>(grid.width());
  const double live_in_plane = static_cast<double>(live) / planes_live;
  wave.row_ctas = fast_tiles;
  wave.width = width;
  wave.live = live_in_plane;
  wave.fast_tile = (a_is_fast ? a_plane : b_plane) / fast_tiles;
  wave.bands = slow_tiles / width;
  wave.slow_band = (a_is_fast ? b_plane : a_plane) / wave.bands;
  wave.band_result = c_bytes / wave.bands;
  wave.whole_band = static_cast<double>(live) >= fast_tiles * width;
  wave.passing_copies = readers(width);
  wave.fast_copies = readers(std::clamp(live_in_plane / fast_tiles, width, slow_tiles));
  wave.slow_copies = readers(std::clamp(live_in_plane / width, 1.0, fast_tiles));
  wave.spread = {total > live ? request.drift_per_wave : 0.0, static_cast<double>(total) / static_cast<double>(live)};

  const double kept =
      batch * (a_bytes * a_copies + b_bytes * b_copies + c_bytes + (request.reads_queries ? c_bytes : 0));
  const double gone = 1.0 - retained_fraction(kept, request.capacity);
  const double missing = request.l2 == L2State::warm ? gone : 1.0;  // of B, and of the C that is read
  const double a_missing =
      request.l2 == L2State::steady ? 1.0 - retained_fraction(batch * (a_bytes + b_bytes), request.capacity) : missing;
  const Operands used = touches(wave, a_is_fast ? a_plane : b_plane, a_is_fast ? b_plane : a_plane,
                                a_is_fast ? a_missing : missing, a_is_fast ? missing : a_missing, request.capacity);
  const Touches &a = a_is_fast ? used.fast : used.slow, &b = a_is_fast ? used.slow : used.fast;
  out.spread = wave.spread.mean();
  out.dram_read_bytes = static_cast<double>(planes) * (a.from_dram + b.from_dram);
  const double rows_live = std::min(m, tiles.rows * request.tile.m) * planes_live;
  const double columns_live = std::min(n, tiles.columns * request.tile.n) * planes_live;
  out.opened_rows =
      static_cast<double>(planes) * opened_rows(request, {a.from_dram, rows_live * share(a.from_dram, a.total)},
                                                {b.from_dram, columns_live * share(b.from_dram, b.total)}, out.spread);
  out.dram_read_bytes += batch * own_bytes * missing;
  if (own_bytes > 0) out.c_missing = missing;
  out.dram_write_bytes = batch * c_bytes * written_share(request, kept) + pushed_out(request, kept, batch * c_bytes);
  count_waits(request, {share(a.from_dram, a.total), tiles.columns}, {share(b.from_dram, b.total), tiles.rows}, out);
  // Without L2 every request would go out; no tile set can need more than that.
  out.dram_read_bytes = std::min(out.dram_read_bytes, out.requested_bytes + batch * own_bytes);
  return out;
}

}  // namespace noteg::memory
