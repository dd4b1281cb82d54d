#include "sim/gpu/gemm/gemm_traffic.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/access/wavefronts.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/flash3/flash3_plan.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/gpu/dram.hpp"
#include "sim/memory/l1_reuse.hpp"
#include "sim/memory/l2_lookups.hpp"
#include "sim/sm/decoded.hpp"

#include "sim/support/arithmetic.hpp"

namespace noteg::gpu {

namespace {

// Per element of C. Attention's columns are twice those that it writes: keys come before values.
double result_bytes(const kernels::KernelConfig& config) {
  return kernels::bytes_of(config.dtype_out) / (traits_of(config).keeps_scores ? 2 : 1);
}

double l1_sector(const GemmTrafficRequest& r) { return r.gpu->sm.memory.sector.value; }

memory::ReuseRequest reuse_request(const GemmTrafficRequest& r) {
  memory::ReuseRequest out;
  out.grid = r.grid->tiles;
  out.shape = *r.shape;
  out.tile = r.config->tile;
  out.bytes_in = kernels::bytes_of_b(*r.config);
  out.bytes_out = result_bytes(*r.config);
  out.a_stored = stored_share(*r.config);
  out.live_ctas = std::int64_t{r.resident} * r.grid->geometry.sms;
  out.capacity = memory::capacity_of(r.gpu->l2);
  out.l2_partitions = r.gpu->l2.partitions;
  out.granule = r.gpu->dram.granule.value;
  out.piece_along_k = std::max<double>(out.granule, traits_of(*r.config).prefetched_bytes);
  out.drift_steps = r.gpu->sm.drift_steps;
  out.banks = dram_banks(r.gpu->dram);
  out.a_along_k = kernels::a_contiguous_in_k(r.config->layout);
  out.b_along_k = !kernels::b_contiguous_in_n(r.config->layout);
  out.drift_per_wave = memory::drift_per_wave(r.gpu->sm, r.resident * r.program->warps, r.config->stages > 1);
  if (r.l2_is_full) out.drift_per_wave = std::max(out.drift_per_wave, r.gpu->sm.drift_full_l2);
  out.l2 = r.l2;
  out.reads_c = r.config->reads_c;
  const bool at_once = r.program->async.empty() && !copies_ahead(*r.program);
  out.waits_apart = at_once && r.gpu->dram.spread.value > 0;
  out.reads_queries = traits_of(*r.config).keeps_scores;
  return out;
}

// Sectors that one CTA's main loop asks L1 for in one iteration, and whether it passes L1 by.
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
    out.sectors +=
        kernels::global_cost(pattern, sizes).sectors * program.warps * kernels::repeats_in_iteration(program, at);
    out.through_l1 = out.through_l1 && !(copies && in.access_bytes == 16);
  }
  return out;
}

struct Operand {
  memory::OperandLines lines;
  LoopLoads loads;
  double bytes = 0;                     // in memory
  double element_bytes = 0;             // likewise
  double useful_bytes = 0;              // that all CTAs ask for, tiles clipped to the matrix
  double useful_sectors_iteration = 0;  // of one whole tile in one iteration
  double span_bytes = 0;                // of memory, in which its rows lie that are read side by side: along K alone
};

Operand operand_of(const GemmTrafficRequest& r, kernels::Matrix matrix, double live) {
  const kernels::Tile& tile = r.config->tile;
  const kernels::GemmShape& s = *r.shape;
  const bool is_a = matrix == kernels::Matrix::a;
  const double bytes = is_a ? a_element_bytes(*r.config) : kernels::bytes_of_b(*r.config);
  const std::int64_t extent = is_a ? s.m : s.n;
  const int across = is_a ? tile.m : tile.n;
  const auto others = static_cast<double>(is_a ? r.grid->tiles.tiles_n : r.grid->tiles.tiles_m);
  Operand out;
  out.lines.along_k =
      is_a ? kernels::a_contiguous_in_k(r.config->layout) : !kernels::b_contiguous_in_n(r.config->layout);
  out.lines.line = out.lines.along_k ? s.k : extent;
  out.lines.piece = out.lines.along_k ? tile.k : across;
  out.lines.live_tiles = live;
  if (out.lines.along_k) out.span_bytes = live * across * static_cast<double>(out.lines.line) * bytes;
  out.loads = loop_loads(*r.program, matrix, sm::line_sizes(r.gpu->sm.memory));
  out.lines.sector = std::llround(l1_sector(r));
  out.lines.through_l1 = out.loads.through_l1 && out.loads.sectors > 0;
  out.element_bytes = bytes;
  out.bytes = static_cast<double>(s.batch) * static_cast<double>(extent) * static_cast<double>(s.k) * bytes;
  out.useful_bytes = out.bytes * others * r.grid->read_share;
  out.useful_sectors_iteration = static_cast<double>(across) * r.program->k_per_iteration * bytes / l1_sector(r);
  return out;
}

