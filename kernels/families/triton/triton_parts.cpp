// State, copies and fragments of triton kernels.
#include "kernels/families/triton/triton.hpp"

#include <algorithm>

#include "kernels/families/wgmma/wgmma_parts.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {
namespace {

constexpr int most_pointers = 24;      // that keep registers of their own here; others are steps from these
constexpr int most_staged_words = 64;  // of loads that are under way to registers

std::vector<Value> fresh_pointers(Emitter& e, int count, bool is_tight) {
  std::vector<Value> out;
  for (int i = 0; i < std::clamp(count, 1, is_tight ? 2 : most_pointers / 2); ++i) out.push_back(e.fresh(2));
  return out;
}

// Each copy has a pointer of its own, which moves on by a tile.
void step_pointer(Emitter& e, const std::vector<Value>& pointers, int index) {
  const Value p = pointers[static_cast<std::size_t>(index) % pointers.size()];
  emit_pointer_step(e, p, p, index, Opcode::imad);
}

int words_of(const MmaOperand& o) { return std::max(1, o.access_bytes / 4); }

// Loads of an operand into registers and on to shared memory, so many at a time as registers hold.
void emit_sync_operand(Emitter& e, const TritonState& state, const MmaOperand& o, const std::vector<Value>& pointers,
                       int load_pattern, int store_pattern, bool is_tight) {
  const int batch = std::max(1, (is_tight ? most_staged_words / 4 : most_staged_words) / words_of(o));
  std::vector<Value> ring;  // each batch goes where the one before was
  for (int i = 0; i < std::min(batch, o.copies); ++i) ring.push_back(e.fresh(words_of(o)));
  for (int first = 0; first < o.copies; first += batch) {
    const int last = std::min(o.copies, first + batch);
    std::vector<Value> staged;
    for (int i = first; i < last; ++i) {
      staged.push_back(ring[static_cast<std::size_t>(i - first)]);
      const Value p = pointers[static_cast<std::size_t>(i) % pointers.size()];
      e.memory(Opcode::ldg, o.access_bytes < 4 ? ".E.U16" : ".E" + width_suffix(o.access_bytes), reg(staged.back()),
               {reg(p)}, o.access_bytes, load_pattern)
          .guard = pred(i % 4);
      // Narrow ones are reached by an index each.
      if (o.access_bytes < 4)
        e.emit(Opcode::imad_wide, "", {reg(p)}, {reg(state.iterations_left), constant(0x1a0), reg(p)});
      else
        step_pointer(e, pointers, i);
    }
    if (first == 0) emit_barrier(e);  // all warps have read the tile before
    for (const Value& v : staged)
      e.memory(Opcode::sts, o.access_bytes < 4 ? ".U16" : width_suffix(o.access_bytes), {},
               {reg(state.write_offset), reg(v)}, o.access_bytes, store_pattern);
  }
}

// B's fragments of one k group: 8-bit weights are cast one by one (I2F), two packed into a register.
void cast_weights(Emitter& e, const TritonPlan& plan, const std::vector<Value>& weights,
                  const std::vector<Value>& casts, const Fragments& to) {
  const bool half = plan.mma.form.in == DataType::f16;
  std::size_t word = 0;
  for (const Value& v : elements_of(to.b)) {
    const Value raw = weights[word / 2 % weights.size()];
    const Value low = casts[2 * word % casts.size()], high = casts[(2 * word + 1) % casts.size()];
    for (const Value& part : {low, high}) {  // sign-extended, cast, moved into place
      e.emit(Opcode::prmt, "", {reg(part)}, {reg(raw), imm(0x8880), reg(zero_value)});
      e.emit(Opcode::i2f, half ? ".F16.S16" : ".S8", {reg(part)}, {reg(part)});
      e.emit(Opcode::imad, ".MOV.U32", {reg(part)}, {reg(zero_value), reg(zero_value), reg(part)});
    }
    if (half)
      e.emit(Opcode::prmt, "", {reg(v)}, {reg(low), imm(0x5410), reg(high)});
    else
      e.emit(Opcode::f2fp, ".BF16.PACK_AB", {reg(v)}, {reg(high), reg(low)});
    ++word;
  }
}

}  // namespace

