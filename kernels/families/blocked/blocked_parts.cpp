#include "kernels/families/blocked/blocked_parts.hpp"

#include <algorithm>

namespace noteg::kernels {
namespace {

constexpr int lanes = 32;

Diagnostic mistake(std::string key, std::string expected, int found) {
  return {"", 0, 0, std::move(key), std::move(expected), std::to_string(found)};
}

BlockedOperand plan_operand(Matrix matrix, int extent, bool is_k_contiguous, const BlockedPlan& plan) {
  BlockedOperand o;
  o.matrix = matrix;
  o.extent = extent;
  o.is_k_contiguous = is_k_contiguous;
  o.pad = is_k_contiguous ? 4 : 0;
  o.copies = std::max(1, extent * plan.tile.k / (vector_width * plan.threads));
  return o;
}

AccessPattern load_pattern(const BlockedPlan& plan, const BlockedOperand& o) {
  AccessPattern p;
  p.space = Space::global;
  p.matrix = o.matrix;
  p.bytes_per_lane = vector_width * f32_bytes;
  p.active_mask = lane_mask(plan.threads);
  const int run = std::max(1, (o.is_k_contiguous ? plan.tile.k : o.extent) / vector_width);
  for (int lane = 0; lane < lanes; ++lane) {
    p.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(lane / run) * nominal_pitch +
                                               static_cast<std::uint32_t>(lane % run * vector_width * f32_bytes);
  }
  return p;
}

AccessPattern write_pattern(const BlockedPlan& plan, const BlockedOperand& o) {
  AccessPattern p = load_pattern(plan, o);
  p.space = Space::shared;
  p.store = true;
  p.bytes_per_lane = static_cast<std::uint8_t>(o.is_k_contiguous ? f32_bytes : vector_width * f32_bytes);
  const int row = o.extent + o.pad;
  const int run = std::max(1, (o.is_k_contiguous ? plan.tile.k : o.extent) / vector_width);
  for (int lane = 0; lane < lanes; ++lane) {
    const int along = lane % run * vector_width;
    const int across = lane / run;
    const int at = o.is_k_contiguous ? along * row + across : across * row + along;
    p.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(at * f32_bytes);
  }
  return p;
}

// Rows of a thread are consecutive; its columns come in vectors, threads_n vectors apart.
AccessPattern read_pattern(const BlockedPlan& plan, bool of_a) {
  AccessPattern p;
  p.matrix = of_a ? Matrix::a : Matrix::b;
  p.bytes_per_lane = vector_width * f32_bytes;
  p.active_mask = lane_mask(plan.threads);
  for (int lane = 0; lane < lanes; ++lane) {
    const int elements = of_a ? lane / plan.threads_n * plan.thread_m : lane % plan.threads_n * vector_width;
    p.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(elements * f32_bytes);
  }
  return p;
}

AccessPattern result_pattern(const BlockedPlan& plan) {
  AccessPattern p;
  p.space = Space::global;
  p.matrix = Matrix::c;
  p.store = true;
  p.bytes_per_lane = vector_width * f32_bytes;
  p.active_mask = lane_mask(plan.threads);
  for (int lane = 0; lane < lanes; ++lane) {
    p.offset[static_cast<std::size_t>(lane)] =
        static_cast<std::uint32_t>(lane / plan.threads_n * plan.thread_m) * nominal_pitch +
        static_cast<std::uint32_t>(lane % plan.threads_n * vector_width * f32_bytes);
  }
  return p;
}

void emit_guarded_load(Emitter& e, Value to, int guard, int pattern, Value address) {
  e.emit(Opcode::cs2r, "", {reg(to.part(0)), reg(to.part(1))}, {});
  e.emit(Opcode::cs2r, "", {reg(to.part(2)), reg(to.part(3))}, {});
  Instruction& load = e.memory(Opcode::ldg, ".E.128.CONSTANT", reg(to), {reg(address)}, 16, pattern);
  load.guard = pred(guard, true);
}

// A's address moves by a constant from tile to tile: ten instructions beside the load.
void emit_load_a(Emitter& e, const BlockedState& s, Value to, int guard) {
  const Value extent = e.fresh(), index = e.fresh();
  const Value address = e.fresh(2);
  e.emit(Opcode::ldc, "", {reg(extent)}, {constant(0x230)});
  e.emit(Opcode::isetp, ".GE.OR", {Operand{}, pred(guard)}, {reg(s.k_index), reg(extent)});
  e.emit(Opcode::mov, "", {reg(address.part(0))}, {reg(s.a_pointer.part(0))});
  e.emit(Opcode::mov, "", {reg(address.part(1))}, {reg(s.a_pointer.part(1))});
  e.emit(Opcode::imad, "", {reg(index)}, {reg(s.k_index), constant(0x230), reg(zero_value)});
  emit_guarded_load(e, to, guard, s.load_a_pattern, address);
  e.emit(Opcode::iadd3, "", {reg(s.a_pointer.part(0)), pred(4)}, {reg(s.a_pointer.part(0)), imm(32), reg(zero_value)});
  e.emit(Opcode::iadd3, ".X", {reg(s.a_pointer.part(1))},
         {reg(zero_value), reg(s.a_pointer.part(1)), reg(zero_value), pred(4)});
}

// B's row changes: the 64-bit product k * N is formed anew.
void emit_load_b(Emitter& e, const BlockedState& s, Value to, int guard) {
  const Value row = e.fresh(), high = e.fresh(), product = e.fresh();
  const Value base = e.fresh(2), index = e.fresh(2), address = e.fresh(2);
  e.emit(Opcode::isetp, ".GE.OR", {Operand{}, pred(guard)}, {reg(s.k_index), reg(s.k_extent)});
  e.emit(Opcode::ldc, "", {reg(row)}, {constant(0x22c)}).guard = pred(guard, true);
  e.emit(Opcode::ldc, ".64", {reg(base)}, {constant(0x218, 2)}).guard = pred(guard, true);
  e.emit(Opcode::shf, ".R.S32.HI", {reg(high)}, {reg(zero_value), imm(0x1f), reg(row)});
  e.emit(Opcode::imad, "", {reg(product)}, {reg(s.k_index), reg(row), reg(zero_value)});
  e.emit(Opcode::imad, "", {reg(product)}, {reg(high), reg(s.k_index), reg(product)});
  e.emit(Opcode::imad_wide, ".U32", {reg(index)}, {reg(s.k_index), reg(row), reg(s.b_pointer)});
  e.emit(Opcode::iadd3, "", {reg(high)}, {reg(index.part(1)), reg(product), reg(zero_value)});
  e.emit(Opcode::lea, "", {reg(address.part(0)), pred(5)}, {reg(index.part(0)), reg(base.part(0)), imm(2)});
  e.emit(Opcode::lea, ".HI.X", {reg(address.part(1))}, {reg(index.part(0)), reg(base.part(1)), reg(high), pred(5)});
  emit_guarded_load(e, to, guard, s.load_b_pattern, address);
  e.emit(Opcode::iadd3, "", {reg(s.k_index), pred(4)}, {reg(s.k_index), imm(8), reg(zero_value)});
  e.emit(Opcode::iadd3, ".X", {reg(s.b_pointer.part(1))},
         {reg(zero_value), reg(s.b_pointer.part(1)), reg(zero_value), pred(4)});
}

}  // namespace

Result<BlockedPlan> plan_blocked(const KernelConfig& config) {
  BlockedPlan plan;
  plan.tile = config.tile;
  plan.thread_m = config.thread_m.value_or(8);
  plan.thread_n = config.thread_n.value_or(8);
  Diagnostics found;
  if (plan.thread_m <= 0 || plan.thread_m % vector_width != 0)
    found.push_back(mistake("thread_m", "a multiple of 4", plan.thread_m));
  if (plan.thread_n <= 0 || plan.thread_n % vector_width != 0)
    found.push_back(mistake("thread_n", "a multiple of 4", plan.thread_n));
  if (plan.tile.k < vector_width || plan.tile.k % vector_width != 0)
    found.push_back(mistake("tile.k", "a multiple of 4", plan.tile.k));
  if (!found.empty()) return found;
  if (plan.tile.m <= 0 || plan.tile.m % plan.thread_m != 0)
    found.push_back(mistake("tile.m", "a multiple of thread_m", plan.tile.m));
  if (plan.tile.n <= 0 || plan.tile.n % plan.thread_n != 0)
    found.push_back(mistake("tile.n", "a multiple of thread_n", plan.tile.n));
  if (!found.empty()) return found;
  plan.threads_m = plan.tile.m / plan.thread_m;
  plan.threads_n = plan.tile.n / plan.thread_n;
  plan.threads = plan.threads_m * plan.threads_n;
  plan.is_double_buffered = config.stages.value_or(2) >= 2;
  plan.a = plan_operand(Matrix::a, plan.tile.m, a_contiguous_in_k(config.layout), plan);
  plan.b = plan_operand(Matrix::b, plan.tile.n, !b_contiguous_in_n(config.layout), plan);
  plan.shared_bytes = std::int64_t{f32_bytes} * (plan.is_double_buffered ? 2 : 1) * plan.tile.k *
                      (plan.tile.m + plan.a.pad + plan.tile.n + plan.b.pad);
  return plan;
}

BlockedState make_state(Emitter& e, const BlockedPlan& plan) {
  BlockedState s;
  s.a_pointer = e.fresh(2);
  s.b_pointer = e.fresh(2);
  for (Value* v : {&s.k_extent, &s.k_index, &s.read_a, &s.read_b, &s.write_a, &s.write_b, &s.buffer}) *v = e.fresh();
  s.accumulators = fresh_accumulators(e, plan.thread_m, plan.thread_n, Allocation::plain_loops);
  for (int i = 0; i < plan.a.copies + plan.b.copies; ++i) s.staged.push_back(e.fresh(vector_width));
  s.read_a_pattern = e.add_pattern(read_pattern(plan, true));
  s.read_b_pattern = e.add_pattern(read_pattern(plan, false));
  s.load_a_pattern = e.add_pattern(load_pattern(plan, plan.a));
  s.load_b_pattern = e.add_pattern(load_pattern(plan, plan.b));
  s.write_a_pattern = e.add_pattern(write_pattern(plan, plan.a));
  s.write_b_pattern = e.add_pattern(write_pattern(plan, plan.b));
  s.store_pattern = e.add_pattern(result_pattern(plan));
  return s;
}

void emit_base_addresses(Emitter& e, const BlockedState& s) {
  const Value tid = e.fresh();
  e.emit(Opcode::s2r, "", {reg(tid)}, {});
  e.emit(Opcode::ldc, "", {reg(s.k_extent)}, {constant(0x230)});
  for (const Value& v : {s.k_index, s.read_a, s.read_b, s.write_a, s.write_b, s.buffer}) {
    e.emit(Opcode::lea, "", {reg(v)}, {reg(tid), constant(0x28), imm(4)});
  }
  for (const Value& v : {s.a_pointer, s.b_pointer})
    e.emit(Opcode::imad_wide, "", {reg(v)}, {reg(tid), constant(0x230), constant(0x210, 2)});
  e.emit(Opcode::umov, "", {ureg(4)}, {imm(0)});
}

void emit_tile_load(Emitter& e, const BlockedPlan& plan, const BlockedState& s) {
  for (int i = 0; i < plan.b.copies; ++i)
    emit_load_b(e, s, s.staged[static_cast<std::size_t>(plan.a.copies + i)], i % 2);
  for (int i = 0; i < plan.a.copies; ++i) emit_load_a(e, s, s.staged[static_cast<std::size_t>(i)], 2 + i % 2);
}

void emit_tile_store(Emitter& e, const BlockedPlan& plan, const BlockedState& s) {
  for (std::size_t i = 0; i < s.staged.size(); ++i) {
    const bool of_a = static_cast<int>(i) < plan.a.copies;
    const BlockedOperand& o = of_a ? plan.a : plan.b;
    const Value address = of_a ? s.write_a : s.write_b;
    const int pattern = of_a ? s.write_a_pattern : s.write_b_pattern;
    if (!o.is_k_contiguous) {
      e.memory(Opcode::sts, ".128", {}, {reg(address), reg(s.staged[i])}, 16, pattern);
      continue;
    }
    for (int part = 0; part < vector_width; ++part) {
      Instruction& store =
          e.memory(Opcode::sts, "", {}, {reg(address), reg(s.staged[i].part(part))}, f32_bytes, pattern);
      store.src[0].value = part * (o.extent + o.pad) * f32_bytes;
    }
  }
}

void emit_buffer_addresses(Emitter& e, const BlockedState& s) {
  const Value a = e.fresh(), b = e.fresh();
  e.emit(Opcode::shf, ".L.U32", {reg(b)}, {reg(s.buffer), imm(12), reg(zero_value)});
  e.emit(Opcode::imad, "", {reg(a)}, {reg(s.buffer), imm(0x1080), reg(zero_value)});
  e.emit(Opcode::lea, "", {reg(s.read_a)}, {reg(a), ureg(5), imm(5)});
  e.emit(Opcode::lea, "", {reg(s.read_b)}, {reg(b), ureg(5), imm(4)});
}

void emit_buffer_change(Emitter& e, const BlockedState& s) {
  const Value a = e.fresh(), b = e.fresh();
  e.emit(Opcode::lop3, "", {reg(s.buffer)}, {reg(s.buffer), imm(1), reg(zero_value)});
  e.emit(Opcode::lop3, "", {reg(b)}, {reg(s.buffer), imm(0x1000), reg(zero_value)});
  e.emit(Opcode::imad, "", {reg(a)}, {reg(s.buffer), imm(0x1080), reg(zero_value)});
  e.emit(Opcode::imad, "", {reg(a)}, {reg(a), imm(0x210), reg(zero_value)});
  e.emit(Opcode::iadd3, "", {reg(b)}, {reg(b), ureg(5), reg(zero_value)});
  e.emit(Opcode::lea, "", {reg(s.write_a)}, {reg(a), ureg(5), imm(2)});
  e.emit(Opcode::lea, "", {reg(s.write_b)}, {reg(b), ureg(5), imm(9)});
  e.emit(Opcode::lea, "", {reg(s.write_b)}, {reg(s.write_b), ureg(5), imm(4)});
}

}  // namespace noteg::kernels
