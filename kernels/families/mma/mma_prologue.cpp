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
  if (plan.stages == 1) return;
  emit_first_tile(e, plan, state);
  load_mma_fragments(e, plan, state, state.first, 0, 0);
}

}  // namespace noteg::kernels
