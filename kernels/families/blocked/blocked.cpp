// A register-blocked kernel as nvcc compiles it from plain CUDA: float4 loads, A transposed into shared memory with
// four elements of padding, fragments of consecutive rows and of strided columns, one buffer with two barriers per k
// tile or two buffers with one. Instruction shares follow our own blocked kernels compiled for sm_90.
#include <algorithm>

#include "kernels/families/blocked/blocked_parts.hpp"
#include "kernels/families/build.hpp"

namespace noteg::kernels {
namespace {

constexpr int store_predicate = 6;

class Blocked {
 public:
  Blocked(const BlockedPlan& plan, const KernelConfig& config)
      : plan_(plan), config_(config), state_(make_state(e_, plan)) {}

  Result<Program> build(const BuildRequest& request) {
    emit_prologue();
    e_.program().mainloop_begin = e_.position();
    const int loop = e_.begin_loop(true, 1);
    if (plan_.is_double_buffered) {
      emit_double_buffered_iteration();
    } else {
      emit_single_buffered_iteration();
    }
    e_.end_loop(loop, pred(store_predicate, true));
    e_.release_after(0);
    e_.program().epilogue_begin = e_.position();
    if (plan_.is_double_buffered) emit_tile_arithmetic();
    emit_store();
    describe();
    return finish(e_, request);
  }

 private:
  void emit_prologue() {
    emit_index_arithmetic(e_, plan_.is_double_buffered ? 46 : 40);
    emit_base_addresses(e_, state_);
    emit_zeroes(e_, state_.accumulators);
    if (!plan_.is_double_buffered) return;
    emit_tile_load(e_, plan_, state_);
    emit_tile_store(e_, plan_, state_);
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  }

  void emit_single_buffered_iteration() {
    emit_tile_load(e_, plan_, state_);
    emit_loop_condition();
    emit_tile_store(e_, plan_, state_);
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
    emit_tile_arithmetic();
    e_.release_after(plan_.accumulators() * plan_.tile.k);
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  }

  // Loads for the next tile stand in the middle, their stores before the last step, as nvcc places them.
  void emit_double_buffered_iteration() {
    const int all = plan_.accumulators() * plan_.tile.k;
    emit_buffer_addresses(e_, state_);
    emit_tile_arithmetic();
    e_.release_after(all * 2 / 5);
    emit_tile_load(e_, plan_, state_);
    e_.release_after(all * 4 / 5);
    emit_buffer_change(e_, state_);
    emit_loop_condition();
    e_.release_after(all * 9 / 10);
    emit_tile_store(e_, plan_, state_);
    e_.release_after(all);
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  }

  void emit_loop_condition() {
    e_.emit(Opcode::uiadd3, "", {ureg(4)}, {ureg(4), imm(plan_.tile.k)});
    e_.emit(Opcode::isetp, ".LE.AND", {Operand{}, pred(store_predicate)}, {reg(state_.k_extent), ureg(4)});
  }

  // One k tile: fragments one step ahead of the products.
  void emit_tile_arithmetic() {
    const int per_step = plan_.accumulators();
    std::vector<Value> a, b;
    load(a, b, 0, 0);
    for (int step = 0; step < plan_.tile.k; ++step) {
      std::vector<Value> next_a, next_b;
      if (step + 1 < plan_.tile.k) load(next_a, next_b, step + 1, step * per_step + per_step / 4);
      emit_runs(e_, {elements_of(a), elements_of(b), state_.accumulators}, vector_width);
      a = next_a;
      b = next_b;
    }
  }

  void load(std::vector<Value>& a, std::vector<Value>& b, int step, int release) {
    auto one = [&](std::vector<Value>& to, Value address, int pattern, int offset) {
      e_.release_after(release);
      to.push_back(e_.fresh(vector_width));
      e_.memory(Opcode::lds, ".128", reg(to.back()), {reg(address)}, 16, pattern).src[0].value = offset;
      release += 4;
    };
    const int a_row = (plan_.tile.m + plan_.a.pad) * f32_bytes;
    const int b_row = (plan_.tile.n + plan_.b.pad) * f32_bytes;
    for (int i = 0; i < plan_.thread_m; i += vector_width)
      one(a, state_.read_a, state_.read_a_pattern, step * a_row + i * f32_bytes);
    for (int j = 0; j < plan_.thread_n; j += vector_width) {
      one(b, state_.read_b, state_.read_b_pattern, step * b_row + j * plan_.threads_n * f32_bytes);
    }
  }

