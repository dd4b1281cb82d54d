#include "sim/gpu/traffic.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/access/wavefronts.hpp"
#include "kernels/ir/facts.hpp"
#include "sim/gpu/bulk_copies.hpp"
#include "sim/memory/l1_reuse.hpp"
#include "sim/sm/memory_cost.hpp"

namespace noteg::gpu {

namespace {

// Per element of C. Attention's columns are twice those that it writes: keys come before values.
double result_bytes(const kernels::KernelConfig& config) {
  return kernels::bytes_of(config.dtype_out) / (config.family == kernels::Family::attention ? 2 : 1);
}

double l1_sector(const TrafficRequest& r) { return r.gpu->sm.memory.sector.value; }

memory::ReuseRequest reuse_request(const TrafficRequest& r) {
  memory::ReuseRequest out;
  out.grid = r.launch->grid;
  out.shape = *r.shape;
  out.tile = r.config->tile;
  out.bytes_in = kernels::bytes_of_b(*r.config);
  out.bytes_out = result_bytes(*r.config);
  out.a_stored = stored_share(*r.config);
  out.live_ctas = static_cast<std::int64_t>(r.resident) * r.gpu->sms;
  out.capacity = {r.gpu->l2.size.value, r.gpu->l2.kept_below, r.gpu->l2.gone_above};
  out.l2_partitions = r.gpu->l2.partitions;
  out.granule = r.gpu->dram.granule.value;
  out.a_along_k = kernels::a_contiguous_in_k(r.config->layout);
  out.b_along_k = !kernels::b_contiguous_in_n(r.config->layout);
  out.drift_per_wave = memory::drift_per_wave(r.gpu->sm, r.resident * r.program->warps, r.config->stages > 1);
  out.l2 = r.l2;
  out.reads_c = r.config->reads_c;
  return out;
}

// Sectors that one CTA's main loop asks L1 for in one trip, and whether it passes L1 by.
struct LoopLoads {
  double sectors = 0;
  bool through_l1 = true;
};

LoopLoads loop_loads(const kernels::Program& program, kernels::Matrix matrix, kernels::LineSizes sizes) {
  LoopLoads out;
  for (std::int32_t at = program.mainloop_begin; at < program.epilogue_begin; ++at) {
    const kernels::Instruction& in = program.code[static_cast<std::size_t>(at)];
    const bool copies = in.op == kernels::Opcode::ldgsts;
    if ((!copies && in.op != kernels::Opcode::ldg) || in.pattern < 0) continue;
    const kernels::AccessPattern& pattern = program.patterns[static_cast<std::size_t>(in.pattern)];
    if (pattern.matrix != matrix) continue;
    out.sectors += kernels::global_cost(pattern, sizes).sectors * program.warps * kernels::repeats_in_trip(program, at);
    out.through_l1 = out.through_l1 && !(copies && in.access_bytes == 16);
  }
  return out;
}

struct Operand {
  memory::OperandLines lines;
  LoopLoads loads;
  double useful_bytes = 0;         // that all CTAs ask for, tiles clipped to the matrix
  double useful_sectors_trip = 0;  // of one whole tile in one trip
};

Operand operand_of(const TrafficRequest& r, kernels::Matrix matrix, double live) {
  const kernels::Tile& tile = r.config->tile;
  const kernels::GemmShape& s = *r.shape;
  const bool is_a = matrix == kernels::Matrix::a;
  const double bytes = kernels::bytes_of_b(*r.config) * (is_a ? stored_share(*r.config) : 1.0);
  const std::int64_t extent = is_a ? s.m : s.n;
  const int across = is_a ? tile.m : tile.n;
  const auto others = static_cast<double>(is_a ? r.launch->grid.tiles_n : r.launch->grid.tiles_m);
  Operand out;
  out.lines.along_k =
      is_a ? kernels::a_contiguous_in_k(r.config->layout) : !kernels::b_contiguous_in_n(r.config->layout);
  out.lines.line = out.lines.along_k ? s.k : extent;
  out.lines.piece = out.lines.along_k ? tile.k : across;
  out.lines.live_tiles = live;
  out.loads = loop_loads(*r.program, matrix, sm::line_sizes(r.gpu->sm.memory));
  out.lines.sector = std::llround(l1_sector(r));
  out.lines.through_l1 = out.loads.through_l1 && out.loads.sectors > 0;
  out.useful_bytes =
      static_cast<double>(s.batch) * static_cast<double>(extent) * static_cast<double>(s.k) * bytes * others;
  out.useful_sectors_trip = static_cast<double>(across) * r.program->k_per_trip * bytes / l1_sector(r);
  return out;
}

// Neighbours in the grid lie on the two SMs of a TPC (our H200: CTAs 2i and 2i + 1 of a wave) and have a tile of A or
// of B in common.
double pair_share(const TrafficRequest& r) {
  if (r.launch->ctas < 2) return 0;
  const memory::LiveTiles two = memory::live_tiles(r.launch->grid, 2);
  const double a = r.config->tile.m * stored_share(*r.config), b = r.config->tile.n;
  return (a * std::clamp(2.0 - two.rows, 0.0, 1.0) + b * std::clamp(2.0 - two.columns, 0.0, 1.0)) / (a + b);
}

// What both SMs of a TPC ask for reaches L2 once if they ask at about the same time. Our H200, SMs that read 64 KB at a
// time without a barrier between them: with 0, 1/4, 1/2, 3/4 and all of it in common each SM gets 35, 37, 40, 51 and 63
// bytes per cycle.
double reads_that_arrive(const arch::GpuSpec& gpu, double share) {
  const double merged = gpu.sm.tpc.merge + gpu.sm.tpc.merge_growth * share;
  return 1.0 - share * merged / 2.0;
}

// Writes of C by whole sectors; slices of split-K write and, where they take turns, read it in between.
void add_results(Traffic& out, const TrafficRequest& r) {
  const kernels::KernelConfig& c = *r.config;
  const double bytes = result_bytes(c);
  const double elements =
      static_cast<double>(r.shape->batch) * static_cast<double>(r.shape->m) * static_cast<double>(r.shape->n);
  const auto row = [&](std::int64_t n) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(n) * bytes));
  };
  const double once = elements * bytes *
                      memory::straddle(row(std::min<std::int64_t>(c.tile.n, r.shape->n)), row(r.shape->n),
                                       std::llround(r.gpu->l2.sector.value));
  const auto slices = static_cast<double>(r.launch->grid.split_k);
  const bool in_turn = slices > 1 && c.split_k_mode == kernels::SplitKMode::serial;
  out.l2_write_bytes += once * slices;
  out.l2_read_bytes += once * ((c.reads_c ? 1 : 0) + (in_turn ? slices - 1 : 0));
}