// Neighbours in the grid lie on the two SMs of a TPC (our H200: CTAs 2i and 2i + 1 of a wave) and have a tile of A or
// of B in common.
double pair_share(const GemmTrafficRequest& r) {
  if (r.grid->geometry.ctas < 2 || r.grid->tiles.tiles_m * r.grid->tiles.tiles_n < 2) return 0;
  const memory::LiveTiles two = memory::live_tiles(r.grid->tiles, 2);
  const double a = r.config->tile.m * stored_share(*r.config), b = r.config->tile.n;
  return (a * std::clamp(2.0 - two.rows, 0.0, 1.0) + b * std::clamp(2.0 - two.columns, 0.0, 1.0)) / (a + b);
}

// Loads and stores beyond the matrix are masked: nobody sees them, though the CTA issues them.
void add_masks(Traffic& out, const GemmTrafficRequest& r) {
  const kernels::Tile& tile = r.config->tile;
  const kernels::GemmShape& s = *r.shape;
  const double m = covered(s.m, tile.m), n = covered(s.n, tile.n);
  const double k = covered(s.k, std::max(1, r.program->k_per_iteration));
  const double a = tile.m * stored_share(*r.config), b = tile.n;
  out.reads_inside = k * (a * m + b * n) / (a + b);
  out.writes_inside = m * n;
}

// Writes of C by whole sectors; slices of split-K write and, where they take turns, read it in between.
void add_results(Traffic& out, const GemmTrafficRequest& r) {
  const kernels::KernelConfig& c = *r.config;
  const double bytes = result_bytes(c);
  const double elements =
      static_cast<double>(r.shape->batch) * static_cast<double>(r.shape->m) * static_cast<double>(r.shape->n);
  const auto row = [&](std::int64_t n) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(n) * bytes));
  };
  // Rows of a tile that is as wide as C lie behind each other.
  const bool is_whole = r.shape->n <= c.tile.n;
  const double once =
      elements * bytes *
      (is_whole ? 1.0 : memory::straddle(row(c.tile.n), row(r.shape->n), std::llround(r.gpu->l2.sector.value)));
  const auto slices = static_cast<double>(r.grid->tiles.split_k);
  const bool in_turn = slices > 1 && c.split_k_mode == kernels::SplitKMode::serial;
  out.l2_write_bytes += once * slices;
  // Queries are as many bytes as results, and every slice of the keys reads them.
  const double queries = traits_of(c).keeps_scores ? once * slices : 0;
  out.l2_read_bytes += queries + once * ((c.reads_c ? 1 : 0) + (in_turn ? slices - 1 : 0));
}

// Steps in which hit rates reach the core, so that shapes of a kernel share its runs.
constexpr double hit_steps = sm::SharedSectors::steps;

// Of an operand of which a CTA's loads ask for more sectors than its tile lies in; `fetched`: what L2 gives.
sm::SharedSectors shared_sectors(const Operand& operand, double fetched) {
  const auto bytes = [&](std::int64_t elements) {
    return std::llround(static_cast<double>(elements) * operand.element_bytes);
  };
  const double tile = operand.useful_sectors_iteration *
                      memory::straddle(std::max<std::int64_t>(1, bytes(operand.lines.piece)),
                                       std::max<std::int64_t>(1, bytes(operand.lines.line)), operand.lines.sector);
  sm::SharedSectors out;
  if (operand.loads.sectors <= tile) return out;
  out.again = static_cast<int>(std::lround((1.0 - tile / operand.loads.sectors) * hit_steps));
  out.beyond = std::round(std::min(1.0, fetched / tile) * hit_steps) / hit_steps;
  out.lies = out.again == sm::SharedSectors::steps && out.beyond == 0;
  return out;
}

}  // namespace

double stored_share(const kernels::KernelConfig& config) {
  constexpr double kept = 0.5, place_bytes = 0.25;  // of 2:4 sparse values: how many, and two bits that say where
  if (traits_of(config).keeps_scores) return 0;     // scores never were in memory
  const double element = kernels::stored_bytes_of(config.dtype_in);
  return (config.sparse ? kept * (1.0 + place_bytes / element) : 1.0) * element / kernels::bytes_of_b(config);
}

double footprint(const kernels::GemmShape& s, double bytes_in, double bytes_out) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return static_cast<double>(s.batch) * ((m * k + k * n) * bytes_in + m * n * bytes_out);
}

