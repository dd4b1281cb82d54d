#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/mma/mma_parts.hpp"

namespace noteg::kernels {

namespace {

// Waits until the first tile lies in shared memory.
void emit_first_tile(Emitter& e, const MmaPlan& plan, const MmaState& state) {
  if (plan.is_async) {
    emit_copy_wait(e, plan.stages);
  } else {
    emit_mma_stores(e, plan, state);
  }
  emit_barrier(e);
}

}  // namespace

void emit_mma_prologue(Emitter& e, const MmaPlan& plan, MmaState& state) {
  emit_pipeline_setup(e, state);
  const int tiles_ahead = plan.is_async ? plan.stages - 1 : 1;
  for (int tile = 0; tile < tiles_ahead; ++tile) {
    MmaCopyCursor cursor{state.a_pointer, state.b_pointer};
    for (int i = 0; i < plan.copies(); ++i) emit_mma_copy(e, plan, state, i, cursor);
    emit_mma_pointer_step(e, state.a_pointer, cursor.pointer_a, 0);
    emit_mma_pointer_step(e, state.b_pointer, cursor.pointer_b, 1);
    if (plan.is_async) e.emit(Opcode::ldgdepbar, "", {}, {});
  }
  emit_zeroes(e, elements_of(state.accumulators));
  emit_zeroes(e, elements_of(state.partials));
  if (plan.stages == 1) return;
  emit_first_tile(e, plan, state);
  load_mma_fragments(e, plan, state, state.first, 0, 0);
}

// One iteration = one k tile: fragments double-buffered in registers one k group ahead, the copies for a later tile
// spread over the groups, one barrier per tile before the last group (CUTLASS's multistage and pipelined main loops).

namespace {

constexpr int loop_predicate = 6;

class Mainloop {
 public:
  Mainloop(Emitter& e, const MmaPlan& plan, MmaState& state)
      : e_(e),
        plan_(plan),
        state_(state),
        per_group_(plan.mma_per_group()),
        cursor_{state.a_pointer, state.b_pointer} {}

  void run() {
    const int loop = e_.begin_loop(true, 1);
    if (plan_.stages == 1)
      run_single_buffer();
    else
      run_pipeline();
    e_.end_loop(loop, pred(loop_predicate));
    e_.release_after(0);
  }

 private:
  // One buffer: a tile is copied, waited for, multiplied, and left by all warps before the next one comes.
  void run_single_buffer() {
    emit_bookkeeping();
    e_.release_after(0);
    for (int i = 0; i < plan_.copies(); ++i) emit_mma_copy(e_, plan_, state_, i, cursor_);
    emit_pointers();
    e_.emit(Opcode::ldgdepbar, "", {}, {});
    emit_copy_wait(e_, 2);
    emit_barrier(e_);
    load_mma_fragments(e_, plan_, state_, state_.first, 0, 0);
    Fragments now = state_.first;
    for (int group = 0; group < plan_.k_groups; ++group) {
      const bool is_last = group + 1 == plan_.k_groups;
      const Fragments next = is_last ? state_.first : fresh_fragments(e_, plan_);
      if (!is_last) load_mma_fragments(e_, plan_, state_, next, group * per_group_ + 1, load_span());
      emit_mma_group(e_, plan_, state_, now);
      now = next;
    }
    e_.release_after((plan_.k_groups - 1) * per_group_);  // the last fragments are in registers
    emit_barrier(e_);
  }

  void run_pipeline() {
    Fragments now = state_.first;
    emit_bookkeeping();
    for (int group = 0; group < plan_.k_groups; ++group) {
      const bool is_last = group + 1 == plan_.k_groups;
      if (is_last && !plan_.is_async) emit_sync(group);
      const Fragments next = is_last ? state_.first : fresh_fragments(e_, plan_);
      // With one group only, the registers of the running products cannot be loaded ahead.
      if (plan_.k_groups > 1) load_mma_fragments(e_, plan_, state_, next, first_load(group), load_span());
      emit_copies(group);
      // Staged sums hold the groups of a tile but the first, and the first of the next.
      emit_mma_group(e_, plan_, state_, now, plan_.stages_sums && group == std::min(1, plan_.k_groups - 1));
      if (group == 0) emit_staged_sums(e_, plan_, state_);
      if (plan_.is_async && group == sync_group()) emit_sync(0);
      if (plan_.k_groups == 1) load_mma_fragments(e_, plan_, state_, next, per_group_, 1);
      now = next;
    }
  }

  [[nodiscard]] int sync_group() const { return std::max(0, plan_.k_groups - 2); }

  // Where compilers place what is not arithmetic, in multiplications of the tile that come before it (CUTLASS 4
  // multistage kernels as nvcc 13.0 compiles them). Multiplications move up past the barrier and everything that leads
  // to it moves down: copies lie behind their group, the barrier four multiplications behind the last of them, the
  // loads of the next tile four behind the barrier or at the end of the iteration.
  static constexpr int copies_behind = 8, barrier_behind = 4, loads_behind = 4;
  [[nodiscard]] int copies_span() const { return std::min(copies_behind, per_group_ / 2); }
  // Stores of a loop of two stages: half the last group behind its begin, or later (five of CUTLASS's, nvcc 13.0).
  [[nodiscard]] int stores_behind() const { return per_group_ / 2; }
  [[nodiscard]] int commit_place() const { return (sync_group() + 1) * per_group_ + copies_span(); }
  [[nodiscard]] int barrier_place() const { return commit_place() + barrier_behind; }
  [[nodiscard]] int first_load(int group) const {
    const bool behind_barrier = plan_.is_async && group + 1 == plan_.k_groups;
    return behind_barrier ? barrier_place() + loads_behind : group * per_group_ + 1;
  }
  // Loads follow each other as fast as the multiplications between them let them.
  [[nodiscard]] int load_span() const {
    const auto loads = static_cast<int>(state_.first.a.size() + state_.first.b.size() + state_.first.meta.size());
    return std::min(per_group_, loads * 5 / 4);
  }

