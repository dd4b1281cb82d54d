#include "sim/tune/libraries.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>

#include "sim/support/arithmetic.hpp"
#include "sim/tune/deep_gemm_hopper.hpp"

namespace noteg::tune {
namespace {

using kernels::DataType;
using kernels::Family;
using kernels::KernelConfig;

bool is_data_center_blackwell(const arch::GpuSpec& gpu) { return gpu.sm.name == "sm_100" || gpu.sm.name == "sm_103"; }
bool is_small_blackwell(const arch::GpuSpec& gpu) { return gpu.sm.name == "sm_120" || gpu.sm.name == "sm_121"; }

std::int64_t next_power_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, value))));
}

std::int64_t last_power_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, value))));
}

// Products in tensor memory. A product of two CTAs has twice the rows of each; `swapped`: rows of the product are N.
struct MemoryTile {
  int rows = 128, columns = 128, depth = 128;  // of one CTA; depth in elements
  bool pair = false, swapped = false;
  int cluster_rows = 1, cluster_columns = 1;
};

KernelConfig tensor_memory(const MemoryTile& t, const Problem& problem) {
  KernelConfig config;
  config.family = Family::tcgen05;
  const int depth = static_cast<int>(32 / kernels::bytes_of(problem.frame.dtype_in)), rows = t.rows * (t.pair ? 2 : 1);
  config.tile = t.swapped ? kernels::Tile{t.columns, t.rows, t.depth} : kernels::Tile{t.rows, t.columns, t.depth};
  config.instruction = t.swapped ? kernels::Tile{t.columns, rows, depth} : kernels::Tile{rows, t.columns, depth};
  config.cluster_m = t.swapped ? t.cluster_columns : t.cluster_rows;
  config.cluster_n = t.swapped ? t.cluster_rows : t.cluster_columns;
  config.raster = shorter_side(config.tile, problem.shape);
  return in_frame(std::move(config), problem.frame);
}

// mma.sync: tile, warp tile and stages as CUTLASS's templates state them; warps beside each other along K slice it.
struct WarpTile {
  int m, n, k, warp_m, warp_n, warp_k, stages;
};

KernelConfig by_warps(const WarpTile& t, const Problem& problem) {
  KernelConfig config;
  config.family = Family::mma;
  config.flavor = kernels::Flavor::cutlass;
  config.tile = {t.m, t.n, t.k};
  config.warp_m = t.warp_m;
  config.warp_n = t.warp_n;
  if (t.stages > 0) config.stages = t.stages;
  if (t.warp_k < t.k) config.sliced_k = t.k / t.warp_k;
  config.raster = kernels::Raster::along_m;  // GemmIdentityThreadblockSwizzle<1>: blockIdx.x runs along rows
  return in_frame(std::move(config), problem.frame);
}

// CUTLASS for sm_120: eight warps, four along the rows (AtomLayoutMNK of its collective builders), as many stages as
// fit into 99 KiB.
KernelConfig on_small_blackwell(int m, int n, int k, const arch::GpuSpec& gpu, const Problem& problem) {
  const double stage = (m + n) * k * kernels::stored_bytes_of(problem.frame.dtype_in);
  const double room = gpu.sm.occupancy.max_shared_per_cta.value;
  const int stages = std::clamp(static_cast<int>(room / stage), 2, 8);
  KernelConfig config = by_warps({m, n, k, m / 4, n / 2, k, stages}, problem);
  config.raster = shorter_side(config.tile, problem.shape);  // RasterOrderOptions::Heuristic
  config.async_copy = true;
  return config;
}

KernelConfig by_warp_groups(kernels::Tile tile, int cluster_m, int cluster_n, std::string_view schedule,
                            const Problem& problem) {
  KernelConfig config;
  config.family = Family::wgmma;
  config.tile = tile;
  config.cluster_m = cluster_m;
  config.cluster_n = cluster_n;
  config.schedule = kernels::schedule_from(schedule);
  config.raster = shorter_side(config.tile, problem.shape);
  return in_frame(std::move(config), problem.frame);
}

