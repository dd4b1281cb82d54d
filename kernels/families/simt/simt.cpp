#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/simt/simt_parts.hpp"

namespace noteg::kernels {

namespace {

// Waits until the first tile lies in shared memory.
void emit_first_tile(Emitter& e, const SimtPlan& plan, const SimtState& state) {
  if (plan.is_async) {
    emit_copy_wait(e, plan.stages);
  } else {
    emit_shared_stores(e, plan, state);
  }
  emit_barrier(e);
}

}  // namespace

void emit_simt_prologue(Emitter& e, const SimtPlan& plan, SimtState& state) {
  emit_pipeline_setup(e, state);
  const int tiles_ahead = plan.is_async ? plan.stages - 1 : 1;
  for (int tile = 0; tile < tiles_ahead; ++tile) {
    CopyCursor a{state.a_pointer, state.a_mask, 0};
    CopyCursor b{state.b_pointer, state.b_mask, 2};
    for (int i = 0; i < plan.a.copies; ++i) emit_copy(e, plan, state, plan.a, i, a);
    for (int i = 0; i < plan.b.copies; ++i) emit_copy(e, plan, state, plan.b, i, b);
    emit_simt_pointer_step(e, state.a_pointer, a.pointer, 0);
    emit_simt_pointer_step(e, state.b_pointer, b.pointer, 1);
    if (plan.is_async) e.emit(Opcode::ldgdepbar, "", {}, {});
  }
  emit_zeroes(e, state.accumulators);
  emit_first_tile(e, plan, state);
  load_fragments(e, plan, state, state.first_a, state.first_b, 0, 0, 0);
}

// One iteration = one k tile: fragments double-buffered in registers one k step ahead, the copies for a later tile
// spread over the steps, one barrier per tile before the last step (CUTLASS's multistage and pipelined main loops).

namespace {

constexpr int loop_predicate = 6;

class Mainloop {
 public:
  Mainloop(Emitter& e, const SimtPlan& plan, SimtState& state)
      : e_(e),
        plan_(plan),
        state_(state),
        per_step_(plan.accumulators()),
        a_cursor_{state.a_pointer, state.a_mask, 0},
        b_cursor_{state.b_pointer, state.b_mask, 2} {}

  void run() {
    const int loop = e_.begin_loop(true, 1);
    std::vector<Value> a = state_.first_a;
    std::vector<Value> b = state_.first_b;
    emit_bookkeeping();
    for (int step = 0; step < plan_.k_steps; ++step) {
      const bool is_last = step + 1 == plan_.k_steps;
      emit_copies(step);
      if (step == sync_step()) emit_sync(step);
      const std::vector<Value> next_a = is_last ? state_.first_a : fresh_fragment(e_, plan_.thread_m);
      const std::vector<Value> next_b = is_last ? state_.first_b : fresh_fragment(e_, plan_.thread_n);
      // With one step only, the registers of the running products cannot be loaded ahead.
      if (plan_.k_steps > 1)
        load_fragments(e_, plan_, state_, next_a, next_b, (step + 1) % plan_.k_steps, step * per_step_ + 1, 4);
      emit_serpentine(e_, {elements_of(a), elements_of(b), state_.accumulators});
      if (plan_.k_steps == 1) load_fragments(e_, plan_, state_, next_a, next_b, 0, per_step_, 1);
      a = next_a;
      b = next_b;
    }
    e_.end_loop(loop, pred(loop_predicate));
    e_.release_after(0);
  }

 private:
  // Copies are done before the barrier step, spread over the steps up to it.
  int sync_step() const { return std::max(0, plan_.k_steps - 2); }
  int groups() const { return std::min({plan_.tile.k, std::max(plan_.a.copies, plan_.b.copies)}); }

  void emit_copies(int step) {
    for (int group = 0; group < groups(); ++group) {
      // Asynchronous copies are spread over the steps; loads into registers all go first, so that they have the
      // whole tile to arrive before they are stored.
      if ((plan_.is_async ? std::min(group, sync_step()) : 0) != step) continue;
      const int release = step * per_step_ + per_step_ / 4 + (group > step ? per_step_ / 3 : 0);
      e_.release_after(release);
      emit_placeholders(group);
      emit_group(plan_.a, group, a_cursor_);
      emit_group(plan_.b, group, b_cursor_);
    }
    if (step == sync_step()) emit_advance();
  }

  void emit_group(const OperandCopy& operand, int group, CopyCursor& cursor) {
    const int per_group = (operand.copies + groups() - 1) / groups();
    const int last = std::min(operand.copies, (group + 1) * per_group);
    for (int i = group * per_group; i < last; ++i) emit_copy(e_, plan_, state_, operand, i, cursor);
  }

  // Compilers put three loads that never execute (@!PT LDS RZ, [RZ]) into each group of CUTLASS's asynchronous copies.
  void emit_placeholders(int group) {
    if (!plan_.has_placeholders || group >= 7) return;
    for (int i = 0; i < 3; ++i) {
      e_.memory(Opcode::lds, "", reg(zero_value), {reg(zero_value)}, f32_bytes, state_.idle_pattern).guard = never();
    }
  }

