#include <algorithm>
#include <string>

#include "kernels/families/simt/simt_parts.hpp"

namespace noteg::kernels {
namespace {}  // namespace

SimtState make_state(Emitter& e, const SimtPlan& plan) {
  SimtState s;
  make_pipeline_registers(e, s);
  s.accumulators = fresh_accumulators(e, plan.thread_m, plan.thread_n, Allocation::ideal);
  s.first_a = fresh_fragment(e, plan.thread_m);
  s.first_b = fresh_fragment(e, plan.thread_n);
  s.read_a_pattern = e.add_pattern(fragment_pattern(plan, true));
  s.read_b_pattern = e.add_pattern(fragment_pattern(plan, false));
  s.copy_a_pattern = e.add_pattern(copy_pattern(plan, plan.a));
  s.copy_b_pattern = e.add_pattern(copy_pattern(plan, plan.b));
  for (int i = 0; i < plan.copies(); ++i) {
    s.pointers.push_back(e.fresh(2));
    s.bits.push_back(e.fresh());
  }
  if (!plan.is_async) {
    s.store_a_pattern = e.add_pattern(store_pattern(plan, plan.a));
    s.store_b_pattern = e.add_pattern(store_pattern(plan, plan.b));
    for (int i = 0; i < plan.copies(); ++i)
      s.staged.push_back(e.fresh(i < plan.a.copies ? plan.a.width : plan.b.width));
  }
  s.idle_pattern = add_idle_pattern(e);
  return s;
}

std::vector<Value> fresh_fragment(Emitter& e, int extent) {
  std::vector<Value> vectors;
  const int width = fragment_width(extent);
  for (int i = 0; i < extent; i += width) vectors.push_back(e.fresh(width));
  return vectors;
}

void emit_copy(Emitter& e, const SimtPlan& plan, const SimtState& state, const OperandCopy& operand, int index,
               CopyCursor& cursor) {
  const bool of_a = operand.matrix == Matrix::a;
  const int guard = cursor.predicate++ % 4;
  const auto number = static_cast<std::size_t>(of_a ? index : plan.a.copies + index);
  const Value bit = state.bits[number];
  emit_copy_guard(e, bit, cursor.mask, index, guard);
  if (index > 0) {
    emit_simt_pointer_step(e, state.pointers[number], cursor.pointer, guard);
    cursor.pointer = state.pointers[number];
  }
  const int bytes = operand.width * f32_bytes;
  const int pattern = of_a ? state.copy_a_pattern : state.copy_b_pattern;
  if (plan.is_async) {
    Instruction& copy = e.memory(Opcode::ldgsts, ".E.LTC128B" + width_suffix(bytes), {},
                                 {reg(state.write_offset), reg(cursor.pointer)}, bytes, pattern);
    copy.guard = pred(guard);
  } else {
    Instruction& load = e.memory(Opcode::ldg, ".E.LTC128B" + width_suffix(bytes), reg(state.staged[number]),
                                 {reg(cursor.pointer)}, bytes, pattern);
    load.guard = pred(guard);
  }
}

void emit_shared_stores(Emitter& e, const SimtPlan& plan, const SimtState& state) {
  for (std::size_t i = 0; i < state.staged.size(); ++i) {
    const bool of_a = static_cast<int>(i) < plan.a.copies;
    const OperandCopy& operand = of_a ? plan.a : plan.b;
    const Value data = state.staged[i];
    const int bytes = operand.store_width * f32_bytes;
    for (int part = 0; part < data.count; part += operand.store_width) {
      e.memory(Opcode::sts, width_suffix(bytes), {},
               {reg(state.write_offset), reg(data.range(part, operand.store_width))}, bytes,
               of_a ? state.store_a_pattern : state.store_b_pattern);
    }
  }
}

void load_fragments(Emitter& e, const SimtPlan& plan, const SimtState& state, const std::vector<Value>& a,
                    const std::vector<Value>& b, int k_step, int first_release, int gap) {
  int release = first_release;
  auto load = [&](const Value& to, Value address, int pattern, int offset) {
    e.release_after(release);
    const int bytes = to.count * f32_bytes;
    Instruction& ins = e.memory(Opcode::lds, width_suffix(bytes), reg(to), {reg(address)}, bytes, pattern);
    ins.src[0].value = offset;
    release += gap;
  };
  const int a_row = (plan.tile.m + plan.a.pad) * f32_bytes;
  const int b_row = (plan.tile.n + plan.b.pad) * f32_bytes;
  // A and B alternate, so that the first products can start before the last vector is here.
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const int at = static_cast<int>(i);
    if (i < b.size())
      load(b[i], state.read_b, state.read_b_pattern, k_step * b_row + at * plan.lanes_n * b[i].count * f32_bytes);
    if (i < a.size())
      load(a[i], state.read_a, state.read_a_pattern, k_step * a_row + at * plan.lanes_m * a[i].count * f32_bytes);
  }
}

}  // namespace noteg::kernels