// SGLang, sgl-kernel/csrc/gemm/fp8_gemm_kernel.cu: sm89_fp8_dispatch_shape.
WarpTile sgl_on_ada(std::int64_t m, std::int64_t n) {
  const bool narrow = n <= 8192, middle = n <= 16384;
  if (m == 1) return narrow ? WarpTile{16, 64, 128, 16, 64, 64, 7} : WarpTile{32, 64, 128, 16, 64, 64, 5};
  if (m <= 16) {
    if (narrow) return {16, 64, 128, 16, 64, 64, 4};
    return middle ? WarpTile{32, 64, 128, 16, 64, 64, 5} : WarpTile{16, 64, 128, 16, 64, 64, 7};
  }
  if (m <= 64) return middle ? WarpTile{32, 64, 128, 16, 64, 64, 7} : WarpTile{16, 64, 128, 16, 64, 64, 7};
  if (m <= 128) {
    if (middle) return {64, 64, 128, 32, 64, 64, narrow ? 4 : 5};
    return {32, 64, 128, 16, 64, 64, 5};
  }
  if (m <= 256) {
    if (narrow) return {128, 64, 64, 64, 32, 64, 5};
    return middle ? WarpTile{64, 128, 64, 64, 32, 64, 7} : WarpTile{128, 64, 128, 64, 32, 128, 4};
  }
  if (m <= 512) return {128, 128, 64, 64, 32, 64, middle ? 2 : 4};
  return {128, 128, 64, 64, 32, 64, narrow ? 3 : 2};
}

// The same file: sm90_, sm100_ and sm120_fp8_dispatch_shape. Its sums are not promoted (FastAccum), so that two tiles
// of 128x128 fit into registers in turn; ours are, and two groups of warps share one tile.
KernelConfig sgl_on_hopper(const Problem& p) {
  const std::int64_t m = p.shape.m;
  if (m <= 1) return by_warp_groups({64, 64, 128}, 1, 8, "ws", p);
  if (m <= 256) return by_warp_groups({64, 64, 128}, 1, m <= 64 ? 4 : 1, "pingpong", p);
  return by_warp_groups({128, 128, 128}, m <= 1024 ? 1 : 2, 1, "coop", p);
}

// SGLang, int8_gemm_kernel.cu: sm90_dispatch_shape. Integers need no promotion.
KernelConfig sgl_integers_on_hopper(const Problem& p) {
  const std::int64_t m = p.shape.m, n = p.shape.n;
  if (m <= 32) return by_warp_groups({64, n < 8192 ? 64 : 128, 128}, 1, 8, "ws", p);
  if (m <= 64)
    return n < 8192 ? by_warp_groups({64, 64, 128}, 1, 4, "ws", p) : by_warp_groups({64, 64, 256}, 1, 1, "ws", p);
  if (m <= 128) return by_warp_groups({64, n <= 4096 ? 64 : 128, 128}, 2, 1, "ws", p);
  return by_warp_groups({128, 128, 128}, 2, 1, "pingpong", p);
}

// KernelScheduleAuto multiplies by pairs of CTAs where the cluster has two along rows and these are 128 or 256
// (CUTLASS, sm100_make_trivial_tiled_mma).
KernelConfig sgl_on_blackwell(const Problem& p) {
  const std::int64_t m = std::max<std::int64_t>(16, next_power_of_two(p.shape.m));
  MemoryTile tile{128, 128, 64, true, false, 2, 2};
  if (m <= 256) tile = {64, 128, 128, true, false, 2, 1};
  if (m <= 64) tile = {64, 64, 128, false, false, 1, m <= 16 ? 4 : 1};
  KernelConfig config = tensor_memory(tile, p);
  config.scale_vectors = true;
  return config;
}

// vLLM, csrc/quantization/fp4/nvfp4_scaled_mm_kernels.cu: cutlass_fp4_gemm_dispatch.
KernelConfig vllm_cutlass(const Problem& p) {
  if (p.shape.m <= 16) return tensor_memory({128, 128, 256}, p);
  return tensor_memory({128, p.shape.m <= 256 ? 128 : 256, 256, true, false, 2, 1}, p);
}

// FlashInfer 0.6.11 and 0.6.12, flashinfer/gemm/kernels/utils.py: the score of a tile without tuning.
struct ScoredTile {
  std::int64_t m, n;
  double score;
};

