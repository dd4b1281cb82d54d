#include "sim/gpu/gemm/gemm_launch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <vector>

#include "kernels/access/wavefronts.hpp"
#include "kernels/families/family.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "sim/gpu/gemm/gemm_traffic.hpp"
#include "sim/gpu/sm_cache.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::gpu {

namespace {

// Clusters are whole, and no more CTAs start than fit at a time where each takes tile after tile, or slice after slice.
void plan_clusters(GemmGrid& out, const kernels::KernelConfig& config) {
  const std::int64_t padded = ceil_div(out.tiles.tiles_m, config.cluster_m) * config.cluster_m *
                              ceil_div(out.tiles.tiles_n, config.cluster_n) * config.cluster_n * out.tiles.batch;
  const std::int64_t pieces = padded * out.tiles.split_k;
  out.geometry.ctas = pieces;
  out.geometry.all_tiles = static_cast<double>(pieces);
  if (!config.persistent.value_or(false)) return;
  // The scheduler of persistent kernels walks the shorter side first.
  if (config.raster == kernels::Raster::along_m && out.tiles.tiles_n <= out.tiles.tiles_m)
    out.tiles.raster = kernels::Raster::along_n;
  out.geometry.ctas = std::min<std::int64_t>(pieces, out.geometry.sms);
  out.geometry.tiles = ceil_div(pieces, out.geometry.ctas);
}

// Whether the SM has the matrix instruction that the kernel is made of.
std::optional<Diagnostic> missing_form(const arch::SmSpec& sm, const kernels::KernelConfig& config) {
  if (!kernels::on_tensor_cores(config)) return std::nullopt;
  const kernels::TensorForm form = kernels::tensor_form_of(config);
  if (sm::tensor_timing(sm, form)) return std::nullopt;
  const std::string known = sm::tensor_forms_of(sm, form);
  if (!known.empty())
    return Diagnostic{"", 0, 0, "instruction", "one that " + sm.name + " has: " + known, kernels::name_of(form)};
  return Diagnostic{"",
                    0,
                    0,
                    "family",
                    "mma (" + sm.name + " has no warp-group instructions)",
                    std::string(kernels::name_of(config.family))};
}

// Of the elements that the CTAs' tiles cover along all three extents.
double padding_share(const kernels::Tile& tile, const kernels::GemmShape& shape) {
  return 1.0 - covered(shape.m, tile.m) * covered(shape.n, tile.n) * covered(shape.k, tile.k);
}

// Normally distributed numbers share most of the bits of their exponents, half of a bfloat16. H200M: GEMMs of 1 x 51200
// x 16384, which stream their weights, draw 579 W on normal bf16 numbers and 413 W on zeros, 0.62 of the way to what
// the energies of hashed words come to. Other types were not measured.
double moved_activity(const arch::EnergySpec& energy, kernels::DataType type) {
  return type == kernels::DataType::bf16 ? energy.bf16_data : 1.0;
}

// Of the scores, those that are wanted: row i of a causal attention's last tokens sees what is before it, and itself.
double wanted_share(const kernels::KernelConfig& config, const kernels::GemmShape& shape) {
  if (!config.attention.causal) return 1;
  const double tokens = std::max(1.0, static_cast<double>(shape.m) / std::max(1, config.attention.group));
  const auto keys = static_cast<double>(shape.k);
  return std::max(1.0, tokens > keys ? keys / 2 * keys / tokens : keys - (tokens - 1) / 2) / keys;
}

Arithmetic arithmetic_of(const arch::SmSpec& sm, const kernels::KernelConfig& config, const kernels::GemmShape& shape) {
  return {shape.flops() * wanted_share(config, shape), peak_rate(sm, config), kernels::on_tensor_cores(config),
          padding_share(config.tile, shape), moved_activity(sm.energy, config.dtype_in)};
}

SplitK split_k_of(const kernels::KernelConfig& config, const kernels::GemmShape& shape, const GemmGrid& grid) {
  SplitK out;
  out.slices = static_cast<int>(grid.tiles.split_k);
  out.parallel = config.split_k_mode == kernels::SplitKMode::parallel;
  out.rows = std::min(1.0, static_cast<double>(shape.m) / config.tile.m);
  // Of attention N is two heads, one of the queries and one of the results.
  const double columns = static_cast<double>(shape.n) / (kernels::traits_of(config).keeps_scores ? 2 : 1);
  out.partial_bytes =
      static_cast<double>(shape.m) * columns * static_cast<double>(shape.batch) * kernels::bytes_of(config.dtype_acc);
  return out;
}

// Blocks of keys that the CTAs of a causal attention kernel come to, since rows see only the keys before them: what the
// last of them to end comes to, the CTAs of late rows taking longest, and the mean.
struct CausalBlocks {
  std::int64_t last = 1;
  double mean = 1;
};
CausalBlocks causal_blocks(const kernels::KernelConfig& config, const kernels::GemmShape& shape, const GemmGrid& grid,
                           int resident, int sms) {
  const std::int64_t tokens = std::max<std::int64_t>(1, shape.m / std::max(1, config.attention.group));
  // Of FlashAttention-3 the heads that share keys lie side by side in the rows of a block (PackGQA).
  const bool packs = config.family == kernels::Family::flash3;
  const std::int64_t each = packs ? std::max(1, config.tile.m / std::max(1, config.attention.group)) : config.tile.m;
  const std::int64_t tiles = ceil_div(tokens, each), before = std::max<std::int64_t>(0, shape.k - tokens);
  const std::int64_t slices = std::max<std::int64_t>(1, grid.tiles.split_k);  // of the keys that a tile sees
  std::vector<std::int64_t> blocks;
  for (std::int64_t piece = 0; piece < tiles * slices; ++piece)
    blocks.push_back(ceil_div(ceil_div(before + std::min(tokens, (piece / slices + 1) * each), config.tile.k), slices));
  // Its scheduler hands out the longest first.
  if (packs) std::ranges::sort(blocks, std::greater<>());
  // CTAs, or tiles of persistent ones, in the order of the grid, each to the slot that falls empty first; beyond some
  // waves the ends do not matter.
  const auto ctas = static_cast<std::int64_t>(grid.geometry.all_tiles);
  const std::int64_t slots = std::int64_t{resident} * sms;
  const std::int64_t counted = std::min(ctas, std::max<std::int64_t>(64 * slots, std::ssize(blocks)));
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> ends;
  for (std::int64_t slot = 0; slot < std::min(slots, counted); ++slot) ends.push(0);
  std::int64_t last = 0;
  for (std::int64_t cta = 0; cta < counted; ++cta) {
    const std::int64_t end = ends.top() + blocks[static_cast<std::size_t>(cta % std::ssize(blocks))];
    ends.pop();
    ends.push(end);
    last = std::max(last, end);
  }
  // As many blocks for each CTA of the busiest SM, whose slots take them by turns.
  const double waves = std::max(1.0, static_cast<double>(ceil_div(counted, sms)) / resident);
  const auto all = static_cast<double>(std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0}));
  return {std::max<std::int64_t>(1, std::llround(static_cast<double>(last) / waves)),
          all / static_cast<double>(blocks.size())};
}

