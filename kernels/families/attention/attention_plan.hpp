// The geometry of FlashAttention-2 on mma.sync: a CTA keeps rows of queries, walks over the keys in blocks, and
// multiplies twice in each: scores = Q K^T, softmax by rows, O += P V. Follows the kernel traits of the published
// library. Left out: FlashAttention-3 (wgmma), dropout, masks other than causal, bias.
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {

struct AttentionPlan {
  TensorForm form;
  int rows = 128, keys = 64, head = 128;  // of a CTA's block of queries, of a block of keys; elements of a head
  int warps = 4;
  int bands = 2;        // of 16 rows of a warp
  int copy_bytes = 16;  // of a cp.async
  int copies = 1;       // per thread and block, of K and of V each
  std::int64_t shared_bytes = 0;
};

[[nodiscard]] AttentionPlan plan_attention(const KernelConfig& config);

}  // namespace noteg::kernels
