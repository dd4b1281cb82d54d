// What a tcgen05 kernel is made of: a warp that fills shared memory by bulk tensor copies, a warp of which one thread
// multiplies into tensor memory, and four warps that bring the sums out. Two sets of sums in tensor memory let the next
// tile begin while the last is stored. CTAs are persistent; the scheduler warp asks for the next tile (launch control).
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

struct Tcgen05Plan {
  Tile tile;
  MemoryFrame frame;
  TensorForm form;
  bool persistent = true;
  int k_steps = 4;  // multiplications of 32 bytes along K per tile
  int stages = 4;
  int sets = 2;                     // of sums in tensor memory
  int cluster = 1;                  // CTAs
  double a_bytes = 0, b_bytes = 0;  // of a stage, as this CTA copies them, scales included
  double shared_read = 0;           // bytes that one multiplication reads from this SM's shared memory
  int pieces = 0;                   // of 32 columns, stored one after another
  int stores_per_piece = 4;         // 16 bytes per lane each
  double piece_bytes = 0;
  bool scale_vectors = false;  // of rows and of columns, in the epilogue
};

[[nodiscard]] Result<Tcgen05Plan> plan_tcgen05(const KernelConfig& config);

inline constexpr int columns_of_piece = 32;  // that the epilogue stores at a time

// Warps by role: copies, multiplications, scheduler, one that has nothing to do, four for the epilogue.
inline constexpr int copying_warp = 0, multiplying_warp = 1, scheduling_warp = 2, storing_warp = 4;
inline constexpr int tcgen05_warps = 8, storing_warps = 4;

}  // namespace noteg::kernels
