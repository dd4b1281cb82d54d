// What bulk tensor copies cost: boxes of A and B that CTAs of a cluster and SMs of a GPC share.
#include <algorithm>
#include <cmath>

#include "kernels/families/family.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "sim/gpu/gemm/gemm_traffic.hpp"

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

// Of A's boxes. DeepGEMM copies 16 or 32 rows where there are no more, though products of 64 rows read them.
double box_rows(const kernels::KernelConfig& config, std::int64_t rows) {
  if (config.flavor != kernels::Flavor::deep_gemm || config.tile.m != 64 || rows > 32) return config.tile.m;
  return rows > 16 ? 32 : 16;
}

// An SM takes the same time for a row of a box that is shorter than a line (SEMI26: single CTAs on a B200 take 1.0
// to 1.1 cycles for each row of their k-tiles, of 64 or of 128 bytes). How much longer than by its bytes.
double short_row(double bytes) {
  constexpr double line = 128;
  return std::max(1.0, line / bytes);
}

}  // namespace

SharedReads shared_reads(double fast, double plane, double clusters, bool in_pairs) {
  const double together = std::min(clusters, plane);  // further ones are of another product, or of other k
  // On a TPC, of two CTAs that follow each other, or a cluster; how many of them read one tile of a side.
  const double of_slow = in_pairs ? std::clamp(fast, 1.0, 2.0) : 1;
  const double of_fast = in_pairs && fast < 2 ? std::clamp(plane, 1.0, 2.0) / of_slow : 1;
  const double n = std::max(1.0, together / (of_slow * of_fast)), across = std::max(1.0, fast / of_slow);
  const auto merged = [](double readers) { return std::max(0.5, 1 / std::max(1.0, readers)); };
  return {merged(n / across) / of_fast, merged(std::min(n, across)) / of_slow};
}

std::array<sm::BoxTraffic, 3> box_traffic(const GemmTrafficRequest& request) {
  const kernels::KernelConfig& config = *request.config;
  const arch::GpuSpec& gpu = *request.gpu;
  const LaunchGeometry& launch = request.grid->geometry;
  const double cm = config.cluster_m, cn = config.cluster_n;
  const double live = std::min(static_cast<double>(launch.ctas), 1.0 * launch.active_sms() * request.resident);
  // The last round is seldom full: on average so many CTAs ask at a time.
  const double rounds = std::ceil(launch.all_tiles / live);
  const double asking = launch.all_tiles / rounds;
  const double clusters_per_gpc = std::max(1.0, live / std::max(1, gpu.gpcs) / (cm * cn));
  memory::TileGrid clusters = request.grid->tiles;
  clusters.tiles_m = static_cast<std::int64_t>(std::ceil(static_cast<double>(clusters.tiles_m) / cm));
  clusters.tiles_n = static_cast<std::int64_t>(std::ceil(static_cast<double>(clusters.tiles_n) / cn));
  clusters.cluster_m = clusters.cluster_n = 1;
  const memory::LiveTiles tiles =
      memory::live_tiles(clusters, std::max<std::int64_t>(1, static_cast<std::int64_t>(live / (cm * cn))));
  const bool along_m = clusters.raster == kernels::Raster::along_m;
  const bool in_pairs = cm * cn == 1 && 2 * live > gpu.sms;
  const auto plane = static_cast<double>(clusters.tiles_m * clusters.tiles_n);
  const SharedReads shared = shared_reads(along_m ? tiles.rows : tiles.columns, plane, clusters_per_gpc, in_pairs);
  const double element = kernels::bytes_of_b(config);
  const double a_rows = box_rows(config, request.shape->m);
  const Side a =
      side_of(static_cast<double>(request.shape->m), a_rows, cm, a_rows * config.tile.k * a_element_bytes(config));
  const Side b =
      side_of(static_cast<double>(request.shape->n), config.tile.n, cn, config.tile.n * config.tile.k * element);
  // Of each box, what this CTA's share of its GPC's reads comes to.
  const double a_share = (along_m ? shared.fast : shared.slow) / cn;
  const double b_share = (along_m ? shared.slow : shared.fast) / cm;
  const double a_bytes = a.box_bytes * a.inside, b_bytes = b.box_bytes * b.inside;
  const double from_slices = (a_bytes * a_share + b_bytes * b_share) * asking / gpu.l2.read_bandwidth.value;
  // A pair of CTAs that multiplies together copies each half of the operand that both read: no SM gets it all.
  const auto frame = multiplies_in_tensor_memory(config) ? kernels::memory_frame(config) : std::nullopt;
  const bool pair = frame && frame->pair;
  const double a_link = a_bytes * (pair && !frame->rows_along_m ? 0.5 : 1.0);
  const double b_link = b_bytes * (pair && frame->rows_along_m ? 0.5 : 1.0);
  const double a_row = kernels::a_contiguous_in_k(config.layout) ? config.tile.k : a_rows;
  const double b_row = kernels::b_contiguous_in_n(config.layout) ? config.tile.n : config.tile.k;
  const double over_link = (a_link * short_row(a_row * a_element_bytes(config)) + b_link * short_row(b_row * element)) /
                           gpu.l2.sm_bandwidth.value;
  // CTAs of a cluster that want the same box copy a part of it each.
  const double outside = a.box_bytes * a.outside / cn + b.box_bytes * b.outside / cm;
  const double filled = outside * asking / std::max(1.0, gpu.sm.tma.fill_bandwidth.value);
  const double cycles = std::max({from_slices, over_link, filled, 1.0});
  std::array<sm::BoxTraffic, 3> boxes{};
  boxes[0] = {a_bytes * a_share, cycles * a_bytes / (a_bytes + b_bytes)};
  boxes[1] = {b_bytes * b_share, cycles * b_bytes / (a_bytes + b_bytes)};
  boxes[2].bytes = a.inside * b.inside;
  // Keys and values are boxes of their own; queries come once, as C does where it is read.
  if (traits_of(config).keeps_scores) boxes[0] = boxes[1] = {boxes[1].bytes / 2, boxes[1].cycles / 2};
  return boxes;
}

}  // namespace noteg::gpu
