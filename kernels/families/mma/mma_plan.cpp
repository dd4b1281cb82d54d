#include "kernels/families/mma/mma_plan.hpp"

#include <algorithm>
#include <string>

#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr int chunk = 16;           // bytes: the row of one 8x8 matrix, the widest copy
constexpr int line = 128;           // bytes: all banks
constexpr int row_padding = chunk;  // of the padded layout

MmaOperand operand_of(const KernelConfig& config, bool of_a) {
  MmaOperand o;
  o.matrix = of_a ? Matrix::a : Matrix::b;
  o.along_k = of_a ? a_contiguous_in_k(config.layout) : !b_contiguous_in_n(config.layout);
  const double bytes = bytes_of(of_a ? config.dtype_in : config.dtype_b.value_or(config.dtype_in));
  o.element_bytes = bytes;
  const int extent = of_a ? config.tile.m : config.tile.n;
  const int depth = of_a && config.sparse ? config.tile.k / 2 : config.tile.k;
  o.rows = o.along_k ? extent : depth;
  o.row_bytes = static_cast<int>((o.along_k ? depth : extent) * bytes);
  o.stride = o.row_bytes + (config.shared_layout == SharedLayout::padded ? row_padding : 0);
  const int align = (of_a ? config.align_a : config.align_b).value_or(1);
  o.access_bytes = std::clamp(static_cast<int>(align * bytes), 4, chunk);  // narrower ones are put together
  o.by_matrix = o.along_k || bytes == 2;
  return o;
}

// Byte of (row, 16-byte chunk) in a tile. Swizzled: rows shorter than a line share one, and the chunk is exchanged by
// XOR with the line's number, so that eight rows of one matrix lie in different banks.
std::uint32_t place(const MmaPlan& plan, const MmaOperand& o, int row, int at) {
  if (plan.layout != SharedLayout::swizzled) return static_cast<std::uint32_t>(row * o.stride + at * chunk);
  const int chunks = std::max(1, o.row_bytes / chunk);
  const int rows_per_line = std::max(1, line / o.row_bytes);
  const int number = row / rows_per_line;
  const int turned = at ^ (number % std::min(chunks, line / chunk));
  return static_cast<std::uint32_t>(number * rows_per_line * o.row_bytes + row % rows_per_line * o.row_bytes +
                                    turned * chunk);
}

Diagnostic uneven(std::string what, const KernelConfig& config) {
  return {"",
          0,
          0,
          "tile",
          std::move(what),
          std::to_string(config.tile.m) + "x" + std::to_string(config.tile.n) + "x" + std::to_string(config.tile.k)};
}

}  // namespace

bool mma_stages_sums(const KernelConfig& config) {
  constexpr int most = 96;  // accumulators of a thread that fit into its registers twice
  if (config.warp_m.value_or(0) * config.warp_n.value_or(0) / 32 > most) return false;
  return config.flavor == Flavor::cutlass && is_float8(config.dtype_in) && config.dtype_acc == DataType::f32 &&
         config.stages.value_or(0) > 2;
}

Result<MmaPlan> plan_mma(const KernelConfig& config, bool hardware_has_async_copy) {
  MmaPlan plan;
  plan.tile = config.tile;
  plan.form = tensor_form_of(config);
  plan.regs = registers_of(plan.form);
  plan.sliced_k = config.sliced_k.value_or(1);
  plan.warp_rows = config.warp_m.value_or(0) / plan.form.shape.m;
  plan.warp_columns = config.warp_n.value_or(0) / plan.form.shape.n;
  plan.k_groups = config.tile.k / plan.sliced_k / plan.form.shape.k;
  plan.threads = config.threads.value_or(0);
  plan.warps = plan.threads / 32;
  plan.stages = config.stages.value_or(2);
  plan.is_async = config.async_copy.value_or(false);
  plan.stages_sums = mma_stages_sums(config);
  plan.layout = config.shared_layout.value_or(SharedLayout::swizzled);
  plan.shared_bytes = config.shared_bytes.value_or(0);
  if (plan.is_async && !hardware_has_async_copy)
    return Diagnostic{"", 0, 0, "async_copy", "false on a GPU without asynchronous copies", "true"};
  if (plan.mma_per_group() < 1 || plan.k_groups < 1 || plan.warps < 1)
    return uneven("a tile of at least one instruction per warp", config);
  plan.a = operand_of(config, true);
  plan.b = operand_of(config, false);
  plan.a.registers = plan.warp_rows * plan.regs.a;
  plan.b.registers = plan.warp_columns * plan.regs.b;
  if (config.dtype_b) plan.weight_bits = static_cast<int>(8 * bytes_of(*config.dtype_b));
  plan.meta_loads = plan.warp_rows * plan.regs.meta;
  for (MmaOperand* o : {&plan.a, &plan.b}) {
    if (o->row_bytes % chunk != 0) return uneven("rows of whole 16 bytes in shared memory", config);
    const int per_copy = o->access_bytes * plan.threads;
    o->copies = (o->rows * o->row_bytes + per_copy - 1) / per_copy;
  }
  return plan;
}

AccessPattern mma_copy_pattern(const MmaPlan& plan, const MmaOperand& operand) {
  AccessPattern p;
  p.space = Space::global;
  p.matrix = operand.matrix;
  p.bytes_per_lane = static_cast<std::uint8_t>(operand.access_bytes);
  const int per_row = operand.row_bytes / operand.access_bytes;
  // A warp covers rows of at most a line each, as many as its lanes reach.
  const int across = std::min(per_row, line / operand.access_bytes);
  for (int lane = 0; lane < 32; ++lane) {
    const int row = lane / across, byte = lane % across * operand.access_bytes;
    p.offset[static_cast<std::size_t>(lane)] =
        static_cast<std::uint32_t>(row) * nominal_pitch + static_cast<std::uint32_t>(byte);
    p.shared_offset[static_cast<std::size_t>(lane)] =
        place(plan, operand, row, byte / chunk) + static_cast<std::uint32_t>(byte % chunk);
  }
  return p;
}

AccessPattern mma_store_pattern(const MmaPlan& plan, const MmaOperand& operand) {
  AccessPattern p = mma_copy_pattern(plan, operand);
  p.space = Space::shared;
  p.store = true;
  p.offset = p.shared_offset;
  return p;
}

AccessPattern mma_fragment_pattern(const MmaPlan& plan, const MmaOperand& operand) {
  AccessPattern p;
  p.space = Space::shared;
  p.matrix = operand.matrix;
  if (!operand.by_matrix) {
    p.bytes_per_lane = 4;
    for (int lane = 0; lane < 32; ++lane)
      p.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(lane * 4);
    return p;
  }
  p.bytes_per_lane = chunk;
  for (int lane = 0; lane < 32; ++lane) {
    // Four matrices of eight rows: along K two below each other, then two chunks further on. Transposed ones have
    // their rows along the other dimension.
    const int row = lane % 16, at = lane / 16;
    p.offset[static_cast<std::size_t>(lane)] = place(plan, operand, row, at);
  }
  return p;
}

}  // namespace noteg::kernels