namespace {

// Slices of L2s that have two partitions give two sectors a cycle (WP: 5120 B/clk of the 80 slices of an A100), and a
// piece of one sector takes the cycle too. Triton's tiles of 16x32x16 whose operands both lie along K ask for pieces of
// 32 bytes and get 3.0 TB/s of an A100's L2; the same with 64 bytes get 5.3. Returns beats over those of long pieces.
double beats_of(const memory::OperandLines& operand, double element_bytes, const arch::L2Spec& spec) {
  if (spec.partitions < 2) return 1;
  const auto bytes = [&](std::int64_t elements) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(elements) * element_bytes));
  };
  const auto brought = [&](std::int64_t unit) {
    return memory::straddle(bytes(operand.piece), bytes(operand.line), unit);
  };
  return std::max(1.0, brought(2 * operand.sector) / brought(operand.sector));
}

// Loads that follow each other for as long as a row of DRAM, or over whole rows of the operand. Copies of tiles bring
// pieces of 256 bytes at most, which dram.tile_efficiency was measured on.
bool is_stream(const memory::OperandLines& lines, double element_bytes) {
  return lines.along_k &&
         (lines.piece >= lines.line || static_cast<double>(lines.piece) * element_bytes >= dram_row_bytes);
}

// Bytes that a tile reads behind each other of an operand along K. Weights of fewer bits than the activations are
// packed for their kernel, several columns to a line (CUTLASS, ColumnMajorTileInterleave; Marlin).
double row_piece(const GemmTrafficRequest& r, kernels::Matrix matrix, const Operand& operand) {
  const double piece = static_cast<double>(operand.lines.piece) * operand.element_bytes;
  const bool is_packed = matrix == kernels::Matrix::b && r.config->dtype_b &&
                         kernels::bytes_of_b(*r.config) < kernels::bytes_of(r.config->dtype_in);
  return is_packed ? std::max(piece, r.gpu->sm.memory.l1_line.value) : piece;
}

// What L2 has to deliver for loads of A and B, and what of it L1 keeps.
void add_operands(Traffic& out, const GemmTrafficRequest& r, const memory::ReuseRequest& reuse) {
  const LaunchGeometry& geometry = r.grid->geometry;
  const memory::TileGrid& tiles = r.grid->tiles;
  const std::int64_t ctas = std::max<std::int64_t>(1, geometry.ctas);
  const std::int64_t live_ctas = std::min(reuse.live_ctas, ctas);
  const memory::LiveTiles live = memory::tiles_met(tiles, live_ctas);
  const double planes_live =
      std::clamp(static_cast<double>(live_ctas) / static_cast<double>(tiles.tiles_m * tiles.tiles_n), 1.0,
                 static_cast<double>(tiles.batch * tiles.split_k));
  const std::int64_t side_by_side = std::min<std::int64_t>(r.resident, geometry.ctas_of_busiest());
  const memory::SharingCtas sharing{static_cast<int>(side_by_side), r.gpu->sm.occupancy.max_ctas};
  double asked = 0, fetched = 0, beats = 0, streams = 0;
  const std::array operands{operand_of(r, kernels::Matrix::a, live.rows * planes_live),
                            operand_of(r, kernels::Matrix::b, live.columns * planes_live)};
  const double unknown = untranslated(r.gpu->l2, operands[0].span_bytes + operands[1].span_bytes);
  for (const kernels::Matrix matrix : {kernels::Matrix::a, kernels::Matrix::b}) {
    const Operand& operand = operands[matrix == kernels::Matrix::a ? 0 : 1];
    const double over = memory::fetched_over_useful(operand.lines, sharing, operand.element_bytes);
    out.l2_read_bytes += operand.useful_bytes * over;
    const bool is_translated = operand.lines.along_k && operand.useful_bytes > 0;
    const double translated = is_translated ? unknown * translation_beats(r.gpu->l2, row_piece(r, matrix, operand)) : 0;
    beats += operand.useful_bytes * over * (beats_of(operand.lines, operand.element_bytes, r.gpu->l2) + translated);
    if (!operand.lines.through_l1) continue;
    if (is_stream(operand.lines, operand.element_bytes)) streams += operand.bytes;
    asked += operand.loads.sectors;
    const double of_it = std::min(operand.loads.sectors, operand.useful_sectors_iteration * over);
    fetched += of_it;
    out.shared[static_cast<std::size_t>(matrix)] = shared_sectors(operand, of_it);
  }
  if (out.l2_read_bytes > 0) out.read_beats = std::round(beats / out.l2_read_bytes * hit_steps) / hit_steps;
  out.stream_share = streams / std::max(1.0, out.footprint_bytes);
  // Down: the core asks L2 for no less than is reported.
  if (asked > 0) out.l1_hit_rate = std::floor((1.0 - fetched / asked) * hit_steps) / hit_steps;
}