// Known exactly where all warps run the same code.
std::optional<double> warp_instructions(const kernels::Program& program, const LaunchGeometry& geometry) {
  if (!program.roles.empty()) return std::nullopt;
  const std::int64_t k = (geometry.iterations + program.peeled_tiles) * std::max(1, program.k_per_iteration);
  return static_cast<double>(kernels::executed_instructions(program, k) * program.warps) *
         static_cast<double>(geometry.ctas);
}

}  // namespace

GemmGrid plan_grid(const kernels::KernelConfig& config, const kernels::GemmShape& shape,
                   const kernels::Program& program, int sms) {
  GemmGrid out;
  out.tiles.tiles_m = ceil_div(shape.m, config.tile.m);
  out.tiles.tiles_n = ceil_div(shape.n, config.tile.n);
  out.tiles.batch = shape.batch;
  out.tiles.split_k = std::max(1, config.split_k);
  out.tiles.raster = config.raster;
  out.tiles.swizzle_log2 = config.swizzle_log2;
  out.tiles.cluster_m = config.cluster_m;
  out.tiles.cluster_n = config.cluster_n;
  out.geometry.sms = sms;
  out.geometry.ctas = out.tiles.ctas();
  out.geometry.all_tiles = static_cast<double>(out.geometry.ctas);
  if (kernels::copies_in_bulk(config.family)) plan_clusters(out, config);
  // Split-K slices are whole k tiles, the last one may be shorter: the longest counts.
  const std::int64_t k_tile = std::max(1, program.k_per_iteration);
  const std::int64_t k_slice = ceil_div(ceil_div(shape.k, k_tile), out.tiles.split_k) * k_tile;
  out.geometry.iterations = std::max(kernels::least_iterations(program), kernels::main_iterations(program, k_slice));
  out.blocks = static_cast<double>(out.geometry.iterations + program.peeled_tiles);
  return out;
}

