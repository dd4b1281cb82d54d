#include "sim/gpu/grid.hpp"
#include "sim/support/ceil_div.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

namespace noteg::gpu {

namespace {

// Clusters are whole, and no more CTAs start than fit at a time where each takes tile after tile, or slice after slice.
void plan_clusters(Launch& out, const kernels::KernelConfig& config, int sms) {
  const std::int64_t cluster = std::int64_t{config.cluster_m} * config.cluster_n;
  const std::int64_t padded = ceil_div(out.grid.tiles_m, config.cluster_m) * config.cluster_m *
                              ceil_div(out.grid.tiles_n, config.cluster_n) * config.cluster_n * out.grid.batch;
  const std::int64_t pieces = padded * out.grid.split_k;
  out.ctas = pieces;
  out.all_tiles = static_cast<double>(pieces);
  if (!config.persistent.value_or(false)) return;
  // The scheduler of persistent kernels walks the shorter side first.
  if (config.raster == kernels::Raster::along_m && out.grid.tiles_n <= out.grid.tiles_m)
    out.grid.raster = kernels::Raster::along_n;
  out.ctas = std::min(pieces, sms / cluster * cluster);
  out.tiles = ceil_div(pieces, out.ctas);
}

}  // namespace

Launch plan_launch(const kernels::KernelConfig& config, const kernels::GemmShape& shape,
                   const kernels::Program& program, int sms) {
  Launch out;
  out.grid.tiles_m = ceil_div(shape.m, config.tile.m);
  out.grid.tiles_n = ceil_div(shape.n, config.tile.n);
  out.grid.batch = shape.batch;
  out.grid.split_k = std::max(1, config.split_k);
  out.grid.raster = config.raster;
  out.grid.swizzle_log2 = config.swizzle_log2;
  out.ctas = out.grid.ctas();
  out.all_tiles = static_cast<double>(out.ctas);
  if (config.family == kernels::Family::wgmma) plan_clusters(out, config, sms);
  // Split-K slices are whole k tiles, the last one may be shorter: the longest counts.
  const std::int64_t k_tile = std::max(1, program.k_per_trip);
  const std::int64_t k_slice = ceil_div(ceil_div(shape.k, k_tile), out.grid.split_k) * k_tile;
  out.trips = std::max<std::int64_t>(1, kernels::main_trips(program, k_slice));
  // CTAs go breadth-first over the SMs and slots are refilled on completion; equal CTAs therefore
  // spread evenly, and the busiest SM holds one more than the others where the count does not divide.
  out.ctas_busiest_sm = ceil_div(out.ctas, sms);
  out.active_sms = static_cast<int>(std::min<std::int64_t>(out.ctas, sms));
  return out;
}

std::int64_t causal_trips(const kernels::KernelConfig& config, const kernels::GemmShape& shape, const Launch& launch,
                          int resident, int sms) {
  const std::int64_t tokens = std::max<std::int64_t>(1, shape.m / std::max(1, config.attention.group));
  const std::int64_t tiles = ceil_div(tokens, config.tile.m), before = std::max<std::int64_t>(0, shape.k - tokens);
  std::vector<std::int64_t> blocks;
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    blocks.push_back(ceil_div(before + std::min(tokens, (tile + 1) * config.tile.m), config.tile.k));
  // CTAs in the order of the grid, each to the slot that falls empty first; beyond some rounds the ends do not matter.
  const std::int64_t slots = std::int64_t{resident} * sms;
  const std::int64_t counted = std::min(launch.ctas, std::max(64 * slots, tiles));
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> ends;
  for (std::int64_t slot = 0; slot < std::min(slots, counted); ++slot) ends.push(0);
  std::int64_t last = 0;
  for (std::int64_t cta = 0; cta < counted; ++cta) {
    const std::int64_t end = ends.top() + blocks[static_cast<std::size_t>(cta % tiles)];
    ends.pop();
    ends.push(end);
    last = std::max(last, end);
  }
  // As many blocks for each CTA of the busiest SM, whose slots take them by turns.
  const double rounds = std::max(1.0, static_cast<double>(ceil_div(counted, sms)) / resident);
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(last) / rounds));
}

}  // namespace noteg::gpu
