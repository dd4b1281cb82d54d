// Kernels that profilers print beside GEMMs, or that multiply in a way that this model has not: what they are, and what
// to ask for instead. Names are theirs, so a piece of the name tells.
#include <array>

#include "kernels/names/tokens.hpp"

namespace noteg::kernels::names {
namespace {

struct OtherKernel {
  std::string_view piece;    // of the name
  std::string_view is;       // what it is
  std::string_view instead;  // what this program takes in its place
};

constexpr std::string_view no_gemm = "a GEMM kernel";
constexpr std::string_view by_listing = "a kernel whose name states its tile; compiled kernels run by --sass FILE";

constexpr std::array others{
    OtherKernel{"splitKreduce", "the second pass of a split-K GEMM, which adds its slices",
                "the GEMM's own name with --split-k N --set split_k_mode=parallel, which runs that pass too"},
    OtherKernel{"gemvNSP", "a matrix-vector product", "a GEMM kernel; --kernel auto runs a GEMM of the same shape"},
    OtherKernel{"gemv", "a matrix-vector product", "a GEMM kernel; --kernel auto runs a GEMM of the same shape"},
    OtherKernel{"gemmSN_", "a kernel for few columns whose tile is not in its name",
                "a GEMM kernel that states its tile; --kernel auto runs a GEMM of the same shape"},
    OtherKernel{"gemmk1_", "an outer product, K = 1", "a GEMM kernel; --kernel auto runs a GEMM of the same shape"},
    OtherKernel{"dot_kernel", "a dot product", no_gemm},
    OtherKernel{"implicit_gemm", "a convolution", no_gemm},
    OtherKernel{"cudnn", "a convolution", no_gemm},
    OtherKernel{"fprop", "a convolution", no_gemm},
    OtherKernel{"dgrad", "a convolution's gradient", no_gemm},
    OtherKernel{"wgrad", "a convolution's gradient", no_gemm},
    OtherKernel{"winograd", "a convolution", no_gemm},
    OtherKernel{"convolve", "a convolution", no_gemm},
    OtherKernel{"flash", "an attention kernel", no_gemm},
    OtherKernel{"fmha", "an attention kernel", no_gemm},
    OtherKernel{"attention", "an attention kernel", no_gemm},
    OtherKernel{"elementwise_kernel", "an element by element kernel", no_gemm},
    OtherKernel{"reduce_kernel", "a reduction", no_gemm},
    OtherKernel{"softmax", "a softmax", no_gemm},
    OtherKernel{"norm_kernel", "a normalisation", no_gemm},
    OtherKernel{"Memcpy", "a copy", no_gemm},
    OtherKernel{"Memset", "a fill", no_gemm},
    OtherKernel{"ncclDevKernel", "communication between GPUs", no_gemm},
    OtherKernel{"triton_", "a Triton kernel", by_listing},
    OtherKernel{"device_kernel<", "a template of CUTLASS 3", by_listing},
    OtherKernel{"deep_gemm::", "a DeepGEMM kernel", by_listing},
    OtherKernel{"marlin", "a GEMM of quantised weights", by_listing},
    OtherKernel{"bmm_", "a generated batched GEMM of Blackwell", "a kernel of sm_80 to sm_90"},
    OtherKernel{"maxwell_", "a kernel of GPUs before Volta", "a kernel of sm_80 to sm_90"},
    OtherKernel{"Cijk_", "a kernel of AMD's Tensile", "a kernel of an NVIDIA GPU"},
};

// Names that profilers and scripts cut: ..._s16816g..., ..._stages_
bool is_cut(std::string_view name) { return name.ends_with("...") || name.ends_with("_"); }

}  // namespace

std::optional<Diagnostic> not_a_gemm(std::string_view name) {
  const std::string shown = "\"" + std::string(name.substr(0, 80)) + (name.size() > 80 ? "...\"" : "\"");
  for (const OtherKernel& other : others)
    if (name.find(other.piece) != std::string_view::npos)
      return refused(std::string(other.instead), shown + ", " + std::string(other.is));
  if (is_cut(name)) return refused("a whole kernel name", shown + ", which was cut");
  return std::nullopt;
}

std::span<const std::string_view> well_known_names() {
  static constexpr std::array<std::string_view, 44> known{
      "ampere_sgemm_128x128_nn",
      "ampere_sgemm_128x128_nt",
      "ampere_sgemm_128x128_tn",
      "ampere_sgemm_128x64_nn",
      "ampere_sgemm_128x64_nt",
      "ampere_sgemm_128x64_tn",
      "ampere_sgemm_64x64_nn",
      "ampere_sgemm_64x64_tn",
      "ampere_sgemm_128x32_nn",
      "ampere_sgemm_128x32_tn",
      "ampere_sgemm_32x128_nn",
      "ampere_sgemm_32x128_tn",
      "ampere_sgemm_32x32_sliced1x4_nn",
      "ampere_sgemm_32x32_sliced1x4_tn",
      "ampere_sgemm_64x32_sliced1x4_tn",
      "volta_sgemm_128x64_nn",
      "volta_sgemm_128x64_tn",
      "ampere_h16816gemm_128x128_ldg8_stages_32x5_tn",
      "ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_64x3_tn",
      "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn",
      "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn",
      "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn",
      "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn",
      "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
      "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn",
      "ampere_s16816gemm_bf16_128x64_ldg8_stages_64x4_tn",
      "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn",
      "cutlass_simt_sgemm_128x128_8x4_tn_align1",
      "cutlass_80_simt_sgemm_256x128_8x4_tn_align1",
      "cutlass_80_tensorop_s1688gemm_128x128_16x5_nt_align4",
      "cutlass_80_tensorop_f16_s16816gemm_relu_f16_128x128_32x4_tn_align8",
      "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8",
      "cutlass_80_tensorop_i16832gemm_s8_128x64_128x3_tn_align16",
      "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8",
      "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1",
      "cutlass_tensorop_f16_s16816gemm_f16_128x128_32x4_tn_align8",
      "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_"
      "kernel__"
      "5x_cublas",
      "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_warpsize2x2x1_tensor16x8x16_execute_kernel__5x_"
      "cublas",
      "sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x128x64_stage4_warpsize2x2x1_tensor16x8x32_execute_kernel__"
      "5x_"
      "cublas",
      "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
      "cublas",
      "nvjet_sm90_hsh_128x256_64x4_1x2_h_bz_coopA_TNN",
      "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNN",
      "nvjet_tst_64x8_64x16_4x1_v_bz_TNT",
      "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_warpspecialized_"
      "pingpong_epi_tma",
  };
  return known;
}

}  // namespace noteg::kernels::names
