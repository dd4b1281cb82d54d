#include "sim/gpu/bulk_copies.hpp"

#include <algorithm>
#include <cmath>

namespace noteg::gpu {

namespace {

// One operand: `extent` rows in tiles of `tile`, padded to whole clusters of `cluster`.
struct Side {
  double box_bytes = 0;
  double inside = 1;   // share of the boxes that lies in the matrix
  double outside = 0;  // share to be filled; a box wholly outside is half as dear
};

Side side_of(double extent, double tile, double cluster, double box_bytes) {
  const double tiles = std::ceil(extent / tile), padded = std::ceil(tiles / cluster) * cluster;
  Side out;
  out.box_bytes = box_bytes;
  out.inside = extent / (padded * tile);
  out.outside = ((tiles * tile - extent) / tile + 0.5 * (padded - tiles)) / padded;
  return out;
}

}  // namespace

double stored_share(const kernels::KernelConfig& config) {
  constexpr double kept = 0.5, place_bytes = 0.25;  // of 2:4 sparse values: how many, and two bits that say where
  if (config.family == kernels::Family::attention) return 0;  // scores never were in memory
  const double element = kernels::bytes_of(config.dtype_in);
  return (config.sparse ? kept * (1.0 + place_bytes / element) : 1.0) * element / kernels::bytes_of_b(config);
}

DistinctTiles distinct_tiles(double fast, double slow, double n, double further_runs) {
  return {std::min(fast, n), std::min(slow, n / std::max(1.0, fast) + further_runs)};
}

std::array<sm::BoxTraffic, 3> box_traffic(const BulkRequest& request) {
  const kernels::KernelConfig& config = *request.config;
  const arch::GpuSpec& gpu = *request.gpu;
  const Launch& launch = *request.launch;
  const double cm = config.cluster_m, cn = config.cluster_n;
  const double live = std::min(static_cast<double>(launch.ctas), 1.0 * launch.active_sms * request.resident);
  // The last round is seldom full: on average so many CTAs ask at a time.
  const double rounds = std::ceil(launch.all_tiles / live);
  const double asking = launch.all_tiles / rounds;
  const double clusters_per_gpc = std::max(1.0, live / std::max(1, gpu.gpcs) / (cm * cn));
  memory::TileGrid clusters = launch.grid;
  clusters.tiles_m = static_cast<std::int64_t>(std::ceil(static_cast<double>(clusters.tiles_m) / cm));
  clusters.tiles_n = static_cast<std::int64_t>(std::ceil(static_cast<double>(clusters.tiles_n) / cn));
  const memory::LiveTiles tiles =
      memory::live_tiles(clusters, std::max<std::int64_t>(1, static_cast<std::int64_t>(live / (cm * cn))));
  const double runs = gpu.sm.tma.gpc_runs;
  const bool along_m = clusters.raster == kernels::Raster::along_m;
  const DistinctTiles distinct = along_m ? distinct_tiles(tiles.rows, tiles.columns, clusters_per_gpc, runs)
                                         : distinct_tiles(tiles.columns, tiles.rows, clusters_per_gpc, runs);
  const double element = kernels::bytes_of(config.dtype_in);
  const Side a = side_of(static_cast<double>(request.shape->m), config.tile.m, cm,
                         config.tile.m * config.tile.k * element * stored_share(config));
  const Side b =
      side_of(static_cast<double>(request.shape->n), config.tile.n, cn, config.tile.n * config.tile.k * element);
  // Of each box, what this CTA's share of its GPC's reads comes to.
  const double a_share = std::min(1.0 / cn, (along_m ? distinct.fast : distinct.slow) / clusters_per_gpc / cn);
  const double b_share = std::min(1.0 / cm, (along_m ? distinct.slow : distinct.fast) / clusters_per_gpc / cm);
  const double a_bytes = a.box_bytes * a.inside, b_bytes = b.box_bytes * b.inside;
  const double from_slices = (a_bytes * a_share + b_bytes * b_share) * asking / gpu.l2.read_bandwidth.value;
  const double over_link = (a_bytes + b_bytes) / gpu.l2.sm_bandwidth.value;
  const double filled =
      (a.box_bytes * a.outside + b.box_bytes * b.outside) * asking / std::max(1.0, gpu.sm.tma.fill_bandwidth.value);
  const double cycles = std::max({from_slices, over_link, filled, 1.0});
  std::array<sm::BoxTraffic, 3> boxes{};
  boxes[0] = {a_bytes * a_share, cycles * a_bytes / (a_bytes + b_bytes)};
  boxes[1] = {b_bytes * b_share, cycles * b_bytes / (a_bytes + b_bytes)};
  boxes[2].bytes = a.inside * b.inside;
  return boxes;
}

}  // namespace noteg::gpu
