#include "kernels/families/rules.hpp"

#include <array>

namespace noteg::kernels {
namespace {

constexpr Family blocked = Family::blocked;
constexpr Family simt = Family::simt;
constexpr Flavor generic = Flavor::generic;
constexpr Flavor cutlass = Flavor::cutlass;
constexpr Flavor cublas = Flavor::cublas;
constexpr Flavor xmma = Flavor::xmma;

// Blocked and CUTLASS rows: the H200 measurements (CUDA 13, compiled for sm_90a). cuBLAS and xmma rows: function
// attributes of the kernels in cuBLAS 13 (sm_80 and sm_90 code), threads as launched in the NeuSight traces;
// cuBLAS sees the transposed problem, so ampere_sgemm_128x64 stands here as 64 x 128.
constexpr std::array known_kernels{
    // family, flavor, m, n, k, stages, sliced_k, thread_m, k_contiguous, threads, registers, shared_bytes
    KnownKernel{blocked, generic, 128, 128, 8, 1, 1, 8, any, 256, 119, any},
    KnownKernel{blocked, generic, 128, 128, 8, 2, 1, 8, any, 256, 127, any},
    KnownKernel{blocked, generic, 64, 64, 8, 1, 1, 8, any, 64, 141, any},
    KnownKernel{blocked, generic, 64, 64, 8, 2, 1, 8, any, 64, 137, any},
    KnownKernel{blocked, generic, 64, 64, 16, any, 1, 4, any, 256, 64, any},
    KnownKernel{blocked, generic, 128, 64, 16, 1, 1, 8, any, 256, 80, any},
    KnownKernel{blocked, generic, 128, 64, 16, 2, 1, 8, any, 256, 87, any},
    KnownKernel{blocked, generic, 32, 32, 16, 1, 1, 4, any, 64, 64, any},
    KnownKernel{blocked, generic, 128, 128, 16, 2, 1, 8, any, 256, 129, any},

    KnownKernel{simt, cutlass, 128, 128, 8, 2, 1, 8, 1, 256, 137, any},
    KnownKernel{simt, cutlass, 128, 128, 8, 3, 1, 8, 2, 256, 108, any},
    KnownKernel{simt, cutlass, 128, 128, 8, 4, 1, 8, 2, 256, 128, any},
    KnownKernel{simt, cutlass, 128, 128, 8, 4, 1, 8, 1, 256, 132, any},
    KnownKernel{simt, cutlass, 128, 128, 8, 5, 1, 8, 2, 256, 108, any},
    KnownKernel{simt, cutlass, 128, 64, 8, 4, 1, any, any, 128, 128, any},
    KnownKernel{simt, cutlass, 64, 128, 8, 4, 1, 8, 2, 128, 106, any},
    KnownKernel{simt, cutlass, 64, 128, 8, 4, 1, 8, 1, 128, 137, any},
    KnownKernel{simt, cutlass, 64, 64, 8, 4, 1, 8, 2, 64, 135, any},
    KnownKernel{simt, cutlass, 64, 64, 8, any, 1, 8, 1, 64, 138, any},
    KnownKernel{simt, cutlass, 128, 32, 8, 4, 1, any, 2, 64, 128, any},
    KnownKernel{simt, cutlass, 128, 32, 8, 4, 1, any, 1, 64, 130, any},
    KnownKernel{simt, cutlass, 32, 128, 8, 4, 1, 8, 2, 64, 128, any},
    KnownKernel{simt, cutlass, 32, 128, 8, 4, 1, 8, 1, 64, 130, any},
    KnownKernel{simt, cutlass, 256, 128, 8, 4, 1, 16, any, 256, 254, any},
    KnownKernel{simt, cutlass, 32, 128, 8, 5, 1, any, any, 128, any, any},  // cutlass_80_..._128x32_8x5

    KnownKernel{simt, cublas, 128, 128, 8, 2, 1, any, any, 256, 118, any},
    KnownKernel{simt, cublas, 64, 128, 8, 2, 1, any, any, 128, 122, any},
    KnownKernel{simt, cublas, 64, 64, 8, 2, 1, any, any, 64, 126, any},
    KnownKernel{simt, cublas, 32, 128, 8, 2, 1, any, any, 256, 57, 16384},
    KnownKernel{simt, cublas, 128, 32, 8, 2, 1, any, any, 256, 57, 16384},
    KnownKernel{simt, cublas, 32, 128, 32, 2, 4, any, any, 256, 134, any},
    KnownKernel{simt, cublas, 32, 64, 32, 2, 4, any, any, 256, 82, any},
    KnownKernel{simt, cublas, 32, 32, 32, 2, 4, any, 0, 128, 86, 16384},
    KnownKernel{simt, cublas, 32, 32, 32, 2, 4, any, any, 128, 86, 32768},

    KnownKernel{simt, xmma, 128, 128, 8, 3, 1, any, 1, 128, 254, any},
    KnownKernel{simt, xmma, 128, 128, 8, 3, 1, any, 2, 128, 255, any},
    KnownKernel{simt, xmma, 128, 64, 8, 3, 1, any, 1, 128, 224, any},
    KnownKernel{simt, xmma, 128, 64, 8, 3, 1, any, 2, 128, 218, any},
    KnownKernel{simt, xmma, 128, 32, 8, 3, 1, any, 1, 128, 118, any},
    KnownKernel{simt, xmma, 128, 32, 8, 3, 1, any, 2, 128, 126, any},
    KnownKernel{simt, xmma, 256, 64, 8, 3, 1, any, any, 128, 255, any},
    KnownKernel{simt, xmma, 64, 256, 8, 3, 1, any, any, 128, 255, any},
    KnownKernel{simt, xmma, 128, 256, 8, 3, 1, any, any, 256, 255, any},
    KnownKernel{simt, xmma, 256, 128, 8, 3, 1, any, any, 256, 255, any},
    KnownKernel{simt, xmma, 32, 128, 8, 3, 1, any, 1, 64, 255, any},
    KnownKernel{simt, xmma, 32, 128, 8, 3, 1, any, 2, 64, 254, any},
    KnownKernel{simt, xmma, 32, 32, 8, 3, 1, any, any, 64, 80, any},
    KnownKernel{simt, xmma, 32, 64, 8, 3, 1, any, any, 64, 102, any},
    KnownKernel{simt, xmma, 64, 32, 8, 3, 1, any, 1, 64, 121, any},
    KnownKernel{simt, xmma, 64, 32, 8, 3, 1, any, 2, 64, 126, any},
    KnownKernel{simt, xmma, 64, 64, 8, 3, 1, any, 1, 128, 121, any},
    KnownKernel{simt, xmma, 64, 64, 8, 3, 1, any, 2, 128, 128, any},
    KnownKernel{simt, xmma, 64, 128, 8, 3, 1, any, 1, 128, 220, any},
    KnownKernel{simt, xmma, 64, 128, 8, 3, 1, any, 2, 128, 190, any},
};

bool agrees(int wanted, const std::optional<int>& given) { return wanted == any || !given || *given == wanted; }

}  // namespace

int k_contiguous_operands(Layout layout) {
  return (a_contiguous_in_k(layout) ? 1 : 0) + (b_contiguous_in_n(layout) ? 0 : 1);
}

const KnownKernel* find_known_kernel(const KernelConfig& config) {
  const int along_k = k_contiguous_operands(config.layout);
  for (const KnownKernel& row : known_kernels) {
    if (row.family != config.family || row.flavor != config.flavor) continue;
    if (row.m != config.tile.m || row.n != config.tile.n || row.k != config.tile.k) continue;
    if (row.k_contiguous != any && row.k_contiguous != along_k) continue;
    if (!agrees(row.stages, config.stages) || !agrees(row.sliced_k, config.sliced_k)) continue;
    if (!agrees(row.thread_m, config.thread_m) || !agrees(row.threads, config.threads)) continue;
    return &row;
  }
  return nullptr;
}

}  // namespace noteg::kernels
