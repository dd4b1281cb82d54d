// Traffic of a tiled GEMM where arithmetic on paper gives the answer.
#include "sim/memory/tile_reuse.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace noteg::memory {
namespace {

constexpr double infinite = 1e18;

// An 8192 x 4096 x 1024 problem in tiles of 128 x 128: 64 x 32 tiles.
ReuseRequest request() {
  ReuseRequest r;
  r.shape = {8192, 4096, 1024, 1};
  r.tile = {128, 128, 8};
  r.grid.tiles_m = 64;
  r.grid.tiles_n = 32;
  r.live_ctas = 216;
  r.capacity.bytes = 40e6;
  r.l2 = L2State::cold;
  return r;
}

constexpr double a_bytes = 4.0 * 8192 * 1024, b_bytes = 4.0 * 1024 * 4096, c_bytes = 4.0 * 8192 * 4096;

TEST(TileReuse, RequestsAreTheMatricesOncePerTileOfTheOtherAxis) {
  const ReuseResult r = tile_reuse(request());
  EXPECT_DOUBLE_EQ(r.requested_bytes, a_bytes * 32 + b_bytes * 64);
  EXPECT_DOUBLE_EQ(r.compulsory_bytes, a_bytes + b_bytes);
  EXPECT_DOUBLE_EQ(r.dram_write_bytes, c_bytes);
}

TEST(TileReuse, AWholeMatrixInOneWaveReadsEveryByteOnce) {
  ReuseRequest r = request();
  r.live_ctas = r.grid.ctas();
  for (const double l2 : {0.0, 1e6, infinite}) {
    r.capacity.bytes = l2;
    EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, a_bytes + b_bytes) << l2;
  }
  r.live_ctas = 10 * r.grid.ctas();  // more slots than CTAs change nothing
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, a_bytes + b_bytes);
}

TEST(TileReuse, AnInfiniteL2ReadsEveryByteOnceHoweverManyWaves) {
  ReuseRequest r = request();
  r.capacity.bytes = infinite;
  for (const std::int64_t live : {1, 7, 216, 2048}) {
    r.live_ctas = live;
    EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, a_bytes + b_bytes) << live;
  }
}

TEST(TileReuse, WithoutL2ACtaAtATimeReadsAllThatItAsksFor) {
  ReuseRequest r = request();
  r.capacity.bytes = 0;
  r.live_ctas = 1;
  const ReuseResult out = tile_reuse(r);
  EXPECT_DOUBLE_EQ(out.dram_read_bytes, out.requested_bytes);
}

// One column of 64 tiles at a time, nothing kept: A once for each of 32 columns, B once in all.
TEST(TileReuse, WithoutL2AColumnAtATimeReadsAOncePerColumn) {
  ReuseRequest r = request();
  r.capacity.bytes = 0;
  r.live_ctas = 64;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, 32 * a_bytes + b_bytes);
  r.grid.raster = kernels::Raster::along_n;
  r.live_ctas = 32;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, a_bytes + 64 * b_bytes);
}

TEST(TileReuse, ReadsLieBetweenTheMatricesOnceAndAllRequests) {
  ReuseRequest r = request();
  double before = infinite;
  for (double l2 = 0; l2 < 100e6; l2 += 5e6) {
    r.capacity.bytes = l2;
    const ReuseResult out = tile_reuse(r);
    EXPECT_GE(out.dram_read_bytes, out.compulsory_bytes);
    EXPECT_LE(out.dram_read_bytes, out.requested_bytes);
    EXPECT_LE(out.dram_read_bytes, before) << "a larger L2 reads no more";
    before = out.dram_read_bytes;
  }
}

TEST(TileReuse, AWarmStartReadsNothingWhereEverythingFits) {
  ReuseRequest r = request();
  r.l2 = L2State::warm;
  r.capacity.bytes = 2 * (a_bytes + b_bytes + c_bytes);
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, 0);
  r.reads_c = true;
  r.capacity.bytes = 4 * (a_bytes + b_bytes + c_bytes);
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, 0);
  r.capacity.bytes = 1e6;
  EXPECT_GE(tile_reuse(r).dram_read_bytes, a_bytes + b_bytes + c_bytes);
}