double cute_score(std::int64_t rows, std::int64_t columns, std::int64_t k, int sms, std::int64_t tile_m,
                  std::int64_t tile_n) {
  const double large = k <= 1024 ? 0.5 : k <= 2048 ? 0.8 : 1.0;
  const std::int64_t along_n = ceil_div(columns, tile_n), along_m = ceil_div(rows, tile_m);
  const auto area = static_cast<double>(tile_m * tile_n);
  const double balance = static_cast<double>(std::min(tile_m, tile_n)) / static_cast<double>(std::max(tile_m, tile_n));
  double worth = static_cast<double>(columns) / static_cast<double>(along_n * tile_n);
  worth *= std::sqrt(area / (256.0 * 256.0)) * std::sqrt(std::sqrt(balance));
  if (tile_m * tile_n > 128 * 128) worth *= large;
  const std::int64_t tiles = along_m * along_n, waves = ceil_div(tiles, sms);
  return static_cast<double>(rows * tiles) * worth / static_cast<double>(tile_m * waves * sms);
}

// What is asked for is a power of two of rows; a tile of 256 rows is multiplied by two CTAs, which it counts as one.
KernelConfig flashinfer_cute(const arch::GpuSpec& gpu, const Problem& p) {
  constexpr std::array<std::array<std::int64_t, 2>, 8> tiles{
      {{128, 64}, {256, 64}, {128, 128}, {256, 128}, {128, 192}, {256, 192}, {128, 256}, {256, 256}}};
  const std::int64_t rows = std::min<std::int64_t>(4096, last_power_of_two(p.shape.m)), n = p.shape.n;
  const bool whole = p.shape.m % 8 == 0, swapped = whole && ((rows >= 8 && rows <= 16 && n > rows) || n % 8 != 0);
  const std::int64_t of_rows = swapped ? n : rows, of_columns = swapped ? rows : n;
  ScoredTile best{128, 128, -1};
  for (const auto& [tile_m, tile_n] : tiles) {
    const double score = cute_score(of_rows, of_columns, p.shape.k, gpu.sms, tile_m, tile_n);
    if (score > best.score) best = {tile_m, tile_n, score};
  }
  const std::int64_t along_n = ceil_div(of_columns, best.n);
  const bool one_row = of_rows <= best.m;
  const int cluster = !one_row ? 1 : along_n % 4 == 0 || along_n > 10 ? 4 : along_n % 2 == 0 ? 2 : 1;
  const bool pair = best.m == 256;
  return tensor_memory({128, static_cast<int>(best.n), 256, pair, swapped, pair ? 2 : 1, cluster}, p);
}

// DeepGEMM of April 2026, csrc/jit_kernels/heuristics/sm100.hpp: one wave before all, then pairs of CTAs, fewer waves,
// a fuller last wave, less to load.
class DeepGemm {
 public:
  DeepGemm(const arch::GpuSpec& gpu, const Problem& problem) : sms_(gpu.sms), p_(problem) {}

  KernelConfig best() {
    const int block_m = p_.shape.m <= 32 ? 32 : p_.shape.m <= 64 ? 64 : 128, widest = p_.shape.k <= 256 ? 128 : 256;
    for (int cluster = 1; cluster <= 2; ++cluster) {
      try_block({block_m, 16, false, cluster});
      for (int block_n = 32; block_n <= widest; block_n += 32) try_block({block_m, block_n, false, cluster});
    }
    for (int cluster = 1; cluster <= 2; ++cluster)
      for (int rows = 16; rows <= 256; rows += 16) try_block({rows, 128, true, cluster});
    const int rows = best_.swapped ? best_.n : best_.m, columns = best_.swapped ? best_.m : best_.n;
    KernelConfig config =
        tensor_memory({std::max(64, rows), columns, 128, best_.cluster == 2, best_.swapped, best_.cluster, 1}, p_);
    config.swizzle_log2 = 3;  // groups of 8 or 16 blocks (scheduler.cuh)
    return config;
  }

 private:
  struct Block {
    int m = 0, n = 0;
    bool swapped = false;
    int cluster = 1;
    std::int64_t waves = 0, last = 0;
  };

  void try_block(Block block) {
    const std::int64_t along_m = ceil_div(p_.shape.m, block.m), along_n = ceil_div(p_.shape.n, block.n);
    const int wide = block.swapped ? block.m : block.n;
    const int scales = (static_cast<int>(ceil_div(block.m, 128)) + static_cast<int>(ceil_div(block.n, 128))) * 4;
    if (2 * wide + scales > 512 || (block.swapped ? along_n : along_m) % block.cluster != 0) return;
    if (wide / block.cluster % 8 != 0 || sms_ % block.cluster != 0) return;
    block.waves = ceil_div(along_m * along_n, sms_);
    block.last = along_m * along_n % sms_ == 0 ? sms_ : along_m * along_n % sms_;
    if (best_.m == 0 || is_better(block, best_)) best_ = block;
  }

