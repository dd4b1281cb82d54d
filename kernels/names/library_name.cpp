#include "kernels/config/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernels/families/family.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "kernels/names/tokens.hpp"

namespace noteg::kernels {
namespace {

using fmt::format;

std::string_view letters_of(Layout layout, bool swapped) {
  for (const std::string_view letters : {"nn", "nt", "tn", "tt"})
    if (layout_from_blas(letters, swapped) == layout) return letters;
  return "nn";
}

std::string pair_of(const KernelConfig& c) { return format("{}x{}", c.tile.n, c.tile.m); }  // the library's M is our N

std::string sliced(const KernelConfig& c) {
  return c.sliced_k.value_or(1) > 1 ? format("_sliced1x{}", *c.sliced_k) : "";
}

char letter_of_sum(DataType acc) { return acc == DataType::f16 ? 'h' : acc == DataType::s32 ? 'i' : 's'; }

std::string instruction_of(const KernelConfig& c) {
  return format("{}168{}gemm", letter_of_sum(c.dtype_acc), c.instruction.k);
}

// fp16, bf16, int8 as cuBLAS writes them.
std::string_view cublas_type(DataType type) {
  switch (type) {
    case DataType::f16: return "fp16";
    case DataType::s8: return "int8";
    case DataType::s32: return "int32";
    default: return kernels::name_of(type);
  }
}

std::string cublas_name(const KernelConfig& c) {
  const std::string_view letters = letters_of(c.layout, true);
  if (!on_tensor_cores(c)) return format("ampere_sgemm_{}{}_{}", pair_of(c), sliced(c), letters);
  const bool half = c.dtype_in == DataType::f16 && c.dtype_acc == DataType::f16 && c.dtype_out == DataType::f16;
  const std::string out = c.dtype_out == c.dtype_acc ? "" : format("{}_", cublas_type(c.dtype_out));
  const std::string in = half ? "" : format("{}_", cublas_type(c.dtype_in));
  return format("ampere_{}{}_{}{}{}_ldg{}_{}stages_{}x{}_{}", out, instruction_of(c), in, pair_of(c), sliced(c),
                c.align_a.value_or(1), out.empty() ? "" : "f2f_", c.tile.k, c.stages.value_or(1), letters);
}

std::string cutlass_name(const KernelConfig& c) {
  const std::string ending = format("{}_{}x{}_{}_align{}", pair_of(c), c.tile.k, c.stages.value_or(1),
                                    letters_of(c.layout, true), c.align_a.value_or(1));
  if (!on_tensor_cores(c)) return "cutlass_80_simt_sgemm_" + ending;
  const std::string out = c.dtype_out == c.dtype_acc ? "" : format("{}_", name_of(c.dtype_out));
  const std::string in = c.dtype_in == DataType::tf32 ? "" : format("{}_", name_of(c.dtype_in));
  return format("cutlass_80_tensorop_{}{}_{}{}", out, instruction_of(c), in, ending);
}

std::string_view xmma_type(DataType type) {
  switch (type) {
    case DataType::f8e4m3: return "e4m3";
    case DataType::f8e5m2: return "e5m2";
    case DataType::s8: return "i8";
    case DataType::s32: return "i32";
    default: return kernels::name_of(type);
  }
}

std::string xmma_name(const KernelConfig& c) {
  const DataType stored = c.dtype_in == DataType::tf32 ? DataType::f32 : c.dtype_in;
  const bool narrow = bytes_of(c.dtype_in) < 2;
  const int bytes = static_cast<int>(c.align_a.value_or(1) * bytes_of(c.dtype_in));  // xmma says where it is not 16
  const std::string unit = !on_tensor_cores(c) ? format("ffma_aligna{}_alignc{}", bytes, 4 * c.align_c.value_or(1))
                                               : format("tensor{}x{}x{}{}", c.instruction.m, c.instruction.n,
                                                        c.instruction.k, bytes == 16 ? "" : format("_aligna{}", bytes));
  return format(
      "sm{}_xmma_gemm_{}{}_{}{}_{}_{}_n_tilesize{}x{}x{}_stage{}_warpsize{}x{}x{}_{}_execute_kernel__5x_cublas",
      narrow ? 89 : 80, xmma_type(stored), xmma_type(c.dtype_out), xmma_type(c.dtype_in), xmma_type(c.dtype_acc),
      xmma_type(c.dtype_acc), letters_of(c.layout, true), c.tile.m, c.tile.n, c.tile.k, c.stages.value_or(1),
      c.tile.m / c.warp_m.value_or(c.tile.m), c.tile.n / c.warp_n.value_or(c.tile.n), c.sliced_k.value_or(1), unit);
}

std::string_view nvjet_types(const KernelConfig& c) {
  const auto is = [&](DataType in, DataType out) { return c.dtype_in == in && c.dtype_out == out; };
  if (c.dtype_acc != DataType::f32) return "";
  if (is(DataType::f16, DataType::f16)) return "hsh";
  if (is(DataType::f16, DataType::f32)) return "hss";
  if (is(DataType::bf16, DataType::bf16)) return "tst";
  if (is(DataType::bf16, DataType::f32)) return "tss";
  if (is(DataType::tf32, DataType::f32)) return "sss_tf32";
  if (is(DataType::f8e4m3, DataType::bf16)) return "qqtst";
  if (is(DataType::f8e4m3, DataType::f16)) return "qqhsh";
  return "";
}

// Empty where the scheme has no word for a part.
std::string nvjet_name(const KernelConfig& c) {
  const std::string_view types = nvjet_types(c);
  if (types.empty() || c.schedule == Schedule::ws || c.sparse || c.swizzle_log2 != nvjet_band_log2) return "";
  const bool second_gives_rows =
      c.instruction.m == 64 &&
      (c.instruction.n == c.tile.n || (c.schedule == Schedule::coop && 2 * c.instruction.n == c.tile.n));
  const bool halves = second_gives_rows ? c.instruction.n != c.tile.n : c.instruction.m != c.tile.m;
  std::string letters(letters_of(c.layout, true));
  std::ranges::transform(letters, letters.begin(),
                         [](char l) { return static_cast<char>(std::toupper(static_cast<unsigned char>(l))); });
  const bool second_kernel = c.split_k > 1 && c.split_k_mode == SplitKMode::parallel;
  return format("nvjet_sm90_{}_{}_{}x{}_{}x{}_{}_{}{}{}{}_{}{}", types, pair_of(c), c.tile.k, c.stages.value_or(1),
                c.cluster_n, c.cluster_m, c.raster == Raster::along_n ? "h" : "v", c.reads_c ? "badd" : "bz",
                c.schedule != Schedule::coop ? ""
                : halves                     ? "_coopB"
                                             : "_coopA",
                second_kernel ? "_splitK" : "", c.bias ? "_bias" : "", letters, second_gives_rows ? "N" : "T");
}

std::string cutlass3_name(const KernelConfig& c) {
  const bool tf32 = c.dtype_in == DataType::tf32;
  const std::string_view in = tf32 ? "f32" : name_of(c.dtype_in);
  const char* schedule = c.schedule == Schedule::coop       ? "_cooperative"
                         : c.schedule == Schedule::pingpong ? "_pingpong"
                                                            : "";
  return format(
      "cutlass3x_sm90_tensorop_{}{}x{}x{}{}gemm_{}_{}_{}_{}_{}_{}x{}x{}_{}x{}x1_{}_{}t_align{}_warpspecialized{}_epi_"
      "tma",
      letter_of_sum(c.dtype_acc), c.instruction.m, c.instruction.n, c.instruction.k, tf32 ? "tf32" : "", in, in,
      name_of(c.dtype_acc), c.reads_c ? name_of(c.dtype_out) : "void", name_of(c.dtype_out), c.tile.m, c.tile.n,
      c.tile.k, c.cluster_m, c.cluster_n, c.stages.value_or(0), letters_of(c.layout, false), c.align_a.value_or(1),
      schedule);
}

// cuBLAS's mma.sync kernels for sm_120; empty where the scheme has no word for the types.
std::string nvjet_mma_name(const KernelConfig& c) {
  const std::string_view types = nvjet_types(c);
  if (types.empty() || !c.warp_m || !c.warp_n || c.swizzle_log2 != nvjet_band_log2) return "";
  std::string letters(letters_of(c.layout, true));
  std::ranges::transform(letters, letters.begin(),
                         [](char l) { return static_cast<char>(std::toupper(static_cast<unsigned char>(l))); });
  return format("nvjet_sm120_{}_mma_{}x{}_{}_{}x{}x{}_tmaAB_{}_{}NN", types, pair_of(c), c.tile.k, c.stages.value_or(1),
                *c.warp_n, *c.warp_m, c.tile.k, c.reads_c ? "badd" : "bz", letters);
}

}  // namespace

// nvjet's words for a kernel of Blackwell; empty types where it has none.
void name_tcgen05(KernelConfig& config) {
  const bool four_bits = config.dtype_in == DataType::nvfp4;
  const bool is_f32 = config.dtype_acc == DataType::f32;
  const std::string_view types = four_bits && is_f32 && config.dtype_out == DataType::bf16  ? "ootst"
                                 : four_bits && is_f32 && config.dtype_out == DataType::f16 ? "oohsh"
                                                                                            : nvjet_types(config);
  const std::optional<MemoryFrame> frame = memory_frame(config);
  if (types.empty() || !frame) {
    config.name = format("tcgen05_{}x{}x{}", config.tile.m, config.tile.n, config.tile.k);
    return;
  }
  std::string letters(letters_of(config.layout, true));
  std::ranges::transform(letters, letters.begin(),
                         [](char l) { return static_cast<char>(std::toupper(static_cast<unsigned char>(l))); });
  const bool second_kernel = config.split_k > 1 && config.split_k_mode == SplitKMode::parallel;
  config.name = format("nvjet_sm100_{}_{}_{}x{}_{}x{}_{}{}_{}{}{}{}_{}{}", types, pair_of(config), config.tile.k,
                       config.stages.value_or(1), config.cluster_n, config.cluster_m, frame->pair ? "2cta_" : "",
                       config.raster == Raster::along_n ? "h" : "v", config.reads_c ? "badd" : "bz",
                       second_kernel ? "_splitK" : "", config.bias ? "_bias" : "",
                       four_bits ? "_Avec16UE4M3_Bvec16UE4M3" : "", letters, frame->rows_along_m ? "N" : "T");
}

void name_wgmma(KernelConfig& config) {
  config.name = config.flavor == Flavor::xmma ? nvjet_name(config) : "";
  if (!config.name.empty() || config.flavor == Flavor::deep_gemm) return;  // profilers print no tile of DeepGEMM's
  config.flavor = Flavor::cutlass;
  config.swizzle_log2 = 0;
  config.name = cutlass3_name(config);
}

bool multiplies_by_warps(const KernelConfig& config) {
  return on_tensor_cores(config) && !copies_in_bulk(config.family);
}

bool is_hopper_nvjet(const KernelConfig& config) {
  return config.family == Family::wgmma && config.flavor == Flavor::xmma;
}

void name_as_library(KernelConfig& config) {
  if (const auto own = family_of(config.family).name_as_library) return own(config);
  switch (config.flavor) {
    case Flavor::generic:
    case Flavor::deep_gemm:
    case Flavor::cutlass: config.name = cutlass_name(config); break;
    case Flavor::cublas: config.name = cublas_name(config); break;
    case Flavor::xmma:
      config.name = on_tensor_cores(config) ? nvjet_mma_name(config) : "";
      if (config.name.empty()) config.name = xmma_name(config);
      break;
  }
}

}  // namespace noteg::kernels
