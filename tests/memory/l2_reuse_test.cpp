// Reads of DRAM that an H200 counts for 284 launches of 27 kernels, caches flushed before: how reuse fades with the
// size of the problem, with the CTAs on an SM, with loads that run ahead, along a swizzle, and in deep loops over K.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::memory {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  return out;
}

std::vector<Row> rows_of(const std::string& campaign) {
  std::ifstream file(NOTEG_SOURCE_DIR "/tests/data/h200_l2_reuse.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<Row> out;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    Row row;
    for (std::size_t i = 0; i < std::min(names.size(), cells.size()); ++i) row[names[i]] = cells[i];
    if (row.at("campaign") == campaign) out.push_back(row);
  }
  return out;
}

// Kernels are resolved by hand: two of them are no family's.
double model_over_counter(const arch::GpuSpec& gpu, const Row& row) {
  const auto number = [&](const char* name) { return std::stoi(row.at(name)); };
  ReuseRequest r;
  r.shape = {number("M"), number("N"), number("K"), 1};
  r.tile = {number("tile_m"), number("tile_n"), number("tile_k")};
  r.grid.tiles_m = r.shape.m / r.tile.m;
  r.grid.tiles_n = r.shape.n / r.tile.n;
  r.grid.raster = row.at("raster") == "n" ? kernels::Raster::along_n : kernels::Raster::along_m;
  r.grid.swizzle_log2 = number("swizzle_log2");
  r.bytes_in = r.bytes_out = row.at("dtype") == "f16" ? 2 : 4;
  r.live_ctas = std::int64_t{number("ctas_per_sm")} * gpu.sms;
  r.capacity = {gpu.l2.size.value, gpu.l2.kept_below, gpu.l2.gone_above};
  r.l2_partitions = gpu.l2.partitions;
  r.l2 = L2State::empty;
  const int warps = number("ctas_per_sm") * ((number("threads") + 31) / 32);
  r.drift_per_wave = drift_per_wave(gpu.sm, warps, number("stages") > 1);
  // From 5 to 95 % of normally distributed durations.
  if (row.contains("duration_sd")) r.drift_per_wave = 3.3 * std::stod(row.at("duration_sd"));
  return tile_reuse(r).dram_read_bytes / std::stod(row.at("dram_read_bytes"));
}

std::vector<double> sorted_errors(const std::string& campaign) {
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  EXPECT_TRUE(gpu);
  std::vector<double> errors;
  for (const Row& row : rows_of(campaign)) errors.push_back(std::abs(model_over_counter(*gpu, row) - 1));
  std::ranges::sort(errors);
  return errors;
}

double median(const std::vector<double>& sorted) { return sorted.empty() ? 1e9 : sorted[sorted.size() / 2]; }

// From 2048 cubed, which L2 holds, to 16384 cubed, of which it holds a sixtieth.
TEST(L2Reuse, FadesWithTheSizeOfTheProblemAsOnAnH200) {
  const std::vector<double> errors = sorted_errors("sizes");
  ASSERT_EQ(errors.size(), 51U);
  EXPECT_LT(median(errors), 0.03);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.2);
  EXPECT_LT(errors.back(), 0.4);
}

// Rows of CTAs that lose each other once stay apart, so that the same launch repeated reads up to 1.8 times as much.
// Kernels with two stages are told least well: cp.async holds them together, loads into registers do not.
TEST(L2Reuse, FadesWithTheCtasOnAnSm) {
  const std::map<std::string, double> bounds{{"occupancy", 0.055}, {"stages", 0.065}, {"registers", 0.13}};
  for (const auto& [campaign, bound] : bounds) {
    const std::vector<double> errors = sorted_errors(campaign);
    ASSERT_GE(errors.size(), 37U);
    EXPECT_LT(median(errors), bound) << campaign;
  }
}

// A band of eight rows of tiles outgrows L2 as K grows, so that neighbours find each other's tiles only while they lie
// near each other. Reads grow 130 times from the shallowest to the deepest loop of 16 x 32 tiles.
TEST(L2Reuse, FadesWithTheDepthOfTheLoopAsCtasDriftApart) {
  const std::vector<double> errors = sorted_errors("deep");
  ASSERT_EQ(errors.size(), 44U);
  EXPECT_LT(median(errors), 0.25);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.55);
}

// Two rows of tiles for each wave, B of 33.5 MB in an L2 of 60 MB in two halves: of a byte that two SMs read 1.75
// copies are kept, so that the next wave finds a part of it. With two copies it would find nothing.
TEST(L2Reuse, KeepsCopiesForTheReadersOfAWave) {
  for (const Row& row : rows_of("sizes"))
    if (row.at("M") == "4096" && row.at("N") == "16384" && row.at("K") == "1024" && row.at("dtype") == "f16") {
      EXPECT_NEAR(model_over_counter(*arch::load_gpu("h200-sxm-141gb"), row), 1, 0.2);
    }
}

}  // namespace
}  // namespace noteg::memory