// Of the rows of all blocks of keys, those that there are: copies of the others fill with zeros and ask nobody.
double keys_inside(const GemmTrafficRequest& r) {
  const std::int64_t slices = std::max<std::int64_t>(1, r.grid->tiles.split_k), keys = std::max(1, r.config->tile.k);
  const std::int64_t blocks = std::max<std::int64_t>(slices, ceil_div(r.shape->k, keys));
  return static_cast<double>(r.shape->k) / static_cast<double>(blocks * keys);
}

// The table of pages: of a tile's look-ups those that begin a line of L1 go to L2, the others find it there. Lengths of
// sequences, which all tiles read, lie in L1; no other loads of such kernels are of A.
void add_table_of_pages(Traffic& out, const GemmTrafficRequest& r) {
  constexpr double entry = 4;  // bytes
  const double blocks = r.grid->blocks;
  const double block = std::max(1.0, static_cast<double>(r.config->tile.k) / r.config->attention.page) * entry;
  const double lines = std::ceil(blocks * block / r.gpu->sm.memory.l1_line.value) / std::max(1.0, blocks);
  out.shared[static_cast<std::size_t>(kernels::Matrix::none)] = {
      static_cast<int>(std::lround((1.0 - std::min(1.0, lines)) * hit_steps)), 1.0};
  out.shared[static_cast<std::size_t>(kernels::Matrix::a)] = {
      .again = sm::SharedSectors::steps, .beyond = 0, .lies = true};
}

void add_lookups(Traffic& out, const arch::L2Spec& spec, const memory::ReuseResult& dram) {
  memory::L2Traffic l2;
  const double sector = spec.sector.value;
  l2.read_sectors = out.l2_read_bytes / sector * out.reads_that_arrive;
  l2.write_sectors = out.l2_write_bytes / sector;
  l2.dram_read_sectors = dram.dram_read_bytes / sector;
  l2.sharers = out.sharers = dram.compulsory_bytes > 0 ? dram.requested_bytes / dram.compulsory_bytes : 1;
  l2.partitions = spec.partitions;
  const memory::L2Lookups lookups = memory::l2_lookups(l2);
  out.l2_lookups = lookups.lookups;
  out.l2_hit_rate = lookups.hit_rate();
}

}  // namespace

double footprint(const kernels::GemmShape& s, const kernels::KernelConfig& config) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double in = kernels::stored_bytes_of(config.dtype_in), out = kernels::bytes_of(config.dtype_out);
  const double rest = static_cast<double>(s.batch) * k * n * kernels::bytes_of_b(config);
  if (traits_of(config).keeps_scores) return static_cast<double>(s.batch) * m * n / 2 * (in + out) + rest;
  return static_cast<double>(s.batch) * m * (k * in + n * out) + rest;
}

Traffic plan_traffic(const GemmTrafficRequest& r) {
  const memory::ReuseRequest reuse = reuse_request(r);
  const memory::ReuseResult dram = memory::tile_reuse(reuse);
  Traffic out;
  out.dram_read_bytes = dram.dram_read_bytes;
  out.dram_write_bytes = dram.dram_write_bytes;
  out.compulsory_bytes = dram.compulsory_bytes;
  out.result_bytes = footprint(*r.shape, 0, reuse.bytes_out);
  out.footprint_bytes = footprint(*r.shape, *r.config);
  out.waiting_steps = dram.waiting_steps;
  out.waiting_places = dram.waiting_places;
  out.waits_at_once = reuse.waits_apart;
  out.opened_rows = dram.opened_rows;
  if (r.grid->tiles.split_k == 1) out.c_missing = dram.c_missing;
  add_operands(out, r, reuse);
  if (kernels::copies_in_bulk(r.config->family)) {  // less what clusters and GPCs share
    out.boxes = box_traffic(r);
    out.read_beats = 1;
    double block = out.boxes[0].bytes + out.boxes[1].bytes;
    if (kernels::gathers_pages(*r.config)) {
      const double inside = keys_inside(r);
      block = r.program->b_bytes_per_iteration * inside;
      out.l1_hit_rate = std::round((1.0 - inside) * hit_steps) / hit_steps;
      out.reads_that_arrive = reads_that_arrive(*r.gpu, pair_share(r));
      add_table_of_pages(out, r);
    }
    out.l2_read_bytes = block * r.grid->blocks * r.grid->geometry.all_tiles;
  } else {
    out.reads_that_arrive = reads_that_arrive(*r.gpu, pair_share(r));
    add_masks(out, r);
  }
  add_results(out, r);
  add_lookups(out, r.gpu->l2, dram);
  return out;
}

}  // namespace noteg::gpu