double peak_rate(const arch::SmSpec& sm, const kernels::KernelConfig& config) {
  if (kernels::on_tensor_cores(config)) return sm::peak_macs_per_cycle(sm, kernels::tensor_form_of(config));
  constexpr int products_of_dp4a = 4;
  if (config.dtype_in == kernels::DataType::s8) return products_of_dp4a * sm.sub_cores * sm.pipes.fma_heavy.lanes;
  return static_cast<double>(sm.sub_cores) * sm.pipes.fma.lanes;
}

kernels::KernelConfig as_built(kernels::KernelConfig config) {
  const kernels::KernelConfig unset;
  config.name = unset.name;
  config.raster = unset.raster;
  config.swizzle_log2 = unset.swizzle_log2;
  config.split_k = std::min(config.split_k, 2);
  config.attention.causal = false;  // decides how many iterations there are
  return config;
}

bool has(const arch::SmSpec& sm, kernels::Needs needs) {
  switch (needs) {
    case kernels::Needs::nothing: return true;
    case kernels::Needs::warpgroup_products: return sm.has_tma && !sm.tensor.wgmma.empty();
    case kernels::Needs::tensor_memory_products: return sm.has_tma && !sm.tcgen05.forms.empty();
  }
  return false;
}

Result<kernels::BuildRequest> build_request(const arch::GpuSpec& gpu, const kernels::KernelConfig& config) {
  if (const std::optional<Diagnostic> missing = missing_form(gpu.sm, config)) return *missing;
  kernels::BuildRequest request;
  request.config = config;
  const bool is_synchronous = kernels::on_tensor_cores(config) && !kernels::copies_in_bulk(config.family) &&
                              !kernels::tensor_form_of(config).warp_group;
  request.latency =
      is_synchronous ? sm::latency_model(gpu.sm, kernels::tensor_form_of(config)) : sm::latency_model(gpu.sm);
  return request;
}

// Rows of operands that lie along K are K elements apart. It matters only to copies whose shared-memory writes
// conflict; library kernels have none.
sm::AddressFacts address_facts(const kernels::KernelConfig& config, const kernels::GemmShape& shape) {
  const bool may_conflict = config.async_copy.value_or(false) && traits_of(config).transposes_copies &&
                            (config.flavor == kernels::Flavor::cutlass || config.flavor == kernels::Flavor::generic);
  if (!may_conflict) return {};
  const auto bytes = static_cast<std::uint64_t>(kernels::bytes_of(config.dtype_in));
  return {kernels::alike_pitch(static_cast<std::uint64_t>(shape.k) * bytes)};
}