// Steps in which hit rates reach the core, so that shapes of a kernel share its runs.
constexpr double hit_steps = sm::SharedSectors::steps;

// Of an operand of which a CTA's loads ask for more sectors than its tile lies in; `fetched`: what L2 gives.
sm::SharedSectors shared_sectors(const Operand& operand, double element_bytes, double fetched) {
  const auto bytes = [&](std::int64_t elements) { return std::llround(static_cast<double>(elements) * element_bytes); };
  const double tile = operand.useful_sectors_trip *
                      memory::straddle(std::max<std::int64_t>(1, bytes(operand.lines.piece)),
                                       std::max<std::int64_t>(1, bytes(operand.lines.line)), operand.lines.sector);
  sm::SharedSectors out;
  if (operand.loads.sectors <= tile) return out;
  out.again = static_cast<int>(std::lround((1.0 - tile / operand.loads.sectors) * hit_steps));
  out.beyond = std::round(std::min(1.0, fetched / tile) * hit_steps) / hit_steps;
  return out;
}

}  // namespace

double least_reads_that_arrive(const arch::GpuSpec& gpu) { return reads_that_arrive(gpu, 1.0); }

Traffic plan_traffic(const TrafficRequest& r) {
  Traffic out;
  const memory::ReuseRequest reuse = reuse_request(r);
  out.reuse = memory::tile_reuse(reuse);
  const std::int64_t ctas = std::max<std::int64_t>(1, r.launch->ctas);
  const memory::LiveTiles live = memory::live_tiles(r.launch->grid, std::min(reuse.live_ctas, ctas));
  const auto planes = static_cast<double>(r.launch->grid.batch * r.launch->grid.split_k);
  const double planes_live = std::clamp(static_cast<double>(std::min(reuse.live_ctas, ctas)) /
                                            static_cast<double>(r.launch->grid.tiles_m * r.launch->grid.tiles_n),
                                        1.0, planes);
  const memory::SharingCtas sharing{static_cast<int>(std::min<std::int64_t>(r.resident, r.launch->ctas_busiest_sm)),
                                    r.gpu->sm.occupancy.max_ctas};
  double asked = 0, fetched = 0;
  for (const kernels::Matrix matrix : {kernels::Matrix::a, kernels::Matrix::b}) {
    const double tiles = (matrix == kernels::Matrix::a ? live.rows : live.columns) * planes_live;
    const Operand operand = operand_of(r, matrix, tiles);
    const double over = memory::fetched_over_useful(operand.lines, sharing, reuse.bytes_in);
    out.l2_read_bytes += operand.useful_bytes * over;
    if (!operand.lines.through_l1) continue;
    asked += operand.loads.sectors;
    const double of_it = std::min(operand.loads.sectors, operand.useful_sectors_trip * over);
    fetched += of_it;
    out.shared[static_cast<std::size_t>(matrix)] = shared_sectors(operand, reuse.bytes_in, of_it);
  }
  if (asked > 0) out.l1_hit_rate = std::round((1.0 - fetched / asked) * hit_steps) / hit_steps;
  if (r.config->family == kernels::Family::wgmma) {  // less what clusters and GPCs share
    const auto boxes = box_traffic({r.gpu, r.config, r.shape, r.launch, r.resident});
    out.l2_read_bytes = (boxes[0].bytes + boxes[1].bytes) * static_cast<double>(r.launch->trips) * r.launch->all_tiles;
  } else {
    out.reads_that_arrive = reads_that_arrive(*r.gpu, pair_share(r));
  }
  add_results(out, r);

  memory::L2Traffic l2;
  const double sector = r.gpu->l2.sector.value;
  l2.read_sectors = out.l2_read_bytes / sector * out.reads_that_arrive;
  l2.write_sectors = out.l2_write_bytes / sector;
  l2.dram_read_sectors = out.reuse.dram_read_bytes / sector;
  l2.sharers = out.reuse.compulsory_bytes > 0 ? out.reuse.requested_bytes / out.reuse.compulsory_bytes : 1;
  l2.partitions = r.gpu->l2.partitions;
  out.lookups = memory::l2_lookups(l2);
  return out;
}

}  // namespace noteg::gpu
