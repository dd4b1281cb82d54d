// A kernel configuration: which family, which tiles, how many stages. What a kernel engineer would
// write down; the builders turn it into instructions. Absent values (nullopt) are filled by
// resolve(), which documents every default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/shape.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

enum class Family : std::uint8_t { naive, blocked, simt, mma, wgmma };

[[nodiscard]] std::string_view name_of(Family family);
[[nodiscard]] std::optional<Family> family_from(std::string_view text);

enum class Raster : std::uint8_t { along_m, along_n };  // which CTA coordinate moves fastest
enum class SplitKMode : std::uint8_t { none, serial, parallel };

// Whose code generation the instruction stream imitates: it decides registers, vector widths,
// address bookkeeping. Not a performance constant.
enum class Flavor : std::uint8_t { generic, cutlass, cublas, xmma };

struct Tile {
  int m = 0, n = 0, k = 0;
};

struct KernelConfig {
  std::string name;                        // as given by the user or the profiler; may be empty
  Family family = Family::simt;
  Flavor flavor = Flavor::generic;
  DataType dtype_in = DataType::f32;
  DataType dtype_acc = DataType::f32;
  DataType dtype_out = DataType::f32;
  Layout layout = Layout::nn;

  Tile tile;                               // CTA tile along M, N, K of this problem
  std::optional<int> warp_m, warp_n;       // warp tile
  std::optional<int> thread_m, thread_n;   // thread tile (register block) of SIMT kernels
  std::optional<int> threads;              // per CTA
  std::optional<int> stages;               // shared-memory pipeline stages; 1 = single buffer, 2 = LDG + STS double buffer, >= 3 cp.async
  std::optional<int> sliced_k;             // warps of a CTA that split K inside the tile; 1 = none
  std::optional<int> registers;            // per thread, as the compiler reported
  std::optional<std::int64_t> shared_bytes;  // static + dynamic per CTA
  std::optional<int> align_a, align_b, align_c;  // elements per global access
  std::optional<bool> async_copy;          // LDGSTS instead of LDG + STS

  int split_k = 1;
  SplitKMode split_k_mode = SplitKMode::none;
  Raster raster = Raster::along_m;
  int swizzle_log2 = 0;                    // CUTLASS raster: 2^s columns of tiles interleaved
  bool reads_c = false;                    // beta != 0
  bool bias = false;                       // fused bias vector
};

// Fills every absent value with the family's documented default and checks the rules between values
// (warp tiles divide the CTA tile, threads match, the shape is positive and M*N*K does not overflow).
[[nodiscard]] Result<KernelConfig> resolve(const KernelConfig& config, const GemmShape& shape);

// A profiler's kernel name to a configuration (only what the name says); error if not understood.
// swap_mn: the name is in BLAS column-major orientation (tile AxB has A along this file's N).
[[nodiscard]] Result<KernelConfig> config_from_name(std::string_view kernel_name);

}  // namespace noteg::kernels
