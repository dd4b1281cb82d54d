#include "kernels/families/wgmma/wgmma_plan.hpp"

#include <algorithm>

#include "kernels/config/config_file.hpp"

namespace noteg::kernels {
namespace {

constexpr int rows_of_block = 64, columns_of_piece = 32;
constexpr double k_bytes = 32;        // of one multiplication, as A is stored
constexpr double bits_per_place = 2;  // of a value that a sparse A keeps

bool fits(const KernelConfig& config, int columns, int of_tile) {
  return columns == of_tile || (config.schedule == Schedule::coop && 2 * columns == of_tile);
}

}  // namespace

std::optional<WgmmaFrame> wgmma_frame(const KernelConfig& config) {
  const Tile &tile = config.tile, &ins = config.instruction;
  if (ins.m == rows_of_block && fits(config, ins.n, tile.n)) return WgmmaFrame{tile.m, tile.n, ins.n != tile.n};
  if (ins.n == rows_of_block && fits(config, ins.m, tile.m)) return WgmmaFrame{tile.n, tile.m, ins.m != tile.m};
  return std::nullopt;
}

Result<WgmmaPlan> plan_wgmma(const KernelConfig& config) {
  WgmmaPlan plan;
  plan.tile = config.tile;
  plan.schedule = config.schedule.value_or(Schedule::ws);
  plan.persistent = config.persistent.value_or(plan.schedule != Schedule::ws);
  plan.consumers = plan.schedule == Schedule::ws ? 1 : 2;
  const WgmmaFrame frame = wgmma_frame(config).value_or(WgmmaFrame{config.tile.m, config.tile.n, false});
  const int sharing = plan.schedule == Schedule::coop ? 2 : 1;  // consumers on one tile
  const int rows_per_consumer = rows_of_block * (frame.halves_columns ? 1 : sharing);
  plan.blocks = frame.rows / rows_per_consumer;
  plan.columns = frame.columns / (frame.halves_columns ? 2 : 1);
  const double stored = config.sparse ? 0.5 : 1.0;  // of A's values
  plan.form = {{rows_of_block, plan.columns, static_cast<int>(k_bytes / stored / bytes_of(config.dtype_in))},
               config.dtype_in,
               config.dtype_acc,
               config.sparse,
               true};
  const bool is_f8 = config.dtype_in == DataType::f8e4m3 || config.dtype_in == DataType::f8e5m2;
  plan.promotes = is_f8 && config.dtype_acc == DataType::f32;
  plan.scales = plan.promotes && config.flavor == Flavor::deep_gemm;
  plan.is_nvjet = is_hopper_nvjet(config) && !config.sparse && !config.a_in_registers;
  plan.stages = config.stages.value_or(4);
  plan.cluster = config.cluster_m * config.cluster_n;
  plan.a_in_registers = config.a_in_registers;
  // Slices whose sums a second kernel adds store them as they are.
  const bool stores_sums = config.split_k > 1 && config.split_k_mode == SplitKMode::parallel;
  const double element = bytes_of(config.dtype_in), out = bytes_of(stores_sums ? config.dtype_acc : config.dtype_out);
  plan.k_steps = std::max(1, static_cast<int>(config.tile.k * element * stored / k_bytes));
  plan.a_bytes = config.tile.m * config.tile.k * stored * (element + (config.sparse ? bits_per_place / 8 : 0));
  plan.b_bytes = config.tile.n * config.tile.k * element;
  plan.pieces = plan.blocks * ((plan.columns + columns_of_piece - 1) / columns_of_piece);
  plan.stores_per_piece = std::max(1, static_cast<int>(columns_of_piece * rows_of_block * out / (128 * 16)));
  plan.piece_bytes = sharing * rows_of_block * columns_of_piece * out;
  plan.accumulators = plan.blocks * plan.columns / (config.dtype_acc == DataType::f16 ? 4 : 2);
  constexpr int most_accumulators = 208;  // of the 240 registers that consumers take over from the producer
  const int partials = plan.scales ? plan.accumulators / std::max(1, plan.blocks) : plan.accumulators;
  const int needed = plan.accumulators + (plan.promotes ? partials : 0);
  if (plan.blocks < 1 || frame.rows % rows_per_consumer != 0 || plan.columns % 8 != 0 || plan.columns > 256 ||
      needed > most_accumulators) {
    return Diagnostic{
        "",
        0,
        0,
        "tile",
        "64 rows per consumer warpgroup and 8 to 256 columns in steps of 8, with at most 208 accumulators "
        "per thread",
        std::to_string(config.tile.m) + "x" + std::to_string(config.tile.n)};
  }
  return plan;
}

}  // namespace noteg::kernels
