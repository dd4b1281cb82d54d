#include "kernels/families/pipeline_parts.hpp"

namespace noteg::kernels {
namespace {

constexpr int first_carry = 4;  // P4, P5 carry 64-bit additions, P0 to P3 guard copies
constexpr int semaphore_bytes = 4;

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

int semaphore_pattern(Emitter& e, bool store) {
  AccessPattern one = contiguous(Space::global, Matrix::none, store, semaphore_bytes, 128);
  one.active_mask = 1;
  return e.add_pattern(one);
}

}  // namespace

void make_pipeline_registers(Emitter& e, PipelineState& state) {
  state.a_pointer = e.fresh(2);
  state.b_pointer = e.fresh(2);
  state.a_mask = e.fresh();
  state.b_mask = e.fresh();
  state.write_offset = e.fresh();
  state.read_a = e.fresh();
  state.read_b = e.fresh();
  state.iterations_left = e.fresh();
}

int add_idle_pattern(Emitter& e) {
  AccessPattern idle;
  idle.active_mask = 0;
  return e.add_pattern(idle);
}

std::string width_suffix(int bytes) { return bytes == 16 ? ".128" : bytes == 8 ? ".64" : ""; }

void emit_pipeline_setup(Emitter& e, const PipelineState& state, int index_instructions) {
  emit_index_arithmetic(e, index_instructions);
  emit_pointer(e, state.a_pointer, 0x160);
  emit_pointer(e, state.b_pointer, 0x170);
  for (const Value& v :
       {state.write_offset, state.read_a, state.read_b, state.a_mask, state.b_mask, state.iterations_left}) {
    emit_address(e, v, 0x180);
  }
  for (int r = 4; r < 10; ++r) e.emit(Opcode::umov, "", {ureg(r)}, {imm(0)});
  e.emit(Opcode::uisetp, ".NE.AND", {Operand{}, upred(0)}, {ureg(4), imm(0)});
}

void emit_pointer_step(Emitter& e, Value to, Value from, int predicate, Opcode upper) {
  const int carry = first_carry + predicate % 2;
  e.emit(Opcode::iadd3, "", {reg(to.part(0)), pred(carry)}, {reg(from.part(0)), constant(0x1a0), reg(zero_value)});
  e.emit(upper, ".X", {reg(to.part(1))}, {reg(from.part(1)), constant(0x1a4), reg(zero_value), pred(carry)});
}

void emit_copy_guard(Emitter& e, Value bit, Value mask, int index, int guard) {
  // The first copy of an operand tests the mask as it is, the others shift their bit down.
  if (index > 0) e.emit(Opcode::shf, ".R.U32.HI", {reg(bit)}, {reg(zero_value), imm(index), reg(mask)});
  e.emit(Opcode::lop3, "", {reg(bit)}, {index > 0 ? reg(bit) : reg(mask), imm(1), reg(zero_value)});
  e.emit(Opcode::isetp, ".NE.U32.AND", {Operand{}, pred(guard)}, {reg(bit), reg(zero_value)});
}

void emit_copy_wait(Emitter& e, int stages) {
  e.emit(Opcode::depbar, ".LE", {}, {imm(0), imm(stages - 2)}).depbar_count = static_cast<std::int16_t>(stages - 2);
}

void emit_barrier(Emitter& e) { e.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)}); }

RowAddresses fresh_row_addresses(Emitter& e) { return {e.fresh(2), e.fresh(), e.fresh(), e.fresh(), e.fresh()}; }

void emit_row_addresses(Emitter& e, const RowAddresses& at) {
  const Value tid = e.fresh();
  e.emit(Opcode::s2r, "", {reg(tid)}, {});
  e.emit(Opcode::shf, ".R.U32.HI", {reg(at.row)}, {reg(zero_value), imm(5), reg(tid)});
  e.emit(Opcode::lop3, "", {reg(at.column)}, {reg(tid), imm(0x1f), reg(zero_value)});
  e.emit(Opcode::lea, "", {reg(at.write)}, {reg(at.row), ureg(4), imm(4)});
  e.emit(Opcode::lea, "", {reg(at.read)}, {reg(at.column), ureg(4), imm(4)});
  e.emit(Opcode::imad_wide, "", {reg(at.pointer)}, {reg(at.row), constant(0x178), constant(0x1c0, 2)});
  emit_barrier(e);
}

bool takes_turns(const KernelConfig& config) { return config.split_k > 1 && config.split_k_mode == SplitKMode::serial; }

void emit_semaphore_wait(Emitter& e, Value pointer) {
  const Value turn = e.fresh();
  e.memory(Opcode::ldg, ".E.STRONG.GPU", reg(turn), {reg(pointer)}, semaphore_bytes, semaphore_pattern(e, false));
  e.emit(Opcode::isetp, ".NE.AND", {Operand{}, pred(0)}, {reg(turn), constant(0x1f0)});
  emit_barrier(e);
}

void emit_semaphore_release(Emitter& e, Value pointer) {
  const Value turn = e.fresh();
  e.emit(Opcode::membar, ".SC.GPU", {}, {});
  emit_barrier(e);
  e.emit(Opcode::iadd3, "", {reg(turn)}, {constant(0x1f0), imm(1), reg(zero_value)});
  e.memory(Opcode::stg, ".E.STRONG.GPU", {}, {reg(pointer), reg(turn)}, semaphore_bytes, semaphore_pattern(e, true));
}

}  // namespace noteg::kernels
