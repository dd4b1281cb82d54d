#include "kernels/families/tcgen05/tcgen05_plan.hpp"

#include <algorithm>

namespace noteg::kernels {
namespace {

constexpr double k_bytes = 32;       // of one multiplication
constexpr int memory_columns = 512;  // of tensor memory, of 32 bits and 128 lanes each (PTX: tensor memory)

}  // namespace

Result<Tcgen05Plan> plan_tcgen05(const KernelConfig& config) {
  const std::optional<MemoryFrame> frame = memory_frame(config);
  if (!frame)
    return Diagnostic{
        "",
        0,
        0,
        "instruction",
        "the tile's extents, one of them 64 or 128, the other at most 256 in steps of 8; twice the former "
        "where a pair of CTAs multiplies",
        std::to_string(config.instruction.m) + "x" + std::to_string(config.instruction.n)};
  Tcgen05Plan plan;
  plan.tile = config.tile;
  plan.frame = *frame;
  plan.form = tensor_form_of(config);
  plan.persistent = config.persistent.value_or(true);
  plan.stages = config.stages.value_or(4);
  plan.scale_vectors = config.scale_vectors;
  plan.cluster = config.cluster_m * config.cluster_n;
  const double element = bytes_of(config.dtype_in), stored = stored_bytes_of(config.dtype_in);
  plan.k_steps = std::max(1, static_cast<int>(config.tile.k * element / k_bytes));
  const double columns = plan.frame.columns * (plan.frame.pair ? 0.5 : 1.0);
  const double of_rows = plan.frame.rows * config.tile.k * stored, of_columns = columns * config.tile.k * stored;
  plan.a_bytes = plan.frame.rows_along_m ? of_rows : of_columns;
  plan.b_bytes = plan.frame.rows_along_m ? of_columns : of_rows;
  plan.shared_read = (plan.frame.rows + columns) * k_bytes;
  plan.sets = std::clamp(memory_columns / plan.frame.columns, 1, 2);
  // Slices whose sums a second kernel adds store them as they are.
  const bool stores_sums = config.split_k > 1 && config.split_k_mode == SplitKMode::parallel;
  const double out = bytes_of(stores_sums ? config.dtype_acc : config.dtype_out);
  plan.pieces = (plan.frame.columns + columns_of_piece - 1) / columns_of_piece;
  plan.stores_per_piece = std::max(1, static_cast<int>(columns_of_piece * out / 16));
  plan.piece_bytes = plan.frame.rows * columns_of_piece * out;
  return plan;
}

}  // namespace noteg::kernels