  // Asynchronous copies are shared out evenly over the groups up to the barrier's; loads into registers all go first,
  // so that they have the most of a tile to arrive before they are stored, and so do asynchronous ones of a kernel with
  // two buffers, which waits for them at the end of the same tile.
  void emit_copies(int group) {
    const bool spread = plan_.is_async && plan_.stages > 2;
    const int groups = spread ? sync_group() + 1 : 1;
    if (group >= groups) return;
    const int each = (plan_.copies() + groups - 1) / groups;
    const int first = group * each, last = std::min(plan_.copies(), first + each);
    for (int i = first; i < last; ++i) {
      const int behind = (group + 1) * per_group_ - 1 + (i - first) * copies_span() / std::max(1, each);
      e_.release_after(spread ? behind : group * per_group_);
      emit_mma_copy(e_, plan_, state_, i, cursor_);
    }
    if (group + 1 == groups) emit_advance();
  }

  // Pointers, shared address and masks of the next tile; late, because the copies must have read the old ones.
  void emit_advance() {
    e_.release_after(plan_.is_async ? commit_place() : (plan_.k_groups - 1) * per_group_ + per_group_ / 4);
    emit_pointers();
    for (int i = 0; i < plan_.copies() * 2 / 5; ++i)
      e_.emit(Opcode::imad, "", {reg(e_.fresh())}, {reg(state_.write_offset), imm(1), reg(zero_value)});
  }

  void emit_pointers() {
    emit_mma_pointer_step(e_, state_.a_pointer, cursor_.pointer_a, 0);
    emit_mma_pointer_step(e_, state_.b_pointer, cursor_.pointer_b, 1);
    for (const Value& v : {state_.write_offset, state_.a_mask, state_.b_mask}) {
      e_.emit(Opcode::iadd3, "", {reg(v)}, {reg(v), ureg(8), reg(zero_value)});
    }
  }

  // release: mma instructions that come before the barrier.
  void emit_sync(int groups_before) {
    const int release = plan_.is_async ? barrier_place() : groups_before * per_group_ + stores_behind();
    if (plan_.is_async) {
      e_.release_after(commit_place());
      emit_placeholders();
      e_.emit(Opcode::ldgdepbar, "", {}, {});
      e_.release_after(release);
      emit_copy_wait(e_, plan_.stages);
    } else {
      e_.release_after(release);
      emit_mma_stores(e_, plan_, state_);
    }
    e_.release_after(release);
    emit_barrier(e_);
    emit_stage_change(release);
  }

  // Compilers put three loads that never execute (@!PT LDS RZ, [RZ]) into each group of CUTLASS's asynchronous copies.
  void emit_placeholders() {
    for (int i = 0; i < 3 * std::max(1, plan_.k_groups - 1); ++i) {
      e_.memory(Opcode::lds, "", reg(zero_value), {reg(zero_value)}, 4, state_.idle_pattern).guard = never();
    }
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

  // Stage counters in uniform registers, the loop's own counter.
  void emit_bookkeeping() {
    e_.release_after(per_group_ / 2);
    e_.emit(Opcode::iadd3, "", {reg(state_.iterations_left)}, {reg(state_.iterations_left), imm(-1), reg(zero_value)});
    e_.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(loop_predicate)}, {reg(state_.iterations_left), imm(0)});
    for (int i = 0; i < (plan_.is_async ? 10 : 8); ++i)
      e_.emit(Opcode::uiadd3, "", {ureg(4 + i % 4)}, {ureg(4 + i % 4), imm(1)});
    e_.emit(Opcode::uisetp, ".NE.AND", {Operand{}, upred(0)}, {ureg(4), imm(plan_.stages)});
    if (plan_.is_async) e_.emit(Opcode::uisetp, ".NE.AND", {Operand{}, upred(1)}, {ureg(5), imm(plan_.stages)});
    for (int i = 0; i < (plan_.is_async ? 6 : 5); ++i) e_.emit(Opcode::umov, "", {ureg(10 + i)}, {ureg(4 + i % 4)});
  }

  Emitter& e_;
  const MmaPlan& plan_;
  MmaState& state_;
  int per_group_;
  MmaCopyCursor cursor_;
};

}  // namespace

void emit_mma_mainloop(Emitter& e, const MmaPlan& plan, MmaState& state) { Mainloop(e, plan, state).run(); }

Result<Program> build_mma(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  auto planned = plan_mma(config, request.latency.async_copy);
  if (!planned) return planned.errors();
  const MmaPlan& plan = *planned;

  Emitter e;
  MmaState state = make_mma_state(e, plan);
  emit_mma_prologue(e, plan, state);
  e.program().mainloop_begin = e.position();
  emit_mma_mainloop(e, plan, state);
  e.program().epilogue_begin = e.position();
  emit_staged_sums(e, plan, state);
  emit_mma_epilogue(e, plan, config, state);

  Program& program = e.program();
  describe_pipeline(program, plan, config, "mma");
  program.a_bytes_per_iteration = static_cast<double>(plan.a.rows) * plan.a.row_bytes;
  program.b_bytes_per_iteration = static_cast<double>(plan.b.rows) * plan.b.row_bytes;
  return finish(e, request);
}

}  // namespace noteg::kernels
