#include "sim/gpu/grid.hpp"
#include "sim/support/ceil_div.hpp"

#include <algorithm>
#include <cmath>

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

// Blocks of keys of a causal CTA: rows see what comes before them. Where many CTAs follow each other the mean counts,
// in a single round the longest.
std::int64_t causal_blocks(const kernels::KernelConfig& config, const kernels::GemmShape& shape, const Launch& launch) {
  const std::int64_t tokens = std::max<std::int64_t>(1, shape.m / std::max(1, config.attention.group));
  const std::int64_t tiles = ceil_div(tokens, config.tile.m), before = std::max<std::int64_t>(0, shape.k - tokens);
  double sum = 0;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t seen = before + std::min(tokens, (tile + 1) * config.tile.m);
    sum += static_cast<double>(ceil_div(seen, config.tile.k));
  }
  const double longest = static_cast<double>(ceil_div(shape.k, config.tile.k));
  const double mean = sum / static_cast<double>(tiles);
  constexpr double resident = 2;  // CTAs of an SM, as the library aims at
  const double rounds = std::max(1.0, static_cast<double>(launch.ctas_busiest_sm) / resident);
  return std::max<std::int64_t>(1, std::llround(std::max(mean, longest / rounds)));
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
  if (config.attention.causal) out.trips = causal_blocks(config, shape, out);
  out.active_sms = static_cast<int>(std::min<std::int64_t>(out.ctas, sms));
  return out;
}

}  // namespace noteg::gpu
