// The geometry of a SIMT kernel: how threads share a CTA tile, how operands come into shared memory, and the lane
// addresses that follow. Layouts follow CUTLASS's device-level SIMT GEMM, whose counters on an H200 they reproduce.
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// One operand's way into shared memory, stored there as [k][m or n].
struct OperandCopy {
  Matrix matrix = Matrix::none;
  int extent = 0;                // tile along M or N
  bool is_k_contiguous = false;  // in global memory; then it is transposed on the way
  bool is_k_major = false;       // ... or kept as it lies, in rows along K
  int width = 1;                 // elements per global access
  int store_width = 1;           // elements per shared store
  int pad = 0;                   // elements added to a shared row against bank conflicts
  int copies = 0;                // global accesses per thread and k tile
};

struct SimtPlan {
  Tile tile;
  int warp_m = 0, warp_n = 0;
  int thread_m = 0, thread_n = 0;
  int lanes_m = 0, lanes_n = 0;
  int sliced_k = 1;
  int k_steps = 0;  // k values one warp works on in a tile
  int warps = 0, threads = 0;
  int stages = 0;
  bool is_async = false;
  bool is_padded = false;         // transposing asynchronous copies go to padded rows
  bool walks_short_axis = false;  // neighbouring lanes lie along the axis of fewer lanes
  bool has_placeholders = false;  // loads that never execute between the copies
  OperandCopy a, b;
  int store_width = 1;  // elements per global store of C
  std::int64_t shared_bytes = 0;

  [[nodiscard]] int copies() const { return a.copies + b.copies; }
  [[nodiscard]] int accumulators() const { return thread_m * thread_n; }
};

// From a resolved configuration; values still absent take CUTLASS's defaults. Fails where the numbers do not divide.
[[nodiscard]] Result<SimtPlan> plan_simt(const KernelConfig& config, bool hardware_has_async_copy);

// Elements per fragment load along M or N.
[[nodiscard]] int fragment_width(int thread_extent);

[[nodiscard]] AccessPattern fragment_pattern(const SimtPlan& plan, bool of_a);
[[nodiscard]] AccessPattern copy_pattern(const SimtPlan& plan, const OperandCopy& operand);   // LDG or LDGSTS
[[nodiscard]] AccessPattern store_pattern(const SimtPlan& plan, const OperandCopy& operand);  // STS behind an LDG

}  // namespace noteg::kernels
