// The geometry of FlashAttention-3 on sm_90: a producer that copies blocks of keys and values, and a consumer warpgroup
// for every 64 rows of queries, which multiplies, works on its scores and multiplies again while its neighbour does the
// other thing. CTAs are persistent: while one tile's output is stored, the next one's keys are on their way. Follows
// the published library (tile_size.h, flash_fwd_launch_template.h). Left out: dropout, masks other than causal, 8-bit
// floats.
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

struct Flash3Plan {
  TensorForm scores, values;  // of Q K^T and of P V
  int rows = 128, keys = 128, head = 128;
  int query_rows = 128;    // of these rows, those that there are
  int consumers = 2;       // warpgroups
  int stages = 2;          // of K and of V each
  int page = 0;            // tokens; 0: keys lie together
  bool gathers = false;    // pages that are no whole blocks of keys: by 16 bytes, not by boxes
  bool persistent = true;  // a CTA takes tile after tile
  int scans = 1;           // of 31 sequences each, until the next tile's is found
  std::int64_t shared_bytes = 0;

  [[nodiscard]] int warps() const { return 4 * (consumers + 1); }
  [[nodiscard]] int copying_warps() const { return gathers ? 4 : 1; }
  // setmaxnreg: what gathers keeps addresses.
  [[nodiscard]] int producer_registers() const { return consumers == 1 ? 56 : consumers == 3 ? 32 : gathers ? 40 : 24; }
  [[nodiscard]] int consumer_registers() const { return consumers == 3 ? 160 : gathers ? 232 : 240; }
  [[nodiscard]] bool takes_turns() const { return consumers > 1 && head <= widest_in_turns; }
  [[nodiscard]] bool scales_first() const { return head > widest_in_turns; }

 private:
  static constexpr int widest_in_turns = 128;  // head size
};

// Whether keys come by copies of 16 bytes: from pages that are no whole blocks of keys.
[[nodiscard]] bool gathers_pages(const KernelConfig& config);
[[nodiscard]] Flash3Plan plan_flash3(const KernelConfig& config);
// Rows of queries and keys of a block that the library chooses; the tile's N is twice the head size.
[[nodiscard]] Tile flash3_block(int head, bool causal, bool paged, bool one_consumer = false);

}  // namespace noteg::kernels
