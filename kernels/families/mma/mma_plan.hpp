// The geometry of an mma kernel: how threads copy a CTA tile in pieces of 16 bytes, where these lie in shared memory,
// and what a warp multiplies. Follows CUTLASS's device-level tensor-op GEMM, whose main loops as compiled we counted.
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {

// One operand: its way from global to shared memory, and from there into fragments.
struct MmaOperand {
  Matrix matrix = Matrix::none;
  bool along_k = true;       // rows of shared memory run along K, as in global memory; otherwise along M or N
  int rows = 0;              // of the tile in shared memory
  int row_bytes = 0;         // useful
  int stride = 0;            // bytes between rows, padding included
  int access_bytes = 16;     // of a copy
  int copies = 0;            // per thread and k tile
  int registers = 0;         // of one k group's fragment
  double element_bytes = 2;  // in memory and in shared memory
  bool by_matrix = true;     // LDSM; otherwise LDS word by word (32-bit elements that have to be transposed)
};

struct MmaPlan {
  Tile tile;
  TensorForm form;
  FormRegisters regs;
  int warp_rows = 0, warp_columns = 0;  // instructions of a warp along M, N
  int k_groups = 0;                     // depths of an instruction in a tile
  int sliced_k = 1;
  int warps = 0, threads = 0;
  int stages = 0;
  bool is_async = true;
  bool stages_sums = false;  // 8-bit floats: products of a tile have sums of their own, which are added to the others
  SharedLayout layout = SharedLayout::swizzled;
  MmaOperand a, b;
  int weight_bits = 0;  // of B where it is narrower than A and widened in registers; 0: it is not
  int meta_loads = 0;   // words of 2:4 places per k group, loaded one by one
  std::int64_t shared_bytes = 0;

  [[nodiscard]] int copies() const { return a.copies + b.copies; }
  [[nodiscard]] int mma_per_group() const { return warp_rows * warp_columns; }
};

// CUTLASS's multistage main loop on sm_89 (UseStagedAccumulation); its loop of two stages adds to one set of sums.
// Warp tiles that leave no room for a second set are taken to accumulate fast (OpMultiplyAddFastAccum).
[[nodiscard]] bool mma_stages_sums(const KernelConfig& config);

// From a resolved configuration.
[[nodiscard]] Result<MmaPlan> plan_mma(const KernelConfig& config, bool hardware_has_async_copy);

[[nodiscard]] AccessPattern mma_copy_pattern(const MmaPlan& plan, const MmaOperand& operand);      // LDGSTS or LDG
[[nodiscard]] AccessPattern mma_store_pattern(const MmaPlan& plan, const MmaOperand& operand);     // STS behind an LDG
[[nodiscard]] AccessPattern mma_fragment_pattern(const MmaPlan& plan, const MmaOperand& operand);  // LDSM or LDS

}  // namespace noteg::kernels
