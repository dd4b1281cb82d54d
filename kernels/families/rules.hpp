// What the rules of several families share: a configuration on its way to a resolved one, and the steps that fill and
// check it. Each family's own rules stand in its folder, beside its descriptor. What a configuration takes where its
// author said nothing:
//
//   value        naive    blocked              simt generic, cutlass   simt cublas        simt xmma
//   tile         T x T x T (n, k follow m)     m, n given; k: 8 (x sliced_k)
//   stages       1        2                    4                       2                  3
//   async_copy   no       no                   stages >= 3             no                 yes
//   sliced_k     1        1                    1                       1                  1
//   threads      T*T      one per thread tile  tile elements / 64, 32..256 (known kernels: as launched)
//   warp_tile    -        -                    squarest grid of warps, more warps along M on a tie
//   thread_tile  1x1      8x8, 4x4 if < 64     warp tile over 4x8 lanes, the 4 along the shorter side
//   align        1        4, 2 or 1: what divides the extents; simt: 1 (any leading dimension works)
//   registers    known kernels: as compiled; others: accumulators + fragments + bookkeeping
//   shared_bytes stages * (tile_m + tile_n) * tile_k elements, padded where an operand is transposed on its way in
//
// Sources: registers and shared memory of the H200 measurements (cudaFuncGetAttributes), function attributes of
// the kernels that cuBLAS 13 ships, threads of the NeuSight traces. Kernels that nobody read take a formula.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/config/config.hpp"
#include "kernels/families/family.hpp"

namespace noteg::kernels {

inline constexpr int largest_cta = 1024;       // threads, CPG
inline constexpr int row_padding = 4;          // elements added to a transposed row: 16 bytes keep LDS.128 aligned
inline constexpr int ffma_bytes = 4;           // of an element: the FFMA families take f32 only
inline constexpr int most_accumulators = 192;  // per thread: fragments and addresses need what is left of 255 registers

struct Draft {
  KernelConfig config;
  GemmShape shape;
  Diagnostics errors;

  void report(std::string key, std::string expected, std::string found);
  void in_range(const std::string& key, const std::optional<int>& value, int low, int high);
  [[nodiscard]] bool is_sound() const { return errors.empty(); }
  [[nodiscard]] Result<KernelConfig> take();
};

[[nodiscard]] std::string tile_text(const Tile& tile);
[[nodiscard]] std::string pair_text(const std::optional<int>& m, const std::optional<int>& n);

// What no family goes beyond, and the family's own range of stages.
void check_ranges(Draft& draft);

// Steps of the families without tensor cores, in this order. Keys of other families, ranges; of the FFMA families also
// types:
[[nodiscard]] Draft begin_without_tensor_cores(const KernelConfig& config, const GemmShape& shape);
[[nodiscard]] Draft begin_ffma(const KernelConfig& config, const GemmShape& shape);
// Extents from 1 to 1024; false: reported.
bool check_extents(Draft& draft);
// Buffers and slices of K; the usual number of stages where none is given.
void settle_stages(Draft& draft, int usual);
void settle_copies(Draft& draft, bool usually_asynchronous, bool may_be_asynchronous);
void refuse_slices(Draft& draft);
// The accumulators must leave registers for fragments and addresses.
bool check_accumulators(Draft& draft);
void settle_threads(Draft& draft, int wanted, const std::string& why);
// Elements per global access, `widest` of them at most where none are given.
void settle_alignment(Draft& draft, int widest);
// Shared memory of the stages with `padding` elements in each row (one k) of a transposed operand.
[[nodiscard]] std::int64_t stage_bytes(const KernelConfig& config, int padding);
// `least`: what the stages of both operands take, without padding.
void settle_shared_bytes(Draft& draft, std::int64_t usual, std::int64_t least);
// The same of FFMA kernels.
void settle_shared_bytes(Draft& draft, std::int64_t usual);

// Copies of library kernels in the words of those who measured: multistage_cp_async, pipelined_ldg_sts.
[[nodiscard]] bool read_copy_schedule(KernelConfig& config, std::string_view text);

// A grid of warps over the CTA tile (one slice of it where K is sliced).
struct WarpGrid {
  int m = 1, n = 1;
};

// The squarest warp tile that divides the CTA tile; then the squarest grid; then more warps along M. This is what
// CUTLASS's simt instances use (128x128: 4x2 warps of 32x64). Nothing when no grid divides the tile.
[[nodiscard]] std::optional<WarpGrid> default_warp_grid(const Tile& tile, int warps);

// Defaults and rules of the tensor-core families; part of resolve().

inline constexpr std::int64_t most_bulk_shared = 227 * 1024;  // bytes per CTA, CPG
inline constexpr std::int64_t barriers_and_alignment = 1024;  // bytes of it, beside the tiles

// What all begin with: shape, types that multiply together, ranges, K of the tile.
void check_tensor_basics(Draft& draft);

// Elements per global access: what is written down if it divides the extent, else the widest of up to 16 bytes.
void settle_tensor_alignment(Draft& draft);

// Rows that bulk tensor copies can take: a multiple of 16 bytes apart.
void check_bulk_pitches(Draft& draft);

// As many stages as fit beside what the epilogue stages, unless the configuration says so; a stage and it in bytes.
void settle_bulk_stages(Draft& draft, std::int64_t stage, std::int64_t staging);

// Attention: N is twice the head size, a multiple of `step`; 16-bit operands, sums in f32.
void check_attention_types(Draft& draft);
void check_head(Draft& draft, int step);
void check_group(Draft& draft);

// K of one matrix instruction: 32 bytes of each operand. And the shape of mma.sync that is deepest for the type.
[[nodiscard]] int instruction_depth(const KernelConfig& config);
[[nodiscard]] Tile mma_instruction(const KernelConfig& config);

// Facts of kernels that were compiled and read: threads, registers, shared memory. Register allocation has no
// closed form, and one register more or less can cost a resident CTA, so the number read beats any formula.

inline constexpr int any = -1;

struct KnownKernel {
  Family family;
  Flavor flavor;
  int m, n, k;  // CTA tile in the row-major orientation
  int stages;
  int sliced_k;
  int thread_m;      // tells apart kernels of one tile; any
  int k_contiguous;  // how many of A, B are contiguous along K (0..2); any
  int threads;
  int registers;     // any: the rule of the family
  int shared_bytes;  // any: the rule of the family
};

[[nodiscard]] int k_contiguous_operands(Layout layout);

// The first row that fits; thread_m and threads are compared only where the configuration gives them. Null when
// nobody read such a kernel.
[[nodiscard]] const KnownKernel* find_known_kernel(const KernelConfig& config);

// Registers of tensor-core kernels as the compiler reported them.

// Nothing where nobody has compiled such a kernel.
[[nodiscard]] std::optional<int> known_mma_registers(const KernelConfig& config);

}  // namespace noteg::kernels