  static bool is_better(const Block& a, const Block& b) {
    if ((a.waves == 1 || b.waves == 1) && a.waves != b.waves) return a.waves < b.waves;
    if (a.cluster != b.cluster) return a.cluster > b.cluster;
    if (a.waves != b.waves) return a.waves < b.waves;
    if (a.last != b.last) return a.last > b.last;
    if (a.m + a.n != b.m + b.n) return a.m + a.n < b.m + b.n;
    return a.m * a.n < b.m * b.n;
  }

  int sms_;
  const Problem& p_;
  Block best_;
};

// TensorRT-LLM, smoothQuantGemmPlugin.cpp and int8SQ.cu: up to four rows go without tensor cores, two columns a CTA.
KernelConfig smooth_quant_of_few_rows(const Problem& problem) {
  KernelConfig config;
  config.family = Family::gemv;
  config.tile = {static_cast<int>(problem.shape.m), 2, 0};
  return in_frame(std::move(config), problem.frame);
}

// cutlass_heuristic.cpp and int8_gemm_template.h: beyond, the plugin times six tiles of three to six stages. What is
// called 128x64 is 128x128.
std::vector<KernelConfig> smooth_quant(const Problem& problem) {
  constexpr std::int64_t few_rows = 4;
  if (problem.shape.m <= few_rows) return {smooth_quant_of_few_rows(problem)};
  constexpr std::array<WarpTile, 6> tiles{{{32, 128, 64, 32, 32, 64, 0},
                                           {64, 128, 64, 64, 32, 64, 0},
                                           {128, 128, 64, 64, 32, 64, 0},
                                           {64, 64, 128, 32, 64, 64, 0},
                                           {128, 256, 64, 64, 64, 64, 0},
                                           {256, 128, 64, 64, 64, 64, 0}}};
  std::vector<KernelConfig> out;
  for (WarpTile tile : tiles)
    for (tile.stages = 3; tile.stages <= 6; ++tile.stages) out.push_back(by_warps(tile, problem));
  return out;
}

// The same file: weights of 4 or 8 bits, five tiles of two to four stages, K in up to seven slices that take turns and
// are whole tiles deep. Left out: the kernel without tensor cores that it also times.
std::vector<KernelConfig> weight_only(const Problem& problem) {
  constexpr std::array<WarpTile, 5> tiles{{{16, 128, 64, 16, 32, 64, 0},
                                           {16, 256, 64, 16, 64, 64, 0},
                                           {32, 128, 64, 32, 32, 64, 0},
                                           {64, 128, 64, 64, 32, 64, 0},
                                           {128, 128, 64, 128, 32, 64, 0}}};
  constexpr int most_slices = 7;
  std::vector<KernelConfig> out;
  for (WarpTile tile : tiles)
    for (tile.stages = 2; tile.stages <= 4; ++tile.stages)
      for (int slices = 1; slices <= most_slices; ++slices) {
        if (slices > 1 && problem.shape.k % (std::int64_t{tile.k} * slices) != 0) continue;
        out.push_back(by_warps(tile, problem));
        out.back().split_k = slices;
        if (slices > 1) out.back().split_k_mode = kernels::SplitKMode::serial;
      }
  return out;
}

std::vector<KernelConfig> tensorrt_llm(const arch::GpuSpec& gpu, const Problem& problem) {
  const DataType type = problem.frame.dtype_in;
  const bool by_warpgroups = gpu.sm.name == "sm_90" || is_data_center_blackwell(gpu);  // other kernels: not known here
  if (problem.frame.dtype_b && kernels::bytes_of(type) == 2)
    return by_warpgroups ? std::vector<KernelConfig>{} : weight_only(problem);
  if (type == DataType::s8) return smooth_quant(problem);
  // fp4Gemm.cpp: the one tile of whoever has not asked its tuner, on one CTA and with all of K.
  if (type == DataType::nvfp4 && is_data_center_blackwell(gpu))
    return {tensor_memory({128, 256, gpu.sm.name == "sm_103" ? 512 : 256}, problem)};
  // sm120_blockwise_gemm: SM120BlockScaledBuilder, two warps along rows and four along columns, four stages. Which rows
  // it takes for which M changed between versions; that of the rows that we have was not found.
  if (type != DataType::f8e4m3 || !is_small_blackwell(gpu)) return {};
  std::vector<KernelConfig> out{by_warps({32, 128, 128, 16, 32, 128, 4}, problem),
                                by_warps({64, 128, 64, 32, 32, 64, 4}, problem),
                                by_warps({128, 128, 64, 64, 32, 64, 4}, problem)};
  for (KernelConfig& each : out) each.swizzle_log2 = 4;  // SM120BlockScaledScheduler: bands of 16 columns of tiles
  return out;
}

