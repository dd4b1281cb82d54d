// DeepGEMM's choice of a block for fp8 products with scales of 1x128 and 128x128 on sm_90, as of April 2026
// (csrc/jit_kernels/heuristics/sm90.hpp). It counts cycles of shared memory and of L2 over all blocks, drawn out by the
// SMs that the last wave leaves idle, and takes the block with the fewest. Blocks of 16 and 32 rows are
// tiles of 64 here: they multiply as such, and box_rows (sim/gpu/gemm) knows how many of them a box has.
#pragma once

#include "arch/spec.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {

// Not resolved; in the problem's frame.
[[nodiscard]] kernels::KernelConfig deep_gemm_on_hopper(const arch::GpuSpec& gpu, const Problem& problem);

}  // namespace noteg::tune
