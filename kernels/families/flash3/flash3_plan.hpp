// The geometry of FlashAttention-3 on sm_90: a producer warp that copies blocks of keys and values by boxes, and a
// consumer warpgroup for every 64 rows of queries, which multiplies, works on its scores and multiplies again while its
// neighbour does the other thing. Follows the tile sizes of the published library. Left out: dropout, masks other than
// causal, 8-bit floats, the persistent scheduler (a CTA takes one block of queries).
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

struct Flash3Plan {
  TensorForm scores, values;  // of Q K^T and of P V
  int rows = 128, keys = 128, head = 128;
  int consumers = 2;  // warpgroups
  int stages = 2;     // of K and of V each
  std::int64_t shared_bytes = 0;

  [[nodiscard]] int warps() const { return 4 * (consumers + 1); }
  [[nodiscard]] int consumer_registers() const { return consumers == 2 ? 240 : 160; }  // setmaxnreg
};

[[nodiscard]] Flash3Plan plan_flash3(const KernelConfig& config);
// Rows of queries and keys of a block that the library chooses; the tile's N is twice the head size.
[[nodiscard]] Tile flash3_block(int head, bool causal, bool paged);

}  // namespace noteg::kernels
