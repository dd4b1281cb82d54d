#include "sim/tune/catalogue.hpp"

#include <fmt/format.h>

#include <array>

#include "kernels/config/config_file.hpp"
#include "kernels/families/family.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {

namespace {

using kernels::Family;
using kernels::Flavor;

constexpr std::string_view ampere_ada = "sm_80,sm_86,sm_89";
constexpr std::string_view hopper = "sm_90";
constexpr std::string_view blackwell = "sm_100,sm_103";         // of data centres: tensor memory
constexpr std::string_view small_blackwell = "sm_120,sm_121";   // of desktops and workstations: mma.sync
constexpr std::string_view ada_floats = "sm_89,sm_120,sm_121";  // whose 8-bit floats have kernels of Ada
constexpr std::string_view cp_async = "sm_80,sm_86,sm_89,sm_90,sm_120,sm_121";  // 16-bit and narrower mma kernels
constexpr std::string_view later_f32 = "sm_90,sm_100,sm_103,sm_120,sm_121";     // built on cp.async since cuBLAS 12
constexpr TypeClass f32 = TypeClass::f32;
constexpr TypeClass tensor = TypeClass::tensor;

// On Hopper, from profiles of our H100 and public ones. Such a name says all that a row says.
constexpr CatalogueKernel nvjet(std::string_view name) {
  CatalogueKernel row{name, hopper, tensor, Family::wgmma, Flavor::xmma};
  row.age = Age::since_nvjet;
  return row;
}

// Names: kernels of cuBLAS 11 to 13 as profilers print them. cuBLAS sees the transposed problem, so
// ampere_sgemm_128x64 has 64 rows and 128 columns here.
constexpr std::array rows{
    CatalogueKernel{"ampere_sgemm_128x128", ampere_ada, f32, Family::simt, Flavor::cublas, 128, 128, 8, 2},
    CatalogueKernel{"ampere_sgemm_128x64", ampere_ada, f32, Family::simt, Flavor::cublas, 64, 128, 8, 2},
    CatalogueKernel{"ampere_sgemm_64x64", ampere_ada, f32, Family::simt, Flavor::cublas, 64, 64, 8, 2},
    CatalogueKernel{"ampere_sgemm_128x32", ampere_ada, f32, Family::simt, Flavor::cublas, 32, 128, 8, 2},
    CatalogueKernel{"ampere_sgemm_32x128", ampere_ada, f32, Family::simt, Flavor::cublas, 128, 32, 8, 2},
    CatalogueKernel{"ampere_sgemm_128x32_sliced1x4", ampere_ada, f32, Family::simt, Flavor::cublas, 32, 128, 32, 2, 0,
                    0, 4},
    CatalogueKernel{"ampere_sgemm_64x32_sliced1x4", ampere_ada, f32, Family::simt, Flavor::cublas, 32, 64, 32, 2, 0, 0,
                    4},
    CatalogueKernel{"ampere_sgemm_32x32_sliced1x4", ampere_ada, f32, Family::simt, Flavor::cublas, 32, 32, 32, 2, 0, 0,
                    4},
    CatalogueKernel{"cutlass_80_simt_sgemm_256x128_8x4", "sm_80,sm_86,sm_89,sm_90,sm_100,sm_103,sm_120,sm_121", f32,
                    Family::simt, Flavor::cutlass, 128, 256, 8, 4},
    CatalogueKernel{"cutlass_80_simt_sgemm_128x256_8x4", "sm_80,sm_86,sm_89,sm_90,sm_100,sm_103,sm_120,sm_121", f32,
                    Family::simt, Flavor::cutlass, 256, 128, 8, 4},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize128x128x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 128, 128,
                    8, 3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize256x64x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 256, 64,
                    8, 3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize64x256x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 64, 256,
                    8, 3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize128x64x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 128, 64,
                    8, 3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize64x128x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 64, 128,
                    8, 3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize64x64x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 64, 64, 8,
                    3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize128x32x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 128, 32,
                    8, 3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize32x128x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 32, 128,
                    8, 3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize64x32x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 64, 32, 8,
                    3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize32x64x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 32, 64, 8,
                    3},
    CatalogueKernel{"sm80_xmma_gemm_..._tilesize32x32x8_stage3", later_f32, f32, Family::simt, Flavor::xmma, 32, 32, 8,
                    3},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_32x3", cp_async, tensor, Family::mma,
                    Flavor::cublas, 128, 256, 32, 3, 2, 4, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_128x256_ldg8_f2f_stages_32x3", cp_async, tensor, Family::mma,
                    Flavor::cublas, 256, 128, 32, 3, 4, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_64x3", cp_async, tensor, Family::mma,
                    Flavor::cublas, 128, 256, 64, 3, 2, 4, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_128x256_ldg8_f2f_stages_64x3", cp_async, tensor, Family::mma,
                    Flavor::cublas, 256, 128, 64, 3, 4, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5", cp_async, tensor, Family::mma,
                    Flavor::cublas, 128, 128, 32, 5, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3", cp_async, tensor, Family::mma,
                    Flavor::cublas, 128, 128, 64, 3, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x4", cp_async, tensor, Family::mma,
                    Flavor::cublas, 128, 128, 64, 4, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_256x64_ldg8_f2f_stages_32x4", cp_async, tensor, Family::mma,
                    Flavor::cublas, 64, 256, 32, 4, 1, 4, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_64x256_ldg8_f2f_stages_32x4", cp_async, tensor, Family::mma,
                    Flavor::cublas, 256, 64, 32, 4, 4, 1, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6", cp_async, tensor, Family::mma,
                    Flavor::cublas, 64, 128, 32, 6, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_64x128_ldg8_f2f_stages_32x6", cp_async, tensor, Family::mma,
                    Flavor::cublas, 128, 64, 32, 6, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3", cp_async, tensor, Family::mma,
                    Flavor::cublas, 64, 128, 64, 3, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_64x128_ldg8_f2f_stages_64x3", cp_async, tensor, Family::mma,
                    Flavor::cublas, 128, 64, 64, 3, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4", cp_async, tensor, Family::mma,
                    Flavor::cublas, 64, 128, 64, 4, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_64x128_ldg8_f2f_stages_64x4", cp_async, tensor, Family::mma,
                    Flavor::cublas, 128, 64, 64, 4, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_32x6", cp_async, tensor, Family::mma,
                    Flavor::cublas, 64, 64, 32, 6, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5", cp_async, tensor, Family::mma,
                    Flavor::cublas, 64, 64, 64, 5, 2, 2, 1},
    CatalogueKernel{"ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5", cp_async, tensor, Family::mma,
                    Flavor::cublas, 64, 64, 64, 5, 2, 2, 2},
    CatalogueKernel{"sm80_xmma_gemm_f16f16_f16f32_f16_..._tilesize64x32x64_stage5", cp_async, tensor, Family::mma,
                    Flavor::xmma, 64, 32, 64, 5, 2, 2, 1},
    CatalogueKernel{"sm80_xmma_gemm_f16f16_f16f32_f16_..._tilesize32x64x64_stage5", cp_async, tensor, Family::mma,
                    Flavor::xmma, 32, 64, 64, 5, 2, 2, 1},
    CatalogueKernel{"sm80_xmma_gemm_f16f16_f16f32_f16_..._tilesize32x32x64_stage6", cp_async, tensor, Family::mma,
                    Flavor::xmma, 32, 32, 64, 6, 2, 2, 1},
    CatalogueKernel{"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_..._tilesize256x64x64_stage4", ada_floats, tensor, Family::mma,
                    Flavor::xmma, 256, 64, 32, 4, 4, 1},
    CatalogueKernel{"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_..._tilesize128x128x64_stage3", ada_floats, tensor,
                    Family::mma, Flavor::xmma, 128, 128, 32, 3, 2, 2},
    CatalogueKernel{"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_..._tilesize64x128x64_stage4", ada_floats, tensor, Family::mma,
                    Flavor::xmma, 64, 128, 32, 4, 2, 2},
    CatalogueKernel{"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_..._tilesize128x64x64_stage4", ada_floats, tensor, Family::mma,
                    Flavor::xmma, 128, 64, 32, 4, 2, 2},
    CatalogueKernel{"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_..._tilesize64x64x64_stage4", ada_floats, tensor, Family::mma,
                    Flavor::xmma, 64, 64, 32, 4, 2, 2},
    CatalogueKernel{"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_..._tilesize32x64x64_stage4", ada_floats, tensor, Family::mma,
                    Flavor::xmma, 32, 64, 32, 4, 2, 2},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._64x64x64_1x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 64,
                    64, 64, 0, 0, 0, 1, 1, 1, "ws"},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._64x128x64_1x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 64,
                    128, 64, 0, 0, 0, 1, 1, 1, "ws"},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._64x128x64_1x2x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 64,
                    128, 64, 0, 0, 0, 1, 1, 2, "ws"},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._64x256x64_1x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 64,
                    256, 64, 0, 0, 0, 1, 1, 1, "ws"},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._64x192x64_1x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 64,
                    192, 64, 0, 0, 0, 1, 1, 1, "ws", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x64x64_2x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    64, 64, 0, 0, 0, 1, 2, 1, "pingpong", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x128x64_1x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    128, 64, 0, 0, 0, 1, 1, 1, "pingpong", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x128x64_2x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    128, 64, 0, 0, 0, 1, 2, 1, "pingpong", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x128x64_1x2x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    128, 64, 0, 0, 0, 1, 1, 2, "pingpong", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x128x64_2x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    128, 64, 0, 0, 0, 1, 2, 1, "coop", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x192x64_2x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    192, 64, 0, 0, 0, 1, 2, 1, "coop", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x192x64_1x2x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    192, 64, 0, 0, 0, 1, 1, 2, "coop", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x256x64_2x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    256, 64, 0, 0, 0, 1, 2, 1, "coop"},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x256x64_1x2x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    256, 64, 0, 0, 0, 1, 1, 2, "coop"},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._256x128x64_2x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 256,
                    128, 64, 0, 0, 0, 1, 2, 1, "coop"},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._256x128x64_1x2x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 256,
                    128, 64, 0, 0, 0, 1, 1, 2, "coop"},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._256x192x64_2x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 256,
                    192, 64, 0, 0, 0, 1, 2, 1, "coop", Age::since_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x128x64_1x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    128, 64, 0, 0, 0, 1, 1, 1, "ws", Age::before_nvjet},
    CatalogueKernel{"cutlass3x_sm90_tensorop_..._128x64x64_1x1x1", hopper, tensor, Family::wgmma, Flavor::cutlass, 128,
                    64, 64, 0, 0, 0, 1, 1, 1, "ws", Age::before_nvjet},
    nvjet("nvjet_sm90_hsh_320x128_64x3_1x2_h_bz_coopB_TNT"),
    nvjet("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_TNT"),
    nvjet("nvjet_sm90_hsh_128x256_64x4_2x1_v_bz_coopA_TNN"),
    nvjet("nvjet_sm90_hsh_192x192_64x4_2x1_v_bz_coopB_TNN"),
    nvjet("nvjet_sm90_hsh_160x256_64x4_2x1_v_bz_coopA_TNN"),
    nvjet("nvjet_sm90_hsh_192x128_64x5_1x2_h_bz_coopB_TNT"),
    nvjet("nvjet_sm90_hsh_128x192_64x5_2x1_v_bz_coopB_TNN"),
    nvjet("nvjet_sm90_hsh_176x128_64x5_1x2_h_bz_TNN"),
    nvjet("nvjet_sm90_hsh_168x128_64x5_1x2_h_bz_TNN"),
    nvjet("nvjet_sm90_hsh_128x160_64x5_2x1_v_bz_TNT"),
    nvjet("nvjet_sm90_hsh_144x128_64x6_1x2_h_bz_TNN"),
    nvjet("nvjet_sm90_hsh_144x128_64x6_2x1_v_bz_TNN"),
    nvjet("nvjet_sm90_hsh_128x128_64x6_1x2_h_bz_TNT"),
    nvjet("nvjet_sm90_hsh_128x128_64x6_2x1_v_bz_TNT"),
    nvjet("nvjet_sm90_hsh_112x128_64x7_1x2_h_bz_TNN"),
    nvjet("nvjet_sm90_hsh_112x128_64x7_2x1_v_bz_TNN"),
    nvjet("nvjet_sm90_hsh_96x128_64x7_2x1_v_bz_TNN"),
    nvjet("nvjet_sm90_hsh_128x96_64x7_1x2_h_bz_TNT"),
    nvjet("nvjet_sm90_hsh_80x128_64x8_2x1_v_bz_TNN"),
    nvjet("nvjet_sm90_hsh_72x128_64x8_2x1_v_bz_TNN"),
    nvjet("nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_TNT"),
    nvjet("nvjet_sm90_hsh_64x128_64x8_2x1_v_bz_TNN"),
    nvjet("nvjet_sm90_hsh_112x64_64x9_2x1_v_bz_TNN"),
    nvjet("nvjet_sm90_hsh_96x64_64x10_1x2_h_bz_TNN"),
    nvjet("nvjet_sm90_hsh_64x64_64x13_1x2_h_bz_TNT"),
    nvjet("nvjet_sm90_hsh_64x64_64x13_2x1_v_bz_TNT"),
    nvjet("nvjet_sm90_hsh_64x48_64x15_2x1_v_bz_TNT"),
    nvjet("nvjet_sm90_hsh_64x32_64x16_2x1_v_bz_TNT"),
    nvjet("nvjet_sm90_hsh_128x16_64x11_4x1_v_bz_TNT"),
    nvjet("nvjet_sm90_hsh_64x16_64x16_2x1_v_bz_TNT"),
    nvjet("nvjet_sm90_hsh_128x8_64x12_4x1_v_bz_TNT"),
    nvjet("nvjet_sm90_hsh_64x8_64x16_1x2_h_bz_TNT"),
    CatalogueKernel{"nvjet_sm100_tst_128x256_64_2x1_2cta_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma,
                    256, 128, 64, 0, 0, 0, 1, 1, 2},
    CatalogueKernel{"nvjet_sm100_tst_256x128_64_1x2_2cta_h_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma,
                    128, 256, 64, 0, 0, 0, 1, 2, 1},
    CatalogueKernel{"nvjet_sm100_tst_128x192_64_2x1_2cta_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma,
                    192, 128, 64, 0, 0, 0, 1, 1, 2},
    CatalogueKernel{"nvjet_sm100_tst_192x128_64_1x2_2cta_h_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma,
                    128, 192, 64, 0, 0, 0, 1, 2, 1},
    CatalogueKernel{"nvjet_sm100_tst_176x128_64_1x2_2cta_h_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma,
                    128, 176, 64, 0, 0, 0, 1, 2, 1},
    CatalogueKernel{"nvjet_sm100_tst_128x128_64_2x1_2cta_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma,
                    128, 128, 64, 0, 0, 0, 1, 1, 2},
    CatalogueKernel{"nvjet_sm100_tst_128x128_64_1x2_2cta_h_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma,
                    128, 128, 64, 0, 0, 0, 1, 2, 1},
    CatalogueKernel{"nvjet_sm100_tst_128x64_64_2x1_2cta_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 64,
                    128, 64, 0, 0, 0, 1, 1, 2},
    CatalogueKernel{"nvjet_sm100_tst_64x128_64_1x2_2cta_h_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma,
                    128, 64, 64, 0, 0, 0, 1, 2, 1},
    CatalogueKernel{"nvjet_sm100_tst_128x256_64_1x2_h_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 256,
                    128, 64, 0, 0, 0, 1, 2, 1},
    CatalogueKernel{"nvjet_sm100_tst_256x128_64_2x1_v_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma, 128,
                    256, 64, 0, 0, 0, 1, 1, 2},
    CatalogueKernel{"nvjet_sm100_tst_128x128_64_1x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 128,
                    128, 64, 0, 0, 0, 1, 1, 1},
    CatalogueKernel{"nvjet_sm100_tst_128x64_64_1x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 64, 128,
                    64, 0, 0, 0, 1, 1, 1},
    CatalogueKernel{"nvjet_sm100_tst_64x128_64_1x1_v_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma, 128, 64,
                    64, 0, 0, 0, 1, 1, 1},
    CatalogueKernel{"nvjet_sm100_tst_128x32_64_1x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 32, 128,
                    64, 0, 0, 0, 1, 1, 1},
    CatalogueKernel{"nvjet_sm100_tst_128x16_64_1x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 16, 128,
                    64, 0, 0, 0, 1, 1, 1},
    CatalogueKernel{"nvjet_sm100_tst_128x8_64_1x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 8, 128,
                    64, 0, 0, 0, 1, 1, 1},
    CatalogueKernel{"nvjet_sm100_tst_32x128_64_1x1_v_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma, 128, 32,
                    64, 0, 0, 0, 1, 1, 1},
    CatalogueKernel{"nvjet_sm100_tst_64x64_64_2x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 64, 64,
                    64, 0, 0, 0, 1, 1, 2},
    CatalogueKernel{"nvjet_sm100_tst_64x32_64_2x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 32, 64,
                    64, 0, 0, 0, 1, 1, 2},
    CatalogueKernel{"nvjet_sm100_tst_64x16_64_4x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 16, 64,
                    64, 0, 0, 0, 1, 1, 4},
    CatalogueKernel{"nvjet_sm100_tst_64x8_64_4x1_v_bz_TNT", blackwell, tensor, Family::tcgen05, Flavor::xmma, 8, 64, 64,
                    0, 0, 0, 1, 1, 4},
    CatalogueKernel{"nvjet_sm100_tst_32x64_64_4x1_v_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma, 64, 32,
                    64, 0, 0, 0, 1, 1, 4},
    CatalogueKernel{"nvjet_sm100_tst_24x64_64_4x1_v_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma, 64, 24,
                    64, 0, 0, 0, 1, 1, 4},
    CatalogueKernel{"nvjet_sm100_tst_16x64_64_4x1_v_bz_TNN", blackwell, tensor, Family::tcgen05, Flavor::xmma, 64, 16,
                    64, 0, 0, 0, 1, 1, 4},
    CatalogueKernel{"nvjet_sm120_tst_mma_128x256x32_4_64x64x32_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 256, 128, 32, 4, 4, 2},
    CatalogueKernel{"nvjet_sm120_tst_mma_256x128x32_4_64x64x32_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 128, 256, 32, 4, 2, 4},
    CatalogueKernel{"nvjet_sm120_tst_mma_128x128x64_3_64x64x64_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 128, 128, 64, 3, 2, 2},
    CatalogueKernel{"nvjet_sm120_tst_mma_128x128x32_6_64x64x32_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 128, 128, 32, 6, 2, 2},
    CatalogueKernel{"nvjet_sm120_tst_mma_64x128x64_4_32x64x64_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 128, 64, 64, 4, 2, 2},
    CatalogueKernel{"nvjet_sm120_tst_mma_128x64x64_4_64x32x64_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 64, 128, 64, 4, 2, 2},
    CatalogueKernel{"nvjet_sm120_tst_mma_64x64x64_6_32x32x64_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 64, 64, 64, 6, 2, 2},
    CatalogueKernel{"nvjet_sm120_tst_mma_64x32x64_8_16x32x64_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 32, 64, 64, 8, 1, 4},
    CatalogueKernel{"nvjet_sm120_tst_mma_32x64x64_8_32x16x64_tmaAB_bz_TNNN", small_blackwell, tensor, Family::mma,
                    Flavor::xmma, 64, 32, 64, 8, 4, 1},
};

bool runs_on(std::string_view rest, std::string_view generation) {
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == generation) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

// Libraries and plugins multiply s8 on Hopper with the kernels of Ampere (H200M: cuBLAS runs
// cutlass_80_tensorop_i16832gemm_s8 kernels only).
bool is_left_to_mma(const CatalogueKernel& row, kernels::DataType type) {
  return family_of(row.family).traits.needs == kernels::Needs::warpgroup_products && type == kernels::DataType::s8;
}

// Tiles of 8-bit floats on Ada and on small Blackwells, as public profiles name them: none is larger than 128x128.
bool is_of_ada_floats(const CatalogueKernel& row) { return row.name.starts_with("sm89_xmma_gemm_e4m3"); }

bool is_named_wholly(const CatalogueKernel& row) { return row.name.starts_with("nvjet_sm90"); }

// Warps that slice the tile's K are a matter of cuBLAS's own 16-bit kernels. Where these add in FP32 Hopper has nvjet
// since there is one; for other types CUTLASS's kernels stand here.
bool suits(const CatalogueKernel& row, std::string_view generation, const kernels::KernelConfig& frame,
           bool before_nvjet) {
  if (row.types != TypeClass::tensor) return true;
  if (runs_on(ada_floats, generation) && is_of_ada_floats(row) != kernels::is_float8(frame.dtype_in)) return false;
  const bool of_16_bits = kernels::bytes_of(frame.dtype_in) == 2;
  const bool has_nvjet = of_16_bits && frame.dtype_acc != kernels::DataType::f16 && !before_nvjet;
  if (row.sliced_k > 1 && !of_16_bits) return false;
  return row.generations != hopper || is_named_wholly(row) == has_nvjet;
}

kernels::KernelConfig config_of(const CatalogueKernel& row, const kernels::KernelConfig& frame) {
  if (is_named_wholly(row)) return in_frame(*kernels::config_from_name(row.name), frame);
  kernels::KernelConfig config;
  config.name = row.name;
  config.family = row.family;
  config.flavor = row.flavor;
  config.tile = {row.tile_m, row.tile_n, row.tile_k};
  // Rows of the table are for operands of two bytes; narrower ones are deeper. Of other types cuBLAS brings no
  // hand-scheduled kernels: 8-bit floats are xmma's, the rest CUTLASS's (H200M: s8 and tf32).
  if (row.types == TypeClass::tensor) {
    config.tile.k = static_cast<int>(row.tile_k * 2 / kernels::bytes_of(frame.dtype_in));
    if (row.flavor == Flavor::cublas && kernels::bytes_of(frame.dtype_in) != 2)
      config.flavor = kernels::is_float8(frame.dtype_in) ? Flavor::xmma : Flavor::cutlass;
  }
  if (row.stages > 0) config.stages = row.stages;
  config.cluster_m = row.cluster_m;
  config.cluster_n = row.cluster_n;
  if (!row.schedule.empty()) config.schedule = kernels::schedule_from(row.schedule);
  if (row.sliced_k > 1) config.sliced_k = row.sliced_k;
  if (row.warps_m > 0) {
    config.warp_m = row.tile_m / row.warps_m;
    config.warp_n = row.tile_n / row.warps_n;
  }
  // Names with 2cta: the pair shares the rows of its products, which lie along the cluster's longer side.
  if (multiplies_in_tensor_memory(config)) {
    const bool pair = row.name.find("_2cta_") != std::string_view::npos, rows_along_n = row.name.ends_with('T');
    const int depth = static_cast<int>(32 / kernels::bytes_of(frame.dtype_in));
    config.instruction = {row.tile_m * (pair && !rows_along_n ? 2 : 1), row.tile_n * (pair && rows_along_n ? 2 : 1),
                          depth};
  }
  // The library sees C^T = B^T A^T: its fast grid dimension runs along our N, in xmma kernels along our M (NeuSight).
  // Kernels of bulk copies are named for either order: the shorter side is walked first.
  if (row.name.starts_with("nvjet"))
    config.swizzle_log2 = kernels::nvjet_band_log2;
  else if (kernels::multiplies_by_warps(config))
    config.swizzle_log2 = kernels::cta_swizzle_log2;
  const bool along_m = kernels::copies_in_bulk(row.family) || config.flavor == Flavor::xmma;
  config.raster = along_m ? kernels::Raster::along_m : kernels::Raster::along_n;
  return in_frame(std::move(config), frame);
}

}  // namespace

std::span<const CatalogueKernel> catalogue() { return rows; }

std::vector<kernels::KernelConfig> library_kernels(const arch::GpuSpec& gpu, const kernels::KernelConfig& frame,
                                                   bool before_nvjet) {
  const Age other_age = before_nvjet ? Age::since_nvjet : Age::before_nvjet;
  const TypeClass wanted = wants_tensor_cores(frame.dtype_in) ? TypeClass::tensor : TypeClass::f32;
  std::vector<kernels::KernelConfig> out;
  for (const CatalogueKernel& row : rows)
    if (row.types == wanted && row.age != other_age && runs_on(row.generations, gpu.sm.name) &&
        !is_left_to_mma(row, frame.dtype_in) && suits(row, gpu.sm.name, frame, before_nvjet))
      out.push_back(config_of(row, frame));
  return out;
}

std::string catalogue_reference() {
  std::string text =
      "# Library kernels\n\n"
      "The catalogue from which `--kernel auto` chooses ([tune.md](../tune.md)): kernels of cuBLAS 11 to 13 as their "
      "names "
      "begin; those\nof Hopper that profilers print as `sm90_xmma_gemm` stand here in CUTLASS 3's spelling, which also "
      "says cluster and schedule.\nThe chosen kernel is printed by its whole name, with types and layout, and "
      "`--kernel-name` takes that\n([kernel-names.md](kernel-names.md)). This page is written by the program from "
      "`sim/tune/catalogue.cpp`; run `NOTEG_UPDATE_GENERATED=1 "
      "test_tune` after a\nchange. Tiles are ours, M x N x K of the row-major problem: the library computes the "
      "transposed one, so its\n`ampere_sgemm_128x64` has 64 rows here. Depths of tensor kernels are those for 16-bit "
      "operands; the bytes of a row stay.\n\n"
      "| kernel | generations | operands | family | tile | stages | K slices in a CTA |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const CatalogueKernel& row : rows) {
    kernels::KernelConfig frame;
    frame.dtype_in = row.types == TypeClass::f32 ? kernels::DataType::f32 : kernels::DataType::f16;
    const kernels::KernelConfig kernel = config_of(row, frame);
    text += fmt::format("| `{}` | {} | {} | {}, {} | {}x{}x{} | {} | {} |\n", row.name, row.generations,
                        row.types == TypeClass::f32 ? "f32" : "tensor", name_of(row.family), name_of(row.flavor),
                        kernel.tile.m, kernel.tile.n, kernel.tile.k,
                        kernel.stages ? std::to_string(*kernel.stages) : "as fit", kernel.sliced_k.value_or(1));
  }
  return text;
}

}  // namespace noteg::tune