TritonState make_triton_state(Emitter& e, const TritonPlan& plan) {
  TritonState s;
  make_pipeline_registers(e, s);
  const MmaPlan& m = plan.mma;
  s.a_pointers = fresh_pointers(e, plan.a.pointers, plan.is_tight);
  s.b_pointers = fresh_pointers(e, plan.b.pointers, plan.is_tight);
  if (plan.on_warpgroups) {
    for (int i = 0; i < plan.blocks; ++i) s.accumulators.push_back(e.fresh(m.regs.c));
  } else if (plan.is_ffma) {
    s.tile = fresh_accumulators(e, plan.threads.thread_m(), plan.threads.thread_n(), Allocation::vector_loops);
  } else {
    for (int i = 0; i < m.mma_per_group(); ++i) s.accumulators.push_back(e.fresh(m.regs.c));
    s.read_a_pattern = e.add_pattern(mma_fragment_pattern(m, m.a));
    s.read_b_pattern = e.add_pattern(plan.casts_b ? contiguous(Space::shared, Matrix::b, false, 8, 256)
                                                  : mma_fragment_pattern(m, m.b));
  }
  s.copy_a_pattern = e.add_pattern(mma_copy_pattern(m, m.a));
  s.copy_b_pattern = e.add_pattern(mma_copy_pattern(m, m.b));
  if (!plan.a.is_async) s.store_a_pattern = e.add_pattern(mma_store_pattern(m, m.a));
  if (!plan.b.is_async) s.store_b_pattern = e.add_pattern(mma_store_pattern(m, m.b));
  constexpr int casts_under_way = 16;
  for (int i = 0; plan.casts_b && i < casts_under_way; ++i) s.weights.push_back(e.fresh());
  s.idle_pattern = add_idle_pattern(e);
  if (plan.scales) {
    constexpr int rows_of_fragment = 2;  // that a thread has
    for (int i = 0; i < m.mma_per_group(); ++i) s.partials.push_back(e.fresh(m.regs.c));
    for (int i = 0; i < rows_of_fragment * m.warp_rows; ++i) s.row_scales.push_back(e.fresh());
    s.column_scale = e.fresh();
    s.scale_pattern = e.add_pattern(contiguous(Space::global, Matrix::none, false, 4, 128));
    s.scale_store = e.add_pattern(contiguous(Space::shared, Matrix::none, true, 4, 128));
    s.scale_read = e.add_pattern(contiguous(Space::shared, Matrix::none, false, 8, 256));
  }
  return s;
}

void emit_triton_scale_loads(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  if (!plan.scales) return;
  const Value place = e.fresh(2);  // of the block among those of K, by a division
  constexpr int division = 12;
  for (int i = 0; i < division; ++i)
    e.emit(Opcode::imad, "", {reg(place.part(i % 2))},
           {reg(state.iterations_left), constant(0x1a0), reg(place.part(i % 2))});
  const auto load = [&](Value to) {
    e.emit(Opcode::imad_wide, "", {reg(place)}, {reg(state.iterations_left), constant(0x1a8), reg(place)});
    e.memory(Opcode::ldg, ".E", reg(to), {reg(place)}, 4, state.scale_pattern);
  };
  for (const Value& scale : state.row_scales) load(scale);
  load(state.column_scale);
}

void emit_triton_scale_store(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  if (plan.scales)
    e.memory(Opcode::sts, "", {}, {reg(state.write_offset), reg(state.column_scale)}, 4, state.scale_store);
}

void emit_triton_scaling(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  if (!plan.scales) return;
  std::vector<Value> columns;
  for (int i = 0; i < plan.mma.warp_columns; ++i) {
    columns.push_back(e.fresh(2));
    e.memory(Opcode::lds, ".64", reg(columns.back()), {reg(state.read_b)}, 8, state.scale_read);
  }
  for (std::size_t i = 0; i < state.partials.size(); ++i) {
    const std::size_t row = i / columns.size(), column = i % columns.size();
    for (int part = 0; part < plan.mma.regs.c; ++part) {
      const Value product = state.partials[i].part(part), sum = state.accumulators[i].part(part);
      e.emit(Opcode::fmul, "", {reg(product)}, {reg(product), reg(state.row_scales[2 * row + part / 2])});
      e.emit(Opcode::ffma, "", {reg(sum)}, {reg(product), reg(columns[column].part(part % 2)), reg(sum)});
    }
  }
}

void emit_triton_async(Emitter& e, const TritonPlan& plan, const TritonState& state, Releases at) {
  const int copies = (plan.a.is_async ? plan.mma.a.copies : 0) + (plan.b.is_async ? plan.mma.b.copies : 0);
  // Compilers put three loads that never execute before the copies of an iteration.
  for (int i = 0; i < 3; ++i)
    e.memory(Opcode::lds, "", reg(zero_value), {reg(zero_value)}, 4, state.idle_pattern).guard = never();
  int number = 0;
  const auto operand = [&](const MmaOperand& o, const std::vector<Value>& pointers, int pattern) {
    for (int i = 0; i < o.copies; ++i, ++number) {
      e.release_after(at.first + number * at.span / std::max(1, copies));
      const Value p = pointers[static_cast<std::size_t>(i) % pointers.size()];
      const bool wide = o.access_bytes == 16;
      e.memory(Opcode::ldgsts, (wide ? ".E.BYPASS" : ".E") + width_suffix(o.access_bytes), {},
               {reg(state.write_offset), reg(p)}, o.access_bytes, pattern)
          .guard = pred(number % 4);
      step_pointer(e, pointers, i);
    }
    e.emit(Opcode::ldgdepbar, "", {}, {});  // each tl.load is a group
  };
  if (plan.a.is_async) operand(plan.mma.a, state.a_pointers, state.copy_a_pattern);
  if (plan.b.is_async) operand(plan.mma.b, state.b_pointers, state.copy_b_pattern);
}

