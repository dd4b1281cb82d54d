#include "kernels/builders/wgmma_plan.hpp"

#include <algorithm>

namespace noteg::kernels {
namespace {

constexpr int rows_of_block = 64, columns_of_piece = 32;
constexpr double k_bytes = 32;  // of one multiplication

}  // namespace

Result<WgmmaPlan> plan_wgmma(const KernelConfig& config) {
  WgmmaPlan plan;
  plan.tile = config.tile;
  plan.schedule = config.schedule.value_or(Schedule::ws);
  plan.persistent = config.persistent.value_or(plan.schedule != Schedule::ws);
  plan.consumers = plan.schedule == Schedule::ws ? 1 : 2;
  const int sharing = plan.schedule == Schedule::coop ? 2 : 1;  // consumers on one tile
  plan.blocks = config.tile.m / (rows_of_block * sharing);
  plan.form = {{rows_of_block, config.tile.n, static_cast<int>(k_bytes / bytes_of(config.dtype_in))},
               config.dtype_in,
               config.dtype_acc,
               false,
               true};
  const bool is_f8 = config.dtype_in == DataType::f8e4m3 || config.dtype_in == DataType::f8e5m2;
  plan.promotes = is_f8 && config.dtype_acc == DataType::f32;
  plan.stages = config.stages.value_or(4);
  plan.cluster = config.cluster_m * config.cluster_n;
  plan.a_in_registers = config.a_in_registers;
  const double element = bytes_of(config.dtype_in), out = bytes_of(config.dtype_out);
  plan.k_steps = std::max(1, static_cast<int>(config.tile.k * element / k_bytes));
  plan.a_bytes = config.tile.m * config.tile.k * element;
  plan.b_bytes = config.tile.n * config.tile.k * element;
  plan.pieces = plan.blocks * ((config.tile.n + columns_of_piece - 1) / columns_of_piece);
  plan.stores_per_piece = std::max(1, static_cast<int>(columns_of_piece * rows_of_block * out / (128 * 16)));
  plan.piece_bytes = sharing * rows_of_block * columns_of_piece * out;
  plan.accumulators = plan.blocks * config.tile.n / (config.dtype_acc == DataType::f16 ? 4 : 2);
  constexpr int most_accumulators = 208;  // of the 240 registers that consumers take over from the producer
  const int needed = plan.accumulators * (plan.promotes ? 2 : 1);
  if (plan.blocks < 1 || config.tile.m % (rows_of_block * sharing) != 0 || config.tile.n % 8 != 0 ||
      config.tile.n > 256 || needed > most_accumulators) {
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
