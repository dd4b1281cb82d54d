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

}  // namespace noteg::kernels
