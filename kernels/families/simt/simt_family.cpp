// The rules of the simt family: warp tiles over lanes, pipelines of stages, sliced K. And what the family is.
#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/rules.hpp"

namespace noteg::kernels {
namespace {

int usual_stages(Flavor flavor) {
  if (flavor == Flavor::cublas) return 2;
  return flavor == Flavor::xmma ? 3 : 4;
}

// Elements per row (one k) of padding that each transposed operand gets in shared memory.
int padding_elements(const KernelConfig& config) {
  switch (config.flavor) {
    case Flavor::cublas:
    case Flavor::xmma: return row_padding;
    case Flavor::generic:
    case Flavor::deep_gemm:
    case Flavor::cutlass:
      // CUTLASS pads so that the 32 threads that store a column hit 32 banks; cp.async instances are not padded.
      return config.async_copy.value_or(false) ? 0 : std::max(1, 32 / config.tile.k);
  }
  return 0;
}

// xmma stages the output tile through shared memory, 32 rows per row of warps at a time.
std::int64_t epilogue_bytes(const KernelConfig& config) {
  if (config.flavor != Flavor::xmma || !config.warp_m) return 0;
  const std::int64_t rows = std::min(config.tile.m, 32 * (config.tile.m / *config.warp_m));
  return rows * (config.tile.n + row_padding) * ffma_bytes;
}

int registers_of_xmma(int accumulators) {
  if (accumulators <= 16) return 80;
  if (accumulators <= 32) return 126;
  return accumulators <= 64 ? 222 : 255;
}

// Accumulators, two sets of fragments, and what addresses, loop and predicates took in the kernels that were read.
int usual_registers(const KernelConfig& config) {
  if (const KnownKernel* known = find_known_kernel(config); known != nullptr && known->registers != any)
    return known->registers;
  const int thread_m = config.thread_m.value_or(1);
  const int thread_n = config.thread_n.value_or(1);
  const int accumulators = thread_m * thread_n;
  const int operands = accumulators + 2 * (thread_m + thread_n);
  if (config.flavor == Flavor::xmma) return registers_of_xmma(accumulators);
  if (config.flavor == Flavor::cublas) return std::min(255, operands + 24);
  if (accumulators >= 128) return 254;
  const int mixed_layout = k_contiguous_operands(config.layout) == 1 ? 4 : 0;
  const int staged_loads = config.async_copy.value_or(false) ? 0 : 5;
  return std::min(255, operands + 32 + mixed_layout + staged_loads);
}

int usual_threads(const KernelConfig& config) {
  const int slices = config.sliced_k.value_or(1);
  if (config.warp_m && config.warp_n)
    return 32 * slices * (config.tile.m / *config.warp_m) * (config.tile.n / *config.warp_n);
  if (const KnownKernel* known = find_known_kernel(config)) return known->threads;
  const int per_slice = std::clamp(config.tile.m * config.tile.n / 64, 32, std::max(32, 256 / slices));
  return per_slice / 32 * 32 * slices;
}

void settle_tile(Draft& draft) {
  Tile& tile = draft.config.tile;
  const int slices = draft.config.sliced_k.value_or(1);
  if (tile.k == 0) tile.k = 8 * slices;  // each slice has the 8 columns that an unsliced kernel has
  if (!check_extents(draft)) return;
  if (tile.k % slices != 0)
    draft.report("sliced_k", "a divisor of the tile's K extent " + std::to_string(tile.k), std::to_string(slices));
}

void settle_warp_tile(Draft& draft, int warps) {
  KernelConfig& c = draft.config;
  const std::optional<WarpGrid> grid = default_warp_grid(c.tile, warps);
  if (!grid)
    return draft.report("threads", "a number of warps that divides the tile " + tile_text(c.tile),
                        std::to_string(*c.threads));
  c.warp_m = c.tile.m / grid->m;
  c.warp_n = c.tile.n / grid->n;
}

void settle_thread_tile(Draft& draft) {
  KernelConfig& c = draft.config;
  // The 4 lanes lie along the shorter side; CUTLASS has them along M always (H200M counters: kernels with warp tiles
  // of 64x32 read shared memory five times and in twelve wavefronts per k, as thread tiles of 16x4 do).
  const bool tall = *c.warp_m > *c.warp_n && c.flavor != Flavor::cutlass;
  const int lanes_m = tall ? 8 : 4;
  const int lanes_n = tall ? 4 : 8;
  const std::string warp_text = pair_text(c.warp_m, c.warp_n);
  if (!c.thread_m) {
    if (*c.warp_m % lanes_m != 0 || *c.warp_n % lanes_n != 0)
      return draft.report("warp_tile", "extents that " + pair_text(lanes_m, lanes_n) + " lanes divide", warp_text);
    c.thread_m = *c.warp_m / lanes_m;
    c.thread_n = *c.warp_n / lanes_n;
  }
  const bool divides = *c.warp_m % *c.thread_m == 0 && *c.warp_n % *c.thread_n == 0;
  if (!divides || *c.warp_m / *c.thread_m * (*c.warp_n / *c.thread_n) != 32)
    return draft.report("thread_tile", "32 thread tiles in the warp tile " + warp_text,
                        pair_text(c.thread_m, c.thread_n));
  check_accumulators(draft);
}

void settle_work(Draft& draft) {
  KernelConfig& c = draft.config;
  if (c.warp_m && (c.tile.m % *c.warp_m != 0 || c.tile.n % *c.warp_n != 0))
    return draft.report("warp_tile", "extents that divide the tile " + tile_text(c.tile),
                        pair_text(c.warp_m, c.warp_n));
  if (c.warp_m) settle_threads(draft, usual_threads(c), "32 per warp tile");
  if (!c.threads) c.threads = usual_threads(c);
  const int threads_per_warp_group = 32 * *c.sliced_k;
  if (*c.threads > largest_cta || *c.threads % threads_per_warp_group != 0)
    return draft.report("threads", "a multiple of " + std::to_string(threads_per_warp_group) + " up to 1024",
                        std::to_string(*c.threads));
  if (!c.warp_m) settle_warp_tile(draft, *c.threads / threads_per_warp_group);
  if (draft.is_sound()) settle_thread_tile(draft);
}

// Copies hold, each, a pointer and a guard, and those by way of registers their data until they are stored, beside
// the accumulators, the fragments and what addresses take at least.
void check_copies_in_flight(Draft& draft) {
  const KernelConfig& c = draft.config;
  constexpr int most = 244, pointer_and_guard = 3;
  const auto registers = [&](int extent, int align) {
    const int copies = std::max(1, extent * c.tile.k / (*c.threads * align));
    return copies * ((*c.async_copy ? 0 : align) + pointer_and_guard);
  };
  const int accumulators = *c.thread_m * *c.thread_n, fragments = *c.thread_m + *c.thread_n;
  const int copies = registers(c.tile.m, *c.align_a) + registers(c.tile.n, *c.align_b);
  if (accumulators + fragments + copies > most)
    draft.report("tile",
                 "at most " + std::to_string(most) +
                     " registers per thread for accumulators, fragments and copies (fewer K, more threads, or "
                     "async_copy)",
                 std::to_string(accumulators + fragments + copies));
}

Result<KernelConfig> resolve_simt(const KernelConfig& config, const GemmShape& shape) {
  Draft draft = begin_ffma(config, shape);
  if (!draft.is_sound()) return draft.errors;
  settle_tile(draft);
  if (!draft.is_sound()) return draft.errors;
  KernelConfig& c = draft.config;
  settle_stages(draft, usual_stages(c.flavor));
  settle_copies(draft, c.flavor != Flavor::cublas && *c.stages >= 3, true);
  settle_work(draft);
  if (!draft.is_sound()) return draft.errors;
  settle_alignment(draft, 1);
  check_copies_in_flight(draft);
  if (!c.registers) c.registers = usual_registers(c);
  if (*c.stages > 2 && !*c.async_copy)
    draft.report("stages", "1 or 2 without async_copy (LDG + STS has a double buffer)", std::to_string(*c.stages));
  settle_shared_bytes(draft, std::max(stage_bytes(c, padding_elements(c)), epilogue_bytes(c)));
  return draft.take();
}

void add_candidates(const TuningRequest& request, std::vector<KernelConfig>& out) {
  constexpr Extents tiles[] = {{32, 32},  {32, 64},   {64, 32},  {64, 64},  {32, 128},  {128, 32}, {64, 128},
                               {128, 64}, {128, 128}, {64, 256}, {256, 64}, {128, 256}, {256, 128}};
  for (const Extents& tile : tiles) {
    for (const int depth : {8, 16, 32}) {
      KernelConfig config;
      config.family = Family::simt;
      config.tile = {tile.m, tile.n, depth};
      add_pipelined(config, request, {2, 3, 4, 5}, out);
    }
  }
}

}  // namespace

constinit const FamilyDescriptor simt_family{
    .family = Family::simt,
    .name = "simt",
    .meaning = "warp tiles, multi-stage pipeline, as CUTLASS and cuBLAS ship it",
    .traits = {.stages = {1, 8, "an integer from 1 to 8"}, .has_library_kernels = true, .transposes_copies = true},
    .resolve = resolve_simt,
    .build = build_simt,
    .add_candidates = add_candidates,
    .read_schedule = read_copy_schedule,
};

}  // namespace noteg::kernels