void emit_triton_sync(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  if (!plan.a.is_async)
    emit_sync_operand(e, state, plan.mma.a, state.a_pointers, state.copy_a_pattern, state.store_a_pattern,
                      plan.is_tight);
  if (!plan.b.is_async)
    emit_sync_operand(e, state, plan.mma.b, state.b_pointers, state.copy_b_pattern, state.store_b_pattern,
                      plan.is_tight);
}

void emit_triton_spills(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  const int words = plan.spilled_words;
  if (words <= 0) return;
  // Local memory hits in L1, whose data lie in the same banks as shared memory.
  const int store = e.add_pattern(contiguous(Space::shared, Matrix::none, true, 4, 128));
  const int load = e.add_pattern(contiguous(Space::shared, Matrix::none, false, 4, 128));
  for (int i = 0; i < words; ++i) {
    e.memory(Opcode::sts, "", {}, {reg(state.write_offset), reg(state.iterations_left)}, 4, store);
    e.memory(Opcode::lds, "", reg(e.fresh()), {reg(state.write_offset)}, 4, load);
  }
}

void emit_triton_warpgroup_wait(Emitter& e, int groups) {
  emit_async(e, Opcode::warpgroup, ".DEPBAR.LE", {.kind = AsyncKind::matmul_wait, .groups = groups});
}

// With three stages and more the products of a tile run while the next one is waited for.
int emit_triton_warpgroups(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  const MmaPlan& m = plan.mma;
  e.emit(Opcode::warpgroup, ".ARRIVE", {}, {});
  for (int step = 0; step < m.k_groups; ++step)
    for (int block = 0; block < plan.blocks; ++block) {
      for (int i = 0; i < 2; ++i) e.emit(Opcode::uiadd3, "", {ureg(12 + 2 * i)}, {ureg(10), imm(step)});
      const Value sums = state.accumulators[static_cast<std::size_t>(block)];
      Instruction& ins = emit_async(e, opcode_of(m.form), modifiers_of(m.form),
                                    {.kind = AsyncKind::matmul,
                                     .n = m.form.shape.n,
                                     .closes_group = step + 1 == m.k_groups && block + 1 == plan.blocks});
      ins.dst[0] = reg(sums);
      ins.src[0] = ureg(12, 2);
      ins.src[1] = ureg(14, 2);
      ins.src[2] = reg(sums);
    }
  emit_triton_warpgroup_wait(e, m.stages > 2 ? 1 : 0);
  return m.k_groups * plan.blocks;
}

int emit_triton_products(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  const MmaPlan& m = plan.mma;
  const int per_group = m.mma_per_group();
  Fragments wide = fresh_fragments(e, m);  // of B, handed on where registers are short
  const auto load = [&](int group) {
    Fragments f = fresh_fragments(e, m);
    if (plan.casts_b && plan.is_tight) f.b = wide.b;
    const int first = std::max(0, (group - 1) * per_group);
    if (!plan.casts_b) {
      load_mma_fragments(e, m, state, f, first, group == 0 ? 0 : per_group / 2);
      return f;
    }
    Fragments raw = f;  // B as bytes: half the registers
    raw.b.clear();
    load_mma_fragments(e, m, state, raw, first, group == 0 ? 0 : per_group / 2);
    for (int i = 0; i < std::max(1, m.b.registers / 4); ++i) {
      raw.b.push_back(e.fresh(2));
      e.memory(Opcode::lds, ".64", reg(raw.b.back()), {reg(state.read_b)}, 8, state.read_b_pattern);
    }
    cast_weights(e, plan, elements_of(raw.b), state.weights, f);
    return f;
  };
  TritonState of_block = state;
  if (plan.scales) of_block.accumulators = state.partials;
  Fragments now = load(0);
  for (int group = 0; group < m.k_groups; ++group) {
    const bool is_last = group + 1 == m.k_groups;
    const Fragments next = is_last ? Fragments{} : load(group + 1);
    emit_mma_group(e, m, of_block, now);
    now = next;
  }
  return (plan.casts_b ? m.k_groups : m.k_groups - 1) * per_group;
}

}  // namespace noteg::kernels