TEST(TileReuse, AColdStartReadsCWhereTheKernelAsksForIt) {
  ReuseRequest r = request();
  r.capacity.bytes = infinite;
  r.reads_c = true;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, a_bytes + b_bytes + c_bytes);
}

TEST(TileReuse, BatchesAreIndependentProblems) {
  ReuseRequest r = request();
  const ReuseResult one = tile_reuse(r);
  r.shape.batch = r.grid.batch = 5;
  const ReuseResult five = tile_reuse(r);
  EXPECT_DOUBLE_EQ(five.requested_bytes, 5 * one.requested_bytes);
  EXPECT_DOUBLE_EQ(five.dram_write_bytes, 5 * one.dram_write_bytes);
  EXPECT_DOUBLE_EQ(five.compulsory_bytes, 5 * one.compulsory_bytes);
}

TEST(TileReuse, AStepWaitsForDramWhereEitherOperandIsMissing) {
  ReuseRequest r = request();
  r.capacity.bytes = infinite;
  r.live_ctas = r.grid.ctas();
  EXPECT_DOUBLE_EQ(tile_reuse(r).waiting_steps, 1) << "a cold wave waits at every step, however many CTAs share a tile";
  r.l2 = L2State::warm;
  EXPECT_DOUBLE_EQ(tile_reuse(r).waiting_steps, 0);
  r.l2 = L2State::cold;
  r.live_ctas = 64;  // a column of tiles at a time: A comes once, every wave brings its own part of B
  EXPECT_DOUBLE_EQ(tile_reuse(r).waiting_steps, 1);
}

TEST(TileReuse, AStepThatWaitsWaitsForWhatIsMissing) {
  ReuseRequest r = request();
  r.capacity.bytes = infinite;
  r.live_ctas = r.grid.ctas();
  r.a_along_k = true;
  r.b_along_k = false;
  const double rows = r.tile.m, steps = r.tile.k;
  EXPECT_NEAR(tile_reuse(r).waiting_places, std::sqrt((rows + steps) * steps), 1e-9)
      << "rows of A at every second step, of B at every one";
  r.grid.raster = kernels::Raster::along_m;
  r.live_ctas = r.grid.tiles_m;  // A comes with the first column of tiles, its part of B with each
  const double later = tile_reuse(r).waiting_places;
  EXPECT_GT(later, steps);
  EXPECT_LT(later, 1.2 * steps) << "nearly always it is B alone that is missing";
  r.reads_c = true;
  EXPECT_DOUBLE_EQ(tile_reuse(r).c_missing, 1);
  r.l2 = L2State::warm;
  EXPECT_DOUBLE_EQ(tile_reuse(r).c_missing, 0);
}

TEST(TileReuse, OneMissBringsTheNextTilesOfOperandsAlongK) {
  ReuseRequest r = request();
  r.live_ctas = r.grid.ctas();
  r.a_along_k = r.b_along_k = true;
  EXPECT_DOUBLE_EQ(tile_reuse(r).waiting_steps, 0.5) << "8 floats of a granule of 64 bytes, both operands in step";
  r.tile.k = 16;
  EXPECT_DOUBLE_EQ(tile_reuse(r).waiting_steps, 1);
  r.tile.k = 4;
  EXPECT_DOUBLE_EQ(tile_reuse(r).waiting_steps, 0.25);
  r.b_along_k = false;
  EXPECT_DOUBLE_EQ(tile_reuse(r).waiting_steps, 1) << "rows of B are new at every step";
}

TEST(RetainedFraction, FallsAroundTheCapacity) {
  EXPECT_DOUBLE_EQ(retained_fraction(0, {100}), 1);
  EXPECT_DOUBLE_EQ(retained_fraction(0, {0}), 1);
  EXPECT_DOUBLE_EQ(retained_fraction(1, {0}), 0);
  EXPECT_DOUBLE_EQ(retained_fraction(90, {100}), 1);
  EXPECT_LT(retained_fraction(90.001, {100}), 1);
  EXPECT_NEAR(retained_fraction(102.5, {100}), 0.5, 1e-12);
  EXPECT_GT(retained_fraction(114.999, {100}), 0);
  EXPECT_DOUBLE_EQ(retained_fraction(115, {100}), 0);
}