  // Pointers, shared address and masks of the next tile; late, because the copies must have read the old ones.
  void emit_advance() {
    e_.release_after((plan_.k_steps - 1) * per_step_ + per_step_ / 2);
    emit_simt_pointer_step(e_, state_.a_pointer, a_cursor_.pointer, 0);
    emit_simt_pointer_step(e_, state_.b_pointer, b_cursor_.pointer, 1);
    for (const Value& v : {state_.write_offset, state_.a_mask, state_.b_mask}) {
      e_.emit(Opcode::iadd3, "", {reg(v)}, {reg(v), ureg(8), reg(zero_value)});
    }
  }

  void emit_sync(int step) {
    const int end = (step + 1) * per_step_;
    if (plan_.is_async) {
      e_.release_after(end - 8);
      e_.emit(Opcode::ldgdepbar, "", {}, {});
      e_.release_after(end - 4);
      emit_copy_wait(e_, plan_.stages);
    } else {
      e_.release_after(end - per_step_ / 2);
      emit_shared_stores(e_, plan_, state_);
    }
    e_.release_after(end - 2);
    emit_barrier(e_);
    emit_stage_change(end - 1);
  }

  // The read addresses move to the next stage, around the ring by a select.
  void emit_stage_change(int release) {
    e_.release_after(release);
    const Value a = e_.fresh();
    const Value b = e_.fresh();
    e_.emit(Opcode::iadd3, "", {reg(a)}, {reg(state_.read_a), ureg(8), reg(zero_value)});
    e_.emit(Opcode::iadd3, "", {reg(b)}, {reg(state_.read_b), ureg(8), reg(zero_value)});
    e_.emit(Opcode::sel, "", {reg(state_.read_a)}, {reg(a), ureg(9), upred(0)});
    e_.emit(Opcode::sel, "", {reg(state_.read_b)}, {reg(b), ureg(9), upred(0)});
  }

  // Stage counters in uniform registers, masks, the loop's own counter.
  void emit_bookkeeping() {
    e_.release_after(plan_.accumulators());
    e_.emit(Opcode::iadd3, "", {reg(state_.iterations_left)}, {reg(state_.iterations_left), imm(-1), reg(zero_value)});
    e_.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(loop_predicate)}, {reg(state_.iterations_left), imm(0)});
    if (!plan_.is_async) {
      e_.emit(Opcode::cs2r, "", {reg(e_.fresh())}, {});
      e_.emit(Opcode::cs2r, "", {reg(e_.fresh())}, {});
    }
    const int uniform = plan_.copies() >= 16 && plan_.copies() < 20 ? 4 : 7;
    for (int i = 0; i < uniform; ++i) e_.emit(Opcode::uiadd3, "", {ureg(4 + i % 4)}, {ureg(4 + i % 4), imm(1)});
    e_.emit(Opcode::uisetp, ".NE.AND", {Operand{}, upred(0)}, {ureg(4), imm(plan_.stages)});
    e_.emit(Opcode::uisetp, ".NE.AND", {Operand{}, upred(1)}, {ureg(5), imm(plan_.stages)});
    for (int i = 0; i < 3; ++i)
      e_.emit(Opcode::usel, "", {ureg(4 + i)}, {ureg(4 + i), ureg(zero_register), upred(i % 2)});
    e_.emit(Opcode::umov, "", {ureg(9)}, {imm(0)});
    if (uniform == 7) e_.emit(Opcode::uimad, "", {ureg(8)}, {ureg(4), imm(plan_.tile.k), ureg(zero_register)});
  }

  static constexpr int zero_register = rz;

  Emitter& e_;
  const SimtPlan& plan_;
  SimtState& state_;
  int per_step_;
  CopyCursor a_cursor_, b_cursor_;
};

}  // namespace

void emit_simt_mainloop(Emitter& e, const SimtPlan& plan, SimtState& state) { Mainloop(e, plan, state).run(); }

Result<Program> build_simt(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  auto planned = plan_simt(config, request.latency.async_copy);
  if (!planned) return planned.errors();
  const SimtPlan& plan = *planned;

  Emitter e;
  SimtState state = make_state(e, plan);
  emit_simt_prologue(e, plan, state);
  e.program().mainloop_begin = e.position();
  emit_simt_mainloop(e, plan, state);
  e.program().epilogue_begin = e.position();
  emit_simt_epilogue(e, plan, config, state);

  Program& program = e.program();
  describe_pipeline(program, plan, config, "simt");
  program.a_bytes_per_iteration = 4.0 * plan.tile.m * plan.tile.k;
  program.b_bytes_per_iteration = 4.0 * plan.tile.n * plan.tile.k;
  return finish(e, request);
}

}  // namespace noteg::kernels
