// What a wgmma kernel is made of: a producer warp that fills shared memory by bulk tensor copies, and one or two
// warpgroups that multiply. Everything that its streams need to know, computed once from the configuration.
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

struct WgmmaPlan {
  Tile tile;
  Schedule schedule = Schedule::ws;
  bool persistent = false;
  int consumers = 1;  // warpgroups
  int blocks = 1;     // of 64 rows per consumer
  int columns = 0;    // of one multiplication
  int k_steps = 4;    // multiplications of 32 bytes along K per tile; of a sparse A these stand for 64
  int stages = 4;
  int cluster = 1;  // CTAs
  bool a_in_registers = false;
  bool promotes = false;  // 8-bit floats: partial sums of each k tile are added in FP32
  bool is_nvjet = false;  // cuBLAS' order of multiplications and waits
  bool scales = false;    // DeepGEMM: each block's partial sums are scaled on the way, one block after the other
  TensorForm form;
  double a_bytes = 0, b_bytes = 0;  // of a stage; a sparse A brings the places of its values along
  int pieces = 0;                   // of 64 rows and 32 columns that a consumer stores, one after another
  int stores_per_piece = 2;         // 16 bytes per lane each
  double piece_bytes = 0;           // of all consumers that store together
  int accumulators = 0;             // registers per thread

  [[nodiscard]] int warps() const { return 4 * (consumers + 1); }
};

// How a tile lies on multiplications of 64 rows: the instruction says it. 64 x columns: rows along M; columns x 64:
// along N, the kernel computes the transpose. Half as many columns as the tile has: two consumers share its rows.
struct WgmmaFrame {
  int rows = 0, columns = 0;    // of the tile, in the multiplication's frame
  bool halves_columns = false;  // consumers of coop
};
[[nodiscard]] std::optional<WgmmaFrame> wgmma_frame(const KernelConfig& config);

[[nodiscard]] Result<WgmmaPlan> plan_wgmma(const KernelConfig& config);

// Warps of the producer's warpgroup come first.
inline constexpr int producer_warps = 4;

}  // namespace noteg::kernels