TEST(LiveTiles, FollowTheRaster) {
  TileGrid grid;
  grid.tiles_m = 64;
  grid.tiles_n = 32;
  EXPECT_EQ(live_tiles(grid, 16).rows, 16);
  EXPECT_EQ(live_tiles(grid, 16).columns, 1);
  EXPECT_EQ(live_tiles(grid, 128).rows, 64);
  EXPECT_EQ(live_tiles(grid, 128).columns, 2);
  EXPECT_EQ(live_tiles(grid, 129).columns, 3);
  EXPECT_EQ(live_tiles(grid, 1 << 20).rows, 64);
  EXPECT_EQ(live_tiles(grid, 1 << 20).columns, 32);
  grid.raster = kernels::Raster::along_n;
  EXPECT_EQ(live_tiles(grid, 16).rows, 1);
  EXPECT_EQ(live_tiles(grid, 16).columns, 16);
}

// CTAs side by side that begin anywhere in the raster: they grow into the next column bit by bit, not all at once.
TEST(LiveTiles, AreMetAgainAsOftenAsStretchesOfTheRasterHaveThemInCommon) {
  TileGrid grid;
  grid.tiles_m = 64;
  grid.tiles_n = 32;
  EXPECT_NEAR(tiles_met(grid, 1).columns, 1, 0.01);
  EXPECT_NEAR(tiles_met(grid, 64).columns, 1.5, 1e-12);  // two in a column's length share a column with 2/3
  EXPECT_NEAR(tiles_met(grid, 128).columns, 2.4, 1e-12);
  EXPECT_EQ(tiles_met(grid, 128).rows, 64);
  EXPECT_EQ(tiles_met(grid, 1 << 20).columns, 32);
  double before = 0;
  for (std::int64_t count = 1; count <= grid.ctas(); ++count) {
    const double columns = tiles_met(grid, count).columns;
    EXPECT_GE(columns, before);
    EXPECT_LT(columns, before + 1.02);
    before = columns;
  }
}

TEST(LiveTiles, ASwizzleMakesThemSquarer) {
  TileGrid grid;
  grid.tiles_m = 64;
  grid.tiles_n = 32;
  double before = infinite;
  for (int swizzle = 0; swizzle <= 2; ++swizzle) {
    grid.swizzle_log2 = swizzle;
    const LiveTiles tiles = live_tiles(grid, 64);
    EXPECT_EQ(tiles.rows, 64 >> swizzle);
    EXPECT_EQ(tiles.columns, 1 << swizzle);
    EXPECT_LT(tiles.rows + tiles.columns, before);
    before = tiles.rows + tiles.columns;
  }
  // Wider than the grid: the whole width and no more.
  grid.swizzle_log2 = 10;
  EXPECT_EQ(live_tiles(grid, 64).columns, 32);
  EXPECT_EQ(live_tiles(grid, 64).rows, 2);
}

// Two columns of a cluster are walked side by side, as two that a swizzle interleaves; its rows follow each other
// anyway.
TEST(LiveTiles, AClusterIsWalkedAsAWhole) {
  TileGrid grid, swizzled;
  grid.tiles_m = swizzled.tiles_m = 64;
  grid.tiles_n = swizzled.tiles_n = 32;
  grid.cluster_m = 2;
  EXPECT_EQ(live_tiles(grid, 64).rows, live_tiles(swizzled, 64).rows);
  grid.cluster_n = 2;
  swizzled.swizzle_log2 = 1;
  EXPECT_EQ(live_tiles(grid, 64).rows, live_tiles(swizzled, 64).rows);
  EXPECT_EQ(live_tiles(grid, 64).columns, 2);
}