kernels::Program with_tiles(kernels::Program program, std::int64_t tiles) {
  const auto is_copy = [](const kernels::Instruction& in) {
    return in.op == kernels::Opcode::ldgsts && in.pattern >= 0;
  };
  const auto begin = program.code.begin(), loop = begin + program.mainloop_begin, end = begin + program.epilogue_begin;
  const std::int64_t each = std::count_if(loop, end, is_copy);
  if (each == 0 || tiles * each > std::count_if(begin, loop, is_copy)) return program;
  std::int64_t before = 0;  // copies, as compiled tile after tile
  for (auto in = begin; in != end; ++in) {
    if (!is_copy(*in) || before++ < tiles * each) continue;
    program.patterns.push_back(program.patterns[static_cast<std::size_t>(in->pattern)]);
    program.patterns.back().active_mask = 0;
    in->pattern = static_cast<std::int16_t>(program.patterns.size() - 1);
  }
  return program;
}

Result<KernelLaunch> gemm_launch(const arch::GpuSpec& gpu, const kernels::KernelConfig& config,
                                 const kernels::GemmShape& shape, memory::L2State l2, SmCache& cache) {
  Result<std::shared_ptr<const kernels::Program>> program = gemm_program(gpu, config, cache);
  if (!program) return program.errors();
  KernelLaunch out;
  out.program = *program;
  out.addresses = address_facts(config, shape);
  out.resources = {out.program->threads, config.registers.value_or(out.program->registers),
                   config.shared_bytes.value_or(out.program->shared_bytes)};
  Result<SmOccupancy> occupancy = occupancy_of(gpu.sm.occupancy, out.resources);
  if (!occupancy) return occupancy.errors();
  out.occupancy = *occupancy;
  const int resident = out.occupancy.ctas_per_sm;
  const int sms = sms_for_clusters(gpu, config.cluster_m * config.cluster_n);
  GemmGrid grid = plan_grid(config, shape, *out.program, sms);
  if (config.attention.causal) {
    const CausalBlocks blocks = causal_blocks(config, shape, grid, resident, sms);
    grid.read_share = std::min(1.0, blocks.mean / grid.blocks);
    grid.blocks *= grid.read_share;
    grid.geometry.iterations =
        std::max(kernels::least_iterations(*out.program), blocks.last - out.program->peeled_tiles);
  }
  out.geometry = grid.geometry;
  // CUTLASS's prologue masks them as well (it fills with zeros). But its launches of 2 to 6 us come out too fast as it
  // is, since what else they cost is a guess, and the copies hide that: rows of K up to 128 on an RTX PRO 6000 go
  // from 19.5 to 24.9 % without them, on an A100 from 17.5 to 19.6.
  const std::int64_t tiles = grid.geometry.iterations + out.program->peeled_tiles;
  if (config.family == kernels::Family::triton && config.async_copy.value_or(false) && tiles < config.stages)
    out.program = *gemm_program(gpu, config, cache, tiles);
  GemmTrafficRequest traffic{&gpu, &config, &shape, out.program.get(), &grid, resident, l2};
  out.traffic = plan_traffic(traffic);
  // L2s of one partition serve all alike: deep loops on an L40S and an RTX PRO 6000 (five rows) read as if in lockstep.
  if (gpu.l2.partitions > 1 && !kernels::copies_in_bulk(config.family)) {
    traffic.l2_is_full = true;
    const Traffic apart = plan_traffic(traffic);
    if (apart.dram_read_bytes > out.traffic.dram_read_bytes) out.when_l2_is_full = apart;
  }
  out.arithmetic = arithmetic_of(gpu.sm, config, shape);
  out.split_k = split_k_of(config, shape, grid);
  if (!config.attention.causal) out.warp_instructions = warp_instructions(*out.program, grid.geometry);
  return out;
}

}  // namespace noteg::gpu
