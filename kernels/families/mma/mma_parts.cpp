// State, copies and fragments of mma kernels.
#include "kernels/families/mma/mma_parts.hpp"

#include <algorithm>
#include <string>

namespace noteg::kernels {
namespace {

constexpr int copies_under_way = 4;  // pointers that are kept at a time

// Vectors of four registers as far as they go, then of two and one.
std::vector<Value> vectors_of(Emitter& e, int registers, bool by_matrix) {
  std::vector<Value> out;
  for (int left = registers; left > 0;) {
    const int width = !by_matrix ? 1 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    out.push_back(e.fresh(width));
    left -= width;
  }
  return out;
}

// Registers [index * count, ...) of a fragment, which never straddle a vector: counts are 1, 2 or 4.
Value slice(const std::vector<Value>& vectors, int index, int count) {
  int first = index * count;
  for (const Value& v : vectors) {
    if (first < v.count) return count == v.count ? v : v.range(first, count);
    first -= v.count;
  }
  return vectors.back();
}

// Registers of B's fragment as it comes from shared memory.
int packed_registers(const MmaPlan& plan) { return std::max(1, plan.b.registers * plan.weight_bits / 16); }

}  // namespace

Fragments fresh_fragments(Emitter& e, const MmaPlan& plan) {
  Fragments f;
  // Words that are loaded one by one still have to lie together for the instruction.
  const auto whole = [&](const MmaOperand& o, int per_instruction) {
    if (o.by_matrix) return vectors_of(e, o.registers, true);
    std::vector<Value> groups;
    for (int i = 0; i < o.registers; i += per_instruction) groups.push_back(e.fresh(per_instruction));
    return groups;
  };
  f.a = whole(plan.a, plan.regs.a);
  f.b = plan.weight_bits > 0 ? vectors_of(e, packed_registers(plan), true) : whole(plan.b, plan.regs.b);
  for (int i = 0; i < plan.meta_loads; ++i) f.meta.push_back(e.fresh());
  return f;
}

MmaState make_mma_state(Emitter& e, const MmaPlan& plan) {
  MmaState s;
  make_pipeline_registers(e, s);
  for (int i = 0; i < plan.mma_per_group(); ++i) s.accumulators.push_back(e.fresh(plan.regs.c));
  for (int i = 0; plan.stages_sums && i < plan.mma_per_group(); ++i) s.partials.push_back(e.fresh(plan.regs.c));
  s.first = fresh_fragments(e, plan);
  for (int i = 0; i < std::min(copies_under_way, plan.copies()); ++i) {
    s.pointers.push_back(e.fresh(2));
    s.bits.push_back(e.fresh());
  }
  s.read_a_pattern = e.add_pattern(mma_fragment_pattern(plan, plan.a));
  s.read_b_pattern = e.add_pattern(mma_fragment_pattern(plan, plan.b));
  s.copy_a_pattern = e.add_pattern(mma_copy_pattern(plan, plan.a));
  s.copy_b_pattern = e.add_pattern(mma_copy_pattern(plan, plan.b));
  if (!plan.is_async) {
    s.store_a_pattern = e.add_pattern(mma_store_pattern(plan, plan.a));
    s.store_b_pattern = e.add_pattern(mma_store_pattern(plan, plan.b));
    for (int i = 0; i < plan.copies(); ++i)
      s.staged.push_back(e.fresh((i < plan.a.copies ? plan.a : plan.b).access_bytes / 4));
  }
  s.idle_pattern = add_idle_pattern(e);
  return s;
}

void emit_mma_copy(Emitter& e, const MmaPlan& plan, const MmaState& state, int number, MmaCopyCursor& cursor) {
  const bool of_a = number < plan.a.copies;
  const int index = of_a ? number : number - plan.a.copies;
  const int guard = number % 4;
  const auto slot = static_cast<std::size_t>(number) % state.bits.size();
  const Value bit = state.bits[slot];
  const Value mask = of_a ? state.a_mask : state.b_mask;
  Value& pointer = of_a ? cursor.pointer_a : cursor.pointer_b;
  emit_copy_guard(e, bit, mask, index, guard);
  if (index > 0) {
    emit_mma_pointer_step(e, state.pointers[slot], pointer, guard);
    pointer = state.pointers[slot];
  }
  const int bytes = (of_a ? plan.a : plan.b).access_bytes;
  const int pattern = of_a ? state.copy_a_pattern : state.copy_b_pattern;
  if (plan.is_async) {
    e.memory(Opcode::ldgsts, (bytes == 16 ? ".E.BYPASS.LTC128B" : ".E.LTC128B") + width_suffix(bytes), {},
             {reg(state.write_offset), reg(pointer)}, bytes, pattern)
        .guard = pred(guard);
    return;
  }
  // Lanes outside the matrix keep zeros.
  const Value data = state.staged[static_cast<std::size_t>(number)];
  for (int i = 0; i < data.count; i += 2) {
    Instruction& zero = e.emit(Opcode::cs2r, "", {reg(data.part(i))}, {});
    if (i + 1 < data.count) zero.dst[1] = reg(data.part(i + 1));
  }
  e.memory(Opcode::ldg, ".E.LTC128B" + width_suffix(bytes), reg(data), {reg(pointer)}, bytes, pattern).guard =
      pred(guard);
}

void emit_mma_stores(Emitter& e, const MmaPlan& plan, const MmaState& state) {
  for (std::size_t i = 0; i < state.staged.size(); ++i) {
    const bool of_a = static_cast<int>(i) < plan.a.copies;
    const int bytes = (of_a ? plan.a : plan.b).access_bytes;
    e.memory(Opcode::sts, width_suffix(bytes), {}, {reg(state.write_offset), reg(state.staged[i])}, bytes,
             of_a ? state.store_a_pattern : state.store_b_pattern);
  }
}

void load_mma_fragments(Emitter& e, const MmaPlan& plan, const MmaState& state, const Fragments& to, int first,
                        int span) {
  struct Load {
    Value to;
    bool of_a;
  };
  std::vector<Load> loads;
  for (const Value& v : to.b) loads.push_back({v, false});
  for (const Value& v : to.a) loads.push_back({v, true});
  const auto count = static_cast<int>(loads.size() + to.meta.size());
  int done = 0;
  const auto release = [&] { e.release_after(first + done++ * span / std::max(1, count)); };
  for (const Load& load : loads) {
    const MmaOperand& operand = load.of_a ? plan.a : plan.b;
    const Value address = load.of_a ? state.read_a : state.read_b;
    const int pattern = load.of_a ? state.read_a_pattern : state.read_b_pattern;
    release();
    if (operand.by_matrix) {
      const char* transposed = operand.along_k ? ".16.M88" : ".16.MT88";
      const std::string number = load.to.count == 1 ? "" : "." + std::to_string(load.to.count);
      e.memory(Opcode::ldsm, transposed + number, reg(load.to), {reg(address)}, 16, pattern);
    } else {
      for (int i = 0; i < load.to.count; ++i)
        e.memory(Opcode::lds, "", reg(load.to.part(i)), {reg(address)}, 4, pattern);
    }
  }
  for (const Value& v : to.meta) {
    release();
    e.memory(Opcode::lds, "", reg(v), {reg(state.read_a)}, 4, -1);
  }
}

// Two weights to a register of two halves, by bit tricks instead of conversions: a byte or four bits put under the
// exponent of a large number (PRMT, LOP3), the number taken off (HADD2 or HFMA2), the scale of the column or group
// multiplied in (HMUL2), as CUTLASS's fast numeric converters do.
std::vector<Value> widen_weights(Emitter& e, const MmaPlan& plan, const std::vector<Value>& packed) {
  const std::vector<Value> words = elements_of(packed);
  std::vector<Value> out;
  const int per_word = 16 / plan.weight_bits;
  for (int i = 0; i < plan.b.registers; i += plan.regs.b) {
    const Value v = e.fresh(plan.regs.b);
    for (int j = 0; j < plan.regs.b; ++j) {
      const Value from = words[static_cast<std::size_t>((i + j) / per_word) % words.size()];
      if (plan.weight_bits == 4 && (i + j) % per_word == 1)
        e.emit(Opcode::shf, ".R.U32.HI", {reg(from)}, {reg(zero_value), imm(8), reg(from)});
      e.emit(plan.weight_bits == 8 ? Opcode::prmt : Opcode::lop3, "", {reg(v.part(j))},
             {reg(from), imm(0x5250), reg(zero_value)});
      e.emit(plan.weight_bits == 8 ? Opcode::hadd2 : Opcode::hfma2, "", {reg(v.part(j))},
             {reg(v.part(j)), reg(zero_value)});
      e.emit(Opcode::hfma2, ".MMA", {reg(v.part(j))}, {reg(v.part(j)), reg(zero_value)});
    }
    out.push_back(v);
  }
  return out;
}

void emit_products(Emitter& e, const MmaPlan& plan, const MmaState& state, const Fragments& from, bool anew) {
  const std::vector<Value>& sums = plan.stages_sums ? state.partials : state.accumulators;
  const Opcode op = opcode_of(plan.form);
  const std::string modifiers = modifiers_of(plan.form);
  for (int row = 0; row < plan.warp_rows; ++row) {
    for (int step = 0; step < plan.warp_columns; ++step) {
      const int column = row % 2 == 0 ? step : plan.warp_columns - 1 - step;
      const Value c = sums[static_cast<std::size_t>(row * plan.warp_columns + column)];
      Instruction& mma = e.emit(
          op, modifiers, {reg(c)},
          {reg(slice(from.a, row, plan.regs.a)), reg(slice(from.b, column, plan.regs.b)), reg(anew ? zero_value : c)});
      if (!from.meta.empty()) mma.src[3] = reg(from.meta[static_cast<std::size_t>(row)]);
    }
  }
}

void emit_mma_group(Emitter& e, const MmaPlan& plan, const MmaState& state, const Fragments& from, bool anew) {
  if (plan.weight_bits > 0) {
    Fragments wide = from;
    wide.b = widen_weights(e, plan, from.b);
    return emit_products(e, plan, state, wide, anew);
  }
  emit_products(e, plan, state, from, anew);
}

void emit_staged_sums(Emitter& e, const MmaPlan& plan, const MmaState& state) {
  if (!plan.stages_sums) return;
  const std::vector<Value> sums = elements_of(state.accumulators), parts = elements_of(state.partials);
  e.release_after(0);  // as soon as the products are there
  for (std::size_t i = 0; i < sums.size(); ++i) e.emit(Opcode::fadd, "", {reg(sums[i])}, {reg(sums[i]), reg(parts[i])});
}

}  // namespace noteg::kernels
