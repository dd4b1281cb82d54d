#include "sim/tune/menu.hpp"

#include <fmt/format.h>

#include <array>

#include "sim/tune/problem.hpp"

namespace noteg::tune {
namespace {

using kernels::Family;
using kernels::Flavor;

constexpr std::string_view ampere_ada = "sm_80,sm_86,sm_89";
constexpr std::string_view hopper = "sm_90";
constexpr TypeClass f32 = TypeClass::f32;

// Names: kernels of cuBLAS 11 to 13 as profilers print them. cuBLAS sees the transposed problem, so
// ampere_sgemm_128x64 has 64 rows and 128 columns here.
constexpr std::array rows{
    MenuKernel{"ampere_sgemm_128x128", ampere_ada, f32, Family::simt, Flavor::cublas, 128, 128, 8, 2},
    MenuKernel{"ampere_sgemm_128x64", ampere_ada, f32, Family::simt, Flavor::cublas, 64, 128, 8, 2},
    MenuKernel{"ampere_sgemm_64x64", ampere_ada, f32, Family::simt, Flavor::cublas, 64, 64, 8, 2},
    MenuKernel{"ampere_sgemm_128x32", ampere_ada, f32, Family::simt, Flavor::cublas, 32, 128, 8, 2},
    MenuKernel{"ampere_sgemm_32x128", ampere_ada, f32, Family::simt, Flavor::cublas, 128, 32, 8, 2},
    MenuKernel{"ampere_sgemm_128x32_sliced1x4", ampere_ada, f32, Family::simt, Flavor::cublas, 32, 128, 32, 2, 0, 0, 4},
    MenuKernel{"ampere_sgemm_64x32_sliced1x4", ampere_ada, f32, Family::simt, Flavor::cublas, 32, 64, 32, 2, 0, 0, 4},
    MenuKernel{"ampere_sgemm_32x32_sliced1x4", ampere_ada, f32, Family::simt, Flavor::cublas, 32, 32, 32, 2, 0, 0, 4},
    MenuKernel{"cutlass_80_simt_sgemm_256x128_8x4", "sm_80,sm_86,sm_89,sm_90", f32, Family::simt, Flavor::cutlass, 128,
               256, 8, 4},
    MenuKernel{"cutlass_80_simt_sgemm_128x256_8x4", "sm_80,sm_86,sm_89,sm_90", f32, Family::simt, Flavor::cutlass, 256,
               128, 8, 4},
    MenuKernel{"sm80_xmma_gemm_..._tilesize128x128x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 128, 128, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize256x64x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 256, 64, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize64x256x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 64, 256, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize128x64x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 128, 64, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize64x128x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 64, 128, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize64x64x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 64, 64, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize128x32x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 128, 32, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize32x128x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 32, 128, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize64x32x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 64, 32, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize32x64x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 32, 64, 8, 3},
    MenuKernel{"sm80_xmma_gemm_..._tilesize32x32x8_stage3", hopper, f32, Family::simt, Flavor::xmma, 32, 32, 8, 3},
};

bool runs_on(const MenuKernel& row, std::string_view generation) {
  std::string_view rest = row.generations;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == generation) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

kernels::KernelConfig config_of(const MenuKernel& row, const kernels::KernelConfig& frame) {
  kernels::KernelConfig config;
  config.name = row.name;
  config.family = row.family;
  config.flavor = row.flavor;
  config.tile = {row.tile_m, row.tile_n, row.tile_k};
  config.stages = row.stages;
  if (row.sliced_k > 1) config.sliced_k = row.sliced_k;
  if (row.warps_m > 0) {
    config.warp_m = row.tile_m / row.warps_m;
    config.warp_n = row.tile_n / row.warps_n;
  }
  // The library sees C^T = B^T A^T: its fast grid dimension runs along our N.
  config.raster = kernels::Raster::along_n;
  return in_frame(std::move(config), frame);
}

}  // namespace

std::span<const MenuKernel> menu() { return rows; }

std::vector<kernels::KernelConfig> library_kernels(const arch::GpuSpec& gpu, const kernels::KernelConfig& frame) {
  const TypeClass wanted = wants_tensor_cores(frame.dtype_in) ? TypeClass::tensor : TypeClass::f32;
  std::vector<kernels::KernelConfig> out;
  for (const MenuKernel& row : rows)
    if (row.types == wanted && runs_on(row, gpu.sm.name)) out.push_back(config_of(row, frame));
  return out;
}

std::string menu_reference() {
  std::string text =
      "# Library kernels\n\n"
      "The menu from which `--kernel auto` chooses ([tune.md](tune.md)): kernels of cuBLAS 11 to 13 by the names that "
      "profilers\nprint. This page is written by the program from `sim/tune/menu.cpp`; run `NOTEG_UPDATE_GENERATED=1 "
      "test_tune` after a\nchange. Tiles are ours, M x N x K of the row-major problem: the library computes the "
      "transposed one, so its\n`ampere_sgemm_128x64` has 64 rows here. Depths of tensor kernels are those for 16-bit "
      "operands; the bytes of a row stay.\n\n"
      "| kernel | generations | operands | family | tile | stages | K slices in a CTA |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const MenuKernel& row : rows)
    text += fmt::format("| `{}` | {} | {} | {}, {} | {}x{}x{} | {} | {} |\n", row.name, row.generations,
                        row.types == TypeClass::f32 ? "f32" : "tensor", name_of(row.family), name_of(row.flavor),
                        row.tile_m, row.tile_n, row.tile_k, row.stages > 0 ? std::to_string(row.stages) : "as fit",
                        row.sliced_k);
  return text;
}

}  // namespace noteg::tune