TEST(LiveTiles, ASquarerSetReadsLessFromDram) {
  ReuseRequest r = request();
  r.capacity.bytes = 0;
  r.live_ctas = 64;
  const double straight = tile_reuse(r).dram_read_bytes;
  r.grid.swizzle_log2 = 3;
  EXPECT_LT(tile_reuse(r).dram_read_bytes, 0.5 * straight);
}

// A row of 64 tiles is walked in parts, so that all of A passes before any of it is asked for again.
TEST(TileReuse, PartOfARowFindsTheFastOperandOnlyIfAllOfItFits) {
  ReuseRequest r = request();
  r.live_ctas = 16;
  r.capacity.bytes = 0.5 * a_bytes;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, 32 * a_bytes + b_bytes);
  r.capacity.bytes = 2 * a_bytes;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, a_bytes + b_bytes);
}

// Eight rows of tiles side by side: near each other CTAs pass on what one of them brought; apart, a band of rows that
// outgrows L2 is brought for each of them again. Shallow loops do not mind.
TEST(TileReuse, NeighboursLoseTheTilesOfDeepLoopsAsTheyDriftApart) {
  ReuseRequest r = request();
  r.grid.raster = kernels::Raster::along_n;
  r.grid.swizzle_log2 = 3;
  const auto over_lockstep = [&](std::int64_t k) {
    r.shape.k = k;
    r.drift_per_wave = 0;
    const double lockstep = tile_reuse(r).dram_read_bytes;
    r.drift_per_wave = 0.4;
    return tile_reuse(r).dram_read_bytes / lockstep;
  };
  EXPECT_LT(over_lockstep(256), 1.1);
  EXPECT_GT(over_lockstep(65536), 3);
}

// Four columns of tiles are live: in lockstep they share A, drifted apart each reads it for itself.
TEST(TileReuse, CtasThatHaveDriftedApartShareTheSlowOperandOnly) {
  ReuseRequest r = request();
  r.capacity.bytes = 0.4 * a_bytes;
  r.live_ctas = 256;
  r.drift_per_wave = infinite;
  r.b_along_k = true;
  const double over = tile_reuse(r).dram_read_bytes / (32 * a_bytes + b_bytes);
  EXPECT_GE(over, 1);
  EXPECT_LT(over, 1.01) << "a few neighbours are far apart";
  EXPECT_EQ(tile_reuse(r).opened_rows, 0) << "both operands lie along K";
  r.a_along_k = false;
  EXPECT_GT(tile_reuse(r).opened_rows, 0);
  r.drift_per_wave = 0;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, 8 * a_bytes + b_bytes);
  EXPECT_EQ(tile_reuse(r).opened_rows, 0) << "rows of DRAM are read as a whole";
}

// A fill before the launch left L2 full of bytes that have yet to go to DRAM: each byte that the launch brings sends
// one of them there, up to all of L2.
TEST(TileReuse, AnOverwrittenL2IsWrittenBackAsTheLaunchTakesItsPlace) {
  ReuseRequest r = request();
  const double cold = tile_reuse(r).dram_write_bytes, read = tile_reuse(r).dram_read_bytes;
  r.l2 = L2State::overwritten;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, read);
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_write_bytes, cold) << "its own results push out more than L2 holds";
  r.capacity.bytes = c_bytes + 10e6;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_write_bytes, c_bytes + 10e6);
  r.capacity.bytes = 1e12;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_write_bytes, a_bytes + b_bytes + c_bytes);
}

// The rows of a tile that takes all of K at once lie behind each other, and are opened as one piece.
TEST(TileReuse, RowsOfKThatOneStepTakesWholeAreOnePiece) {
  ReuseRequest r = request();
  r.banks = 1;
  r.piece_along_k = 1;
  r.shape.k = r.tile.k;
  const double whole = tile_reuse(r).opened_rows;
  r.tile.k /= 2;
  EXPECT_GT(tile_reuse(r).opened_rows, 10 * whole);
}

