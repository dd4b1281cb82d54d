// One iteration as Triton's pipeliner writes it before Hopper: wait for the tile, barrier, fragments and products of
// the whole block, barrier, copies into the buffer that was just read. num_stages - 1 buffers; with one stage, or where
// an access is too narrow for cp.async, a tile goes through registers in the iteration that multiplies it.
#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/triton/triton.hpp"

namespace noteg::kernels {
namespace {

constexpr int loop_predicate = 6;

// Indices of threads and of the CTA's tile before the first copy, beyond the parts that are written out: in 24 kernels
// that Triton 3.6 compiled for sm_80 with the extents in the source as Inductor writes them, and in eight of vLLM's for
// experts, whose extents are arguments and whose rows a table names, so that each pointer takes more.
int setup_instructions(const TritonPlan& plan) {
  return plan.gathers ? 150 + 25 * (plan.a.pointers + plan.b.pointers) : 75;
}

void emit_prologue(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  emit_pipeline_setup(e, state, setup_instructions(plan));
  for (const auto* pointers : {&state.a_pointers, &state.b_pointers})
    for (const Value& p : *pointers)
      e.emit(Opcode::imad_wide, "", {reg(p)}, {reg(state.iterations_left), constant(0x160), reg(state.a_pointer)});
  if (plan.mma.is_async)
    for (int tile = 0; tile < plan.buffers; ++tile) emit_triton_async(e, plan, state);
  emit_zeroes(e, plan.is_ffma ? state.tile : elements_of(state.accumulators));
}

// Groups of copies that may be under way while this tile is read: of all but the oldest buffer.
void emit_wait(Emitter& e, const TritonPlan& plan) {
  const int loads = (plan.a.is_async ? 1 : 0) + (plan.b.is_async ? 1 : 0);
  emit_copy_wait(e, 2 + loads * (plan.buffers - 1));
}

void emit_bookkeeping(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  e.emit(Opcode::iadd3, "", {reg(state.iterations_left)}, {reg(state.iterations_left), imm(-1), reg(zero_value)});
  e.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(loop_predicate)}, {reg(state.iterations_left), imm(0)});
  if (!plan.mma.is_async) return;
  for (const Value& v : {state.write_offset, state.read_a, state.read_b}) {
    const Value next = e.fresh();
    e.emit(Opcode::iadd3, "", {reg(next)}, {reg(v), constant(0x1a8), reg(zero_value)});
    e.emit(Opcode::isetp, ".LT.AND", {Operand{}, pred(5)}, {reg(next), constant(0x1ac)});
    e.emit(Opcode::sel, "", {reg(v)}, {reg(next), reg(zero_value), pred(5)});
  }
}

void emit_mainloop(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  const int loop = e.begin_loop(true, 1);
  e.release_after(0);
  emit_bookkeeping(e, plan, state);
  emit_triton_sync(e, plan, state);
  if (plan.mma.is_async) emit_wait(e, plan);
  emit_barrier(e);
  emit_triton_scale_loads(e, plan, state);
  const int loaded = plan.is_ffma         ? emit_triton_ffma(e, plan, state)
                     : plan.on_warpgroups ? emit_triton_warpgroups(e, plan, state)
                                          : emit_triton_products(e, plan, state);
  e.release_after(loaded);
  emit_triton_spills(e, plan, state);
  emit_triton_scale_store(e, plan, state);
  if (plan.mma.is_async) {
    e.release_after(loaded);
    emit_barrier(e);
    // As compiled: from the last group on, three multiplications or so to a copy; what is left comes behind them all.
    const int group = plan.is_ffma || plan.on_warpgroups ? 0 : plan.mma.mma_per_group();
    emit_triton_async(e, plan, state, {loaded, group > 0 ? 3 * (plan.mma.a.copies + plan.mma.b.copies) : 0});
  }
  emit_triton_scaling(e, plan, state);
  e.end_loop(loop, pred(loop_predicate));
  e.release_after(0);
}

}  // namespace

Result<Program> build_triton(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  const TritonPlan plan = plan_triton(config);
  Emitter e;
  const TritonState state = make_triton_state(e, plan);
  emit_prologue(e, plan, state);
  e.program().mainloop_begin = e.position();
  emit_mainloop(e, plan, state);
  e.program().epilogue_begin = e.position();
  if (plan.on_warpgroups) emit_triton_warpgroup_wait(e, 0);
  emit_triton_epilogue(e, plan, config, state);
  Program& program = e.program();
  describe_pipeline(program, plan.mma, config, "triton");
  program.prologue_tiles = plan.mma.is_async ? plan.buffers : 0;
  program.a_bytes_per_iteration = static_cast<double>(plan.mma.a.rows) * plan.mma.a.row_bytes;
  program.b_bytes_per_iteration = static_cast<double>(plan.mma.b.rows) * plan.mma.b.row_bytes;
  return finish(e, request, plan.casts_b ? HeldBack::barriers_stay : HeldBack::passes_in_turn);
}

}  // namespace noteg::kernels
