#include "kernels/builders/mma_parts.hpp"

namespace noteg::kernels {
namespace {

// Thread and CTA indices, predicate masks, iterator set-up, as in CUTLASS's FFMA kernels: the iterators are the same.
constexpr int index_instructions = 330;

void emit_pointer(Emitter& e, Value pointer, int parameter) {
  const Value row = e.fresh();
  e.emit(Opcode::s2r, "", {reg(row)}, {});
  e.emit(Opcode::imad_wide, "", {reg(pointer)}, {reg(row), constant(parameter), constant(parameter + 8)});
}

void emit_address(Emitter& e, Value address, int parameter) {
  const Value lane = e.fresh();
  e.emit(Opcode::s2r, "", {reg(lane)}, {});
  e.emit(Opcode::lop3, "", {reg(address)}, {reg(lane), imm(0x1f), reg(zero_value)});
  e.emit(Opcode::lea, "", {reg(address)}, {reg(address), constant(parameter), reg(zero_value)});
}

std::vector<Value> words_of(const std::vector<Value>& groups) {
  std::vector<Value> words;
  for (const Value& v : groups) {
    for (int i = 0; i < v.count; ++i) words.push_back(v.part(i));
  }
  return words;
}

// Waits until the first tile lies in shared memory.
void emit_first_tile(Emitter& e, const MmaPlan& plan, const MmaState& state) {
  if (plan.is_async) {
    e.emit(Opcode::depbar, ".LE", {}, {imm(0), imm(plan.stages - 2)}).depbar_count =
        static_cast<std::int16_t>(plan.stages - 2);
  } else {
    emit_mma_stores(e, plan, state);
  }
  e.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
}

}  // namespace

void emit_mma_prologue(Emitter& e, const MmaPlan& plan, MmaState& state) {
  emit_index_arithmetic(e, index_instructions);
  emit_pointer(e, state.a_pointer, 0x160);
  emit_pointer(e, state.b_pointer, 0x170);
  for (const Value& v :
       {state.write_offset, state.read_a, state.read_b, state.a_mask, state.b_mask, state.trips_left}) {
    emit_address(e, v, 0x180);
  }
  for (int r = 4; r < 10; ++r) e.emit(Opcode::umov, "", {ureg(r)}, {imm(0)});
  e.emit(Opcode::uisetp, ".NE.AND", {Operand{}, upred(0)}, {ureg(4), imm(0)});
  const int tiles_ahead = plan.is_async ? plan.stages - 1 : 1;
  for (int tile = 0; tile < tiles_ahead; ++tile) {
    MmaCopyCursor cursor{state.a_pointer, state.b_pointer};
    for (int i = 0; i < plan.copies(); ++i) emit_mma_copy(e, plan, state, i, cursor);
    emit_mma_pointer_step(e, state.a_pointer, cursor.pointer_a, 0);
    emit_mma_pointer_step(e, state.b_pointer, cursor.pointer_b, 1);
    if (plan.is_async) e.emit(Opcode::ldgdepbar, "", {}, {});
  }
  emit_zeroes(e, words_of(state.accumulators));
  emit_first_tile(e, plan, state);
  load_mma_fragments(e, plan, state, state.first, 0, 0);
}

}  // namespace noteg::kernels