// A Triton kernel reads a piece of each row of both operands, then the next piece of each: with more rows than DRAM
// holds open, every piece opens one. Twice the depth, or loads that bring more at a time, open half as many.
TEST(TileReuse, PiecesAlongKOpenRowsWhereMoreAreReadThanBanksHold) {
  ReuseRequest r = request();
  r.b_along_k = true;
  r.piece_along_k = 32;
  r.banks = 1;
  EXPECT_NEAR(tile_reuse(r).opened_rows, tile_reuse(r).dram_read_bytes / (8 * 4), 1);
  const double narrow = tile_reuse(r).opened_rows;
  r.piece_along_k = 64;
  EXPECT_NEAR(tile_reuse(r).opened_rows, narrow / 2, 1);
  r.banks = 1e9;
  EXPECT_LT(tile_reuse(r).opened_rows, 1e-4 * narrow) << "what was opened is still open";
  double before = narrow;
  for (double banks = 2; banks < 1e6; banks *= 2) {
    r.banks = banks;
    EXPECT_LE(tile_reuse(r).opened_rows, before) << banks;
    before = tile_reuse(r).opened_rows;
  }
}

// Where the fast operand fits, drift may spare reads: rows follow one another and no wave comes back to all of it.
TEST(TileReuse, ReadsGrowWithDriftAndFallWithTheSizeOfL2) {
  ReuseRequest r = request();
  r.live_ctas = 256;
  for (double l2 = 1e6; l2 < 100e6; l2 *= 1.5) {
    r.capacity.bytes = l2;
    r.drift_per_wave = 0;
    double before = tile_reuse(r).dram_read_bytes;
    for (double drift = 0.001; drift < 10; drift *= 2) {
      r.drift_per_wave = drift;
      const double now = tile_reuse(r).dram_read_bytes;
      if (l2 < a_bytes) {
        EXPECT_GE(now, before * (1 - 1e-12)) << l2 << " " << drift;
      }
      before = now;
      r.capacity.bytes = 1.2 * l2;
      EXPECT_LE(tile_reuse(r).dram_read_bytes, now * (1 + 1e-12)) << l2 << " " << drift;
      r.capacity.bytes = l2;
    }
  }
}

TEST(Spread, GrowsWaveByWaveToAWholeDuration) {
  EXPECT_DOUBLE_EQ((Spread{0, 100}).mean(), 0);
  EXPECT_DOUBLE_EQ((Spread{0.1, 10}).mean(), 0.5);
  EXPECT_DOUBLE_EQ((Spread{0.1, 20}).mean(), 0.75);
  EXPECT_DOUBLE_EQ((Spread{0, 100}).retained(1e9, {1}), 1) << "lockstep: nothing passes in between";
  EXPECT_NEAR((Spread{0.1, 10}).retained(100, {50}), 0.5 * 1.025, 1e-12) << "the area under retained_fraction";
  EXPECT_NEAR((Spread{1e9, 10}).retained(100, {50}), 0, 1e-9);
}

TEST(L2Copies, AreOneMoreWhereAnyReaderIsOnTheOtherSide) {
  EXPECT_DOUBLE_EQ(l2_copies(1, 100), 1);
  EXPECT_DOUBLE_EQ(l2_copies(2, 1), 1.5);
  EXPECT_DOUBLE_EQ(l2_copies(2, 2), 1.75);
  EXPECT_NEAR(l2_copies(2, 64), 2, 1e-12);
}

// Weights come from DRAM and activations from L2, in which the layer before wrote them.
TEST(TileReuse, ALayerAmongOthersFindsItsActivationsAndNotItsWeights) {
  ReuseRequest r = request();
  r.capacity.bytes = infinite;
  r.l2 = L2State::steady;
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_read_bytes, b_bytes);
  EXPECT_DOUBLE_EQ(tile_reuse(r).dram_write_bytes, c_bytes);
  r.capacity.bytes = b_bytes;
  EXPECT_GE(tile_reuse(r).dram_read_bytes, a_bytes + b_bytes) << "they do not fit beside the weights";
}

}  // namespace
}  // namespace noteg::memory
