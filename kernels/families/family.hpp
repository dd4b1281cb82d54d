// What a family of kernels is to the rest of the house. A family is a folder: its rules (what resolve() fills in and
// refuses), its plan, its builder, and one descriptor that holds them with the traits that others ask for. Nobody
// outside of the folder compares families.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/config/config.hpp"
#include "kernels/families/build.hpp"

namespace noteg::kernels {

// What multiplies. by_type: FFMA where the operands are f32, else tensor cores.
enum class Arithmetic : std::uint8_t { ffma, tensor_cores, by_type };

// What a GPU must have, beside the instruction for the types.
enum class Needs : std::uint8_t { nothing, warpgroup_products, tensor_memory_products };

// Stages that a family takes, both ends included, and what a message expects.
struct StageRange {
  int least = 1, most = 1;
  std::string_view expected;
};

struct FamilyTraits {
  Arithmetic arithmetic = Arithmetic::ffma;
  std::string_view multiplies_with = "ffma";  // as measured files name the instruction
  Needs needs = Needs::nothing;
  StageRange stages;
  int usual_depth_bytes = 64;        // of K in a tile of a tensor-core family, where only M and N are given
  bool has_library_kernels = false;  // of cp.async generations: warp tiles, K slices along the grid's third dimension
  bool copies_in_bulk = false;       // bulk tensor copies, clusters, persistent CTAs
  bool transposes_copies = false;    // asynchronous copies may transpose their tile, with bank conflicts
  bool walks_columns_first = false;  // hand-written: the grid's first dimension runs along the rows of C
  bool stores_operand_type = false;  // C is of the operands' type where a file does not say it (tf32: f32)
  bool keeps_scores = false;         // the first of two products stays on the SM and is A of the second (attention)
  bool takes_static_tile = false;    // the tile may be a constant of the compiled code
  bool takes_narrow_b = false;       // B may be of a narrower type, widened in the main loop
  bool takes_scale_vectors = false;  // C times a scale for each row and one for each column
  bool gathers_rows = false;         // a table may name the rows of A and C
  bool takes_clblast = false;        // has CLBlast's parameters
  bool takes_few_rows = false;       // multiplies types of tensor cores without them, where C has few rows
  int prefetched_bytes = 128;  // that libraries' loads have L2 bring (LTC128B, boxes); 0: compiled ones, their own
};

// What the tuner wants kernels for: the frame holds types, layout and epilogue alone.
struct TuningRequest {
  const KernelConfig& frame;
  const GemmShape& shape;
  int sms = 1;
};

struct FamilyDescriptor {
  Family family;
  std::string_view name;
  std::string_view meaning;  // how such a kernel works
  FamilyTraits traits;
  // Fills every absent value with the family's default and checks the rules between values: every mistake at once.
  Result<KernelConfig> (*resolve)(const KernelConfig& config, const GemmShape& shape);
  // A resolved configuration to instructions.
  Result<Program> (*build)(const BuildRequest& request);
  // Every kernel that a generator could emit for a problem, in a fixed order (kernels/families/tuning.hpp); rules
  // between the values are left to resolve(). Null: the tuner does not try the family.
  void (*add_candidates)(const TuningRequest& request, std::vector<KernelConfig>& out) = nullptr;
  // How tiles get to shared memory, in the words of those who measured ("double_buffer"); false: no such word.
  // Null: measured files say nothing about it.
  bool (*read_schedule)(KernelConfig& config, std::string_view text) = nullptr;
  // A configuration as the framework that makes such kernels prints it, and back; null where there is none.
  Result<KernelConfig> (*from_text)(std::string_view text) = nullptr;
  std::string (*to_text)(const KernelConfig& config) = nullptr;
  // The name that a library would give; null where no library has such kernels.
  void (*name_as_library)(KernelConfig& config) = nullptr;
};

[[nodiscard]] inline const FamilyTraits& traits_of(const KernelConfig& config) {
  return family_of(config.family).traits;
}

[[nodiscard]] inline bool multiplies_in_tensor_memory(const KernelConfig& config) {
  return traits_of(config).needs == Needs::tensor_memory_products;
}

// What families share when they list kernels for the tuner: extents to try, and the launches of one program.

struct Extents {
  int m, n;
};

// Tiles of C: powers of two, and no thinner than one to four. Warp tiles of 4 x 8 lanes with 4 x 4 to 16 x 8 results
// each; matrix instructions take the same.
inline constexpr Extents tried_warp_tiles[] = {{16, 32}, {32, 16}, {32, 32}, {32, 64}, {64, 32}, {64, 64}};

// Columns of tiles that are walked together, as a power of two: how much of A and B the SMs share in L2.
inline constexpr int tried_swizzles[] = {0, 1, 2, 3};

[[nodiscard]] bool divides(const Extents& tile, const Extents& warp);

// Elements of a row of so many bytes.
[[nodiscard]] int depth_of(int bytes, const KernelConfig& frame);

// A kernel for the problem: the frame's types, layout and epilogue, everything else the kernel's own.
[[nodiscard]] KernelConfig in_frame(KernelConfig kernel, const KernelConfig& frame);

// How many CTAs may share a tile: while the grid leaves SMs idle and every slice keeps some depth.
[[nodiscard]] std::vector<int> slice_counts(const KernelConfig& kernel, const GemmShape& shape, int sms);

// The launches of one program: K slices and rasters.
void add_launches(const KernelConfig& program, const TuningRequest& request, std::vector<KernelConfig>& out);

// Warp tiles and stages of a CUTLASS generator over tiles and depths (in elements).
void add_pipelined(const KernelConfig& tiled, const TuningRequest& request, std::vector<int> stages,
                   std::vector<KernelConfig>& out);

}  // namespace noteg::kernels
