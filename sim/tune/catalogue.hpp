// The kernels that a library ships for a generation, as far as their names are public: --kernel auto chooses among
// them as the library's heuristics would, the fastest predicted one. docs/reference/library-catalogue.md prints this
// table.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "kernels/families/family.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {

// Which operand types a kernel of the catalogue takes.
enum class TypeClass : std::uint8_t { f32, tensor };

// Hopper's kernels of cuBLAS changed with nvjet: before, those whose names begin with sm90_xmma. Which release of
// PyTorch brought which is not stated in a source that we know.
enum class Age : std::uint8_t { any, before_nvjet, since_nvjet };

struct CatalogueKernel {
  std::string_view name;         // as the library's names begin; tiles are ours (M x N of the row-major problem)
  std::string_view generations;  // sm_80,sm_86 ...
  TypeClass types = TypeClass::f32;
  kernels::Family family = kernels::Family::simt;
  kernels::Flavor flavor = kernels::Flavor::cublas;
  int tile_m = 0, tile_n = 0;
  int tile_k = 0;  // elements of four bytes (f32), of two bytes (tensor): bytes per row stay
  int stages = 0;
  int warps_m = 0, warps_n = 0;  // 0: as the family fills it
  int sliced_k = 1;
  int cluster_m = 1, cluster_n = 1;
  std::string_view schedule = "";  // of wgmma kernels
  Age age = Age::any;
};

[[nodiscard]] std::span<const CatalogueKernel> catalogue();

// The kernels of the catalogue for a GPU's generation and the frame's types, in the order of the table, not resolved.
[[nodiscard]] std::vector<kernels::KernelConfig> library_kernels(const arch::GpuSpec& gpu,
                                                                 const kernels::KernelConfig& frame,
                                                                 bool before_nvjet = false);

// The page docs/reference/library-catalogue.md, as Markdown.
[[nodiscard]] std::string catalogue_reference();

// --kernel auto: the kernel that a good library would run. Of the generation's catalogue, each with the numbers of K
// slices that make sense, the fastest by pilot runs.

using kernels::slice_counts;

// Catalogue kernels with their slices, not resolved.
[[nodiscard]] std::vector<kernels::KernelConfig> library_choices(const arch::GpuSpec& gpu, const Problem& problem,
                                                                 gpu::Library library = gpu::Library::cublas);

// Chooses kernels, and remembers the engine runs that choices share. Safe for many threads; what it remembers never
// shows in a choice.
class KernelChooser {
 public:
  // Error: no kernel of the catalogue runs this problem on this GPU.
  [[nodiscard]] Result<kernels::KernelConfig> best(const arch::GpuSpec& gpu, const Problem& problem,
                                                   const gpu::SimOptions& sim);

 private:
  gpu::SmCache cache_;
};

}  // namespace noteg::tune