std::vector<KernelConfig> sgl_kernel(const arch::GpuSpec& gpu, const Problem& problem) {
  if (problem.frame.dtype_in == DataType::s8 && gpu.sm.name == "sm_90") return {sgl_integers_on_hopper(problem)};
  if (problem.frame.dtype_in != DataType::f8e4m3) return {};
  if (gpu.sm.name == "sm_89") return {by_warps(sgl_on_ada(problem.shape.m, problem.shape.n), problem)};
  if (gpu.sm.name == "sm_90") return {sgl_on_hopper(problem)};
  if (is_data_center_blackwell(gpu)) return {sgl_on_blackwell(problem)};
  if (is_small_blackwell(gpu)) return {on_small_blackwell(128, 128, 128, gpu, problem)};
  return {};
}

// w8a8_triton_block_scaled_mm where nobody has tuned (fp8_utils.py): blocks of 64 x 128 x 128 in bands of 32 rows.
KernelConfig vllm_triton(const Problem& problem) {
  KernelConfig config;
  config.family = kernels::Family::triton;
  config.tile = {64, 128, 128};
  config.threads = 128;
  config.stages = 2;
  config.raster = kernels::Raster::along_n;
  config.swizzle_log2 = 5;
  return in_frame(std::move(config), problem.frame);
}

}  // namespace

// TensorRT-LLM, gemmPluginProfiler.cpp: its plugins time their kernels at powers of two of rows, up to 8192, fifteen
// times on the same matrices, and run what was the fastest at the next one.
Comparison comparison_of(const gpu::SimOptions& given, const Problem& problem) {
  constexpr std::int64_t most_rows = 8192;
  const bool by_plugin = problem.frame.dtype_in == DataType::s8 || problem.frame.dtype_b;
  Comparison out{problem.shape, given.l2};
  if (given.library != gpu::Library::tensorrt_llm || !by_plugin) return out;
  out.shape.m = std::min(next_power_of_two(out.shape.m), most_rows);
  out.l2 = memory::L2State::steady;
  return out;
}

std::vector<KernelConfig> public_choices(gpu::Library library, const arch::GpuSpec& gpu, const Problem& problem) {
  const DataType type = problem.frame.dtype_in;
  switch (library) {
    case gpu::Library::cublas:
    case gpu::Library::cublas_before_nvjet: return {};
    case gpu::Library::sgl_kernel: return sgl_kernel(gpu, problem);
    case gpu::Library::deep_gemm:
      if (type != DataType::f8e4m3) return {};
      if (gpu.sm.name == "sm_90") return {deep_gemm_on_hopper(gpu, problem)};
      if (!is_data_center_blackwell(gpu)) return {};
      return {DeepGemm(gpu, problem).best()};
    case gpu::Library::flashinfer_cute:
      if (type != DataType::nvfp4 || !is_data_center_blackwell(gpu)) return {};
      return {flashinfer_cute(gpu, problem)};
    case gpu::Library::flashinfer_cutlass:
      // csrc/fp4_gemm_cutlass_sm120.cu: 128x128x256 wherever nobody has tuned. Two such stages fit, which bulk copies
      // fill and empty piece by piece: here, where threads copy, four of half the depth.
      if (type != DataType::nvfp4 || !is_small_blackwell(gpu)) return {};
      return {on_small_blackwell(128, 128, 128, gpu, problem)};
    case gpu::Library::tensorrt_llm: return tensorrt_llm(gpu, problem);
    case gpu::Library::vllm_cutlass:
      if (type != DataType::nvfp4 || !is_data_center_blackwell(gpu)) return {};
      return {vllm_cutlass(problem)};
    case gpu::Library::vllm_triton:
      if (type != DataType::f8e4m3 || gpu.sm.name != "sm_89") return {};
      return {vllm_triton(problem)};
  }
  return {};
}

}  // namespace noteg::tune
