// From the layout of the accumulators to rows of C: through shared memory, a part of the tile at a time, with a barrier
// on either side; stores are masked by both extents.
#include <algorithm>

#include "kernels/families/triton/triton.hpp"

namespace noteg::kernels {
namespace {

// Rows and columns of the tile once more, as in the kernels of triton.cpp's count.
constexpr int row_instructions = 15, gathered_rows = 115;

AccessPattern write_pattern(const TritonPlan& plan, const TritonStore& s) {
  AccessPattern p;
  p.space = Space::shared;
  p.matrix = Matrix::c;
  p.store = true;
  p.bytes_per_lane = static_cast<std::uint8_t>(s.write_bytes);
  for (int lane = 0; lane < 32; ++lane) {
    const int row = plan.is_ffma ? lane / plan.threads.lanes_n * plan.threads.size : lane / 4;
    const int column = plan.is_ffma ? lane % plan.threads.lanes_n : lane % 4;
    p.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(row * s.stride + column * s.write_bytes);
  }
  return p;
}

}  // namespace

void emit_triton_epilogue(Emitter& e, const TritonPlan& plan, const KernelConfig& config, const TritonState& state) {
  const TritonStore s = plan_triton_store(config);
  const std::vector<Value> sums = plan.is_ffma ? state.tile : elements_of(state.accumulators);
  const int out_bytes = static_cast<int>(bytes_of(config.dtype_out));
  const int row_bytes = s.columns * out_bytes;
  const int write = e.add_pattern(write_pattern(plan, s));
  const int read = e.add_pattern(contiguous(Space::shared, Matrix::c, false, s.vector_bytes, row_bytes));
  const int store = e.add_pattern(contiguous(Space::global, Matrix::c, true, s.vector_bytes, row_bytes));
  emit_index_arithmetic(e, plan.gathers ? gathered_rows : row_instructions);
  const RowAddresses at = fresh_row_addresses(e);
  emit_row_addresses(e, at);
  const int words = std::max(1, s.write_bytes / 4), vector = std::max(1, s.vector_bytes / 4);
  std::size_t sum = 0;
  const auto next_sum = [&] { return sums[sum++ % sums.size()]; };
  for (int step = 0; step < s.steps; ++step) {
    if (step > 0) emit_barrier(e);
    for (int i = 0; i < s.writes; ++i) {
      const Value packed = e.fresh(words);
      for (int w = 0; w < words; ++w) {
        const Value low = next_sum();
        if (out_bytes == 2)
          e.emit(Opcode::f2fp, ".F16.PACK_AB", {reg(packed.part(w))}, {reg(next_sum()), reg(low)});
        else
          e.emit(Opcode::mov, "", {reg(packed.part(w))}, {reg(low)});
      }
      e.memory(Opcode::sts, width_suffix(s.write_bytes), {}, {reg(at.write), reg(packed)}, s.write_bytes, write);
    }
    emit_barrier(e);
    for (int i = 0; i < s.reads; ++i) {
      const Value v = e.fresh(vector);
      const Value address = e.fresh(2);
      e.memory(Opcode::lds, s.vector_bytes < 4 ? ".U16" : width_suffix(s.vector_bytes), reg(v), {reg(at.read)},
               s.vector_bytes, read);
      e.emit(Opcode::iadd3, "", {reg(at.row)}, {reg(at.row), imm(1), reg(zero_value)});
      e.emit(Opcode::isetp, ".LT.AND", {Operand{}, pred(i % 4)}, {reg(at.row), constant(0x164)});
      e.emit(Opcode::imad_wide, "", {reg(address)}, {reg(at.row), constant(0x178), reg(at.pointer)});
      e.memory(Opcode::stg, s.vector_bytes < 4 ? ".E.U16" : ".E" + width_suffix(s.vector_bytes), {},
               {reg(address), reg(v)}, s.vector_bytes, store)
          .guard = pred(i % 4);
    }
  }
  e.emit(Opcode::exit, "", {}, {});
}

}  // namespace noteg::kernels