  // Row by row under guard, 128 bits a store.
  void emit_store() {
    const Value row = e_.fresh();
    const Value column = e_.fresh();
    emit_index_arithmetic(e_, 8);
    e_.emit(Opcode::s2r, "", {reg(row)}, {});
    e_.emit(Opcode::s2r, "", {reg(column)}, {});
    e_.emit(Opcode::uldc, ".64", {ureg(6, 2)}, {constant(0x228, 2)});
    for (int i = 0; i < plan_.thread_m; ++i) emit_row(i, row, column);
    e_.emit(Opcode::exit, "", {}, {});
  }

  void emit_row(int row, Value first_row, Value column) {
    const Value m = e_.fresh(), high = e_.fresh(), product = e_.fresh();
    const Value index = e_.fresh(2), address = e_.fresh(2);
    e_.emit(Opcode::iadd3, "", {reg(m)}, {reg(first_row), imm(row), reg(zero_value)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(m), ureg(6)});
    e_.emit(Opcode::bssy, "", {}, {});
    e_.emit(Opcode::bra, "", {}, {}).guard = pred(0);
    e_.emit(Opcode::shf, ".R.S32.HI", {reg(high)}, {reg(zero_value), imm(0x1f), reg(m)});
    e_.emit(Opcode::imad, "", {reg(product)}, {reg(high), ureg(7), reg(zero_value)});
    e_.emit(Opcode::imad_wide, ".U32", {reg(index)}, {reg(m), ureg(7), reg(column)});
    e_.emit(Opcode::imad, "", {reg(product)}, {reg(m), ureg(6), reg(product)});
    e_.emit(Opcode::iadd3, "", {reg(high)}, {reg(index.part(1)), reg(product), reg(zero_value)});
    e_.emit(Opcode::lea, "", {reg(address.part(0)), pred(5)}, {reg(index.part(0)), ureg(6), imm(2)});
    e_.emit(Opcode::lea, ".HI.X", {reg(address.part(1))}, {reg(index.part(0)), ureg(7), reg(high), pred(5)});
    for (int j = 0; j < plan_.thread_n; j += vector_width) emit_vector_store(row, j, column, address);
    e_.emit(Opcode::bsync, "", {}, {});
  }

  void emit_vector_store(int row, int j, Value column, Value address) {
    const int guard = 1 + j / vector_width % 3;
    const Value n = e_.fresh();
    e_.emit(Opcode::iadd3, "", {reg(n)}, {reg(column), imm(j * plan_.threads_n), reg(zero_value)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(guard)}, {reg(n), ureg(7)});
    // nvcc lets the last k step write its results side by side; here four moves would be extra, so the store
    // names the accumulators it depends on through its first and last.
    const std::size_t first = static_cast<std::size_t>(row * plan_.thread_n + j);
    Instruction& store = e_.memory(Opcode::stg, ".E.128", {},
                                   {reg(address), reg(state_.accumulators[first]), reg(state_.accumulators[first + 3])},
                                   16, state_.store_pattern);
    store.guard = pred(guard, true);
  }

  void describe() {
    Program& p = e_.program();
    p.name = config_.name.empty() ? "blocked" : config_.name;
    p.threads = plan_.threads;
    p.warps = (plan_.threads + 31) / 32;
    p.shared_bytes = plan_.shared_bytes;
    p.k_per_iteration = plan_.tile.k;
    p.stages = plan_.is_double_buffered ? 2 : 1;
    p.peeled_tiles = plan_.is_double_buffered ? 1 : 0;
    p.prologue_tiles = 0;
    p.a_bytes_per_iteration = 4.0 * plan_.tile.m * plan_.tile.k;
    p.b_bytes_per_iteration = 4.0 * plan_.tile.n * plan_.tile.k;
  }

  const BlockedPlan& plan_;
  const KernelConfig& config_;
  Emitter e_;
  BlockedState state_;
};

}  // namespace

Result<Program> build_blocked(const BuildRequest& request) {
  const auto plan = plan_blocked(request.config);
  if (!plan) return plan.errors();
  return Blocked(*plan, request.config).build(request);
}

}  // namespace noteg::kernels
