// A kernel configuration: which family, which tiles, how many stages. What a kernel engineer would
// write down; the builders turn it into instructions. Absent values (nullopt) are filled by
// resolve(), which documents every default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/config/shape.hpp"
#include "kernels/families/catalogue.hpp"
#include "kernels/families/clblast/clblast.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

enum class Raster : std::uint8_t { along_m, along_n };  // which CTA coordinate moves fastest
// How an operand tile lies in shared memory: rows whose 16-byte chunks are permuted by XOR with the row, rows with
// padding behind them, or rows as they are (ldmatrix then meets bank conflicts).
enum class SharedLayout : std::uint8_t { swizzled, padded, plain };

// How the warp groups of a wgmma kernel share the work: one consumer, two on one tile, two in turns on two tiles.
enum class Schedule : std::uint8_t { ws, coop, pingpong };

enum class SplitKMode : std::uint8_t { none, serial, parallel };

// Whose code generation the instruction stream imitates: it decides registers, vector widths,
// address bookkeeping. Not a performance constant.
enum class Flavor : std::uint8_t { generic, cutlass, cublas, xmma, deep_gemm };

[[nodiscard]] std::string_view name_of(Raster raster);
[[nodiscard]] std::optional<Raster> raster_from(std::string_view text);
[[nodiscard]] std::string_view name_of(SharedLayout layout);
[[nodiscard]] std::optional<SharedLayout> shared_layout_from(std::string_view text);
[[nodiscard]] std::string_view name_of(Schedule schedule);
[[nodiscard]] std::optional<Schedule> schedule_from(std::string_view text);
[[nodiscard]] std::string_view name_of(SplitKMode mode);
[[nodiscard]] std::optional<SplitKMode> split_k_mode_from(std::string_view text);
[[nodiscard]] std::string_view name_of(Flavor flavor);
[[nodiscard]] std::optional<Flavor> flavor_from(std::string_view text);

struct Tile {
  int m = 0, n = 0, k = 0;

  bool operator==(const Tile&) const = default;
};

// Attention as a product: rows of C are query tokens of all heads that share keys, columns twice the head size (keys
// and values), K is the keys. The first of the two products gives the weights of the second.
struct AttentionParameters {
  bool causal = false;
  int group = 1;       // query heads of a key head
  int page = 0;        // tokens of a page of the cache; 0: keys lie together
  int scans = 1;       // FlashAttention-3: groups of 31 sequences that a CTA looks through for its next tile
  int query_rows = 0;  // FlashAttention-3: rows of a tile that are queries; 0: all

  bool operator==(const AttentionParameters&) const = default;
};

struct KernelConfig {
  std::string name;  // as given by the user or the profiler; may be empty
  Family family = Family::simt;
  Flavor flavor = Flavor::generic;
  DataType dtype_in = DataType::f32;
  DataType dtype_acc = DataType::f32;
  DataType dtype_out = DataType::f32;
  std::optional<DataType> dtype_b;  // of B in memory where it is not A's: cast in the main loop (triton)
  Layout layout = Layout::nn;

  Tile tile;                              // CTA tile along M, N, K of this problem
  std::optional<int> warp_m, warp_n;      // warp tile
  std::optional<int> thread_m, thread_n;  // thread tile (register block) of SIMT kernels
  std::optional<int> threads;             // per CTA
  std::optional<int>
      stages;  // shared-memory pipeline stages; 1 = single buffer, 2 = LDG + STS double buffer, >= 3 cp.async
  std::optional<int> sliced_k;                   // warps of a CTA that split K inside the tile; 1 = none
  std::optional<int> registers;                  // per thread, as the compiler reported
  std::optional<std::int64_t> shared_bytes;      // static + dynamic per CTA
  std::optional<int> align_a, align_b, align_c;  // elements per global access
  std::optional<bool> async_copy;                // LDGSTS instead of LDG + STS

  bool static_tile = false;   // naive: the compiler knows the tile
  bool gathers_rows = false;  // triton: a table names the rows of A and of C, and extents are arguments

  // Tensor-core families.
  Tile instruction;                           // shape of mma, wgmma or tcgen05.mma; 0x0x0: the family's default
  std::optional<SharedLayout> shared_layout;  // mma
  bool sparse = false;                        // A is 2:4 sparse (mma.sp)
  int cluster_m = 1, cluster_n = 1;           // CTAs of a cluster along M, N (wgmma, tcgen05)
  std::optional<Schedule> schedule;           // wgmma
  std::optional<bool> persistent;             // CTAs take one tile after the other (wgmma, tcgen05)
  bool a_in_registers = false;                // wgmma RS: A goes to registers first
  bool scale_vectors = false;                 // tcgen05: C times a scale for each row and one for each column

  ClblastParameters clblast;      // of that family
  AttentionParameters attention;  // of that family

  int split_k = 1;
  SplitKMode split_k_mode = SplitKMode::none;
  Raster raster = Raster::along_m;
  int swizzle_log2 = 0;  // CUTLASS raster: 2^s columns of tiles interleaved
  bool reads_c = false;  // beta != 0
  bool bias = false;     // fused bias vector

  bool operator==(const KernelConfig&) const = default;
};

// Whether it multiplies by matrix instructions: triton kernels of f32 operands do not.
[[nodiscard]] bool on_tensor_cores(const KernelConfig& config);

// What an element of B takes in memory.
[[nodiscard]] double bytes_of_b(const KernelConfig& config);

// A positive shape whose work fits: M, N, K <= 2^31-1, batch <= 2^31-1, 2*M*N*K*batch <= 2^62.
[[nodiscard]] Diagnostics check_shape(const GemmShape& shape);

// Fills every absent value with the family's documented default (kernels/families/rules.hpp) and checks the
// rules between values (the shape, warp tiles divide the CTA tile, threads match). Every mistake is
// reported. Whether a GPU has the instructions is not asked here.
[[nodiscard]] Result<KernelConfig> resolve(const KernelConfig& config, const GemmShape& shape);

// What a profiler's kernel name says, already in the orientation of this header: tile along M, N of the
// row-major problem, layout letters in the row-major reading.
struct ParsedName {
  KernelConfig config;
  bool swapped = false;  // the name's tile AxB has A along N: cuBLAS given the transposed problem
};

// Names of at most 512 printable characters; an error if not understood, never a guess.
[[nodiscard]] Result<ParsedName> parse_kernel_name(std::string_view kernel_name);
[[nodiscard]] Result<KernelConfig> config_from_name(std::string_view kernel_name);

}  // namespace noteg::kernels
