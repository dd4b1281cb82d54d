// The pieces of a SIMT kernel that its builder strings together; internal to kernels/builders.
#pragma once

#include "kernels/families/pipeline_parts.hpp"
#include "kernels/families/simt/simt_plan.hpp"

namespace noteg::kernels {

struct SimtState : PipelineState {
  std::vector<Value> accumulators;
  std::vector<Value> first_a, first_b;  // fragments of the first k step, loaded one iteration ahead
};

[[nodiscard]] SimtState make_state(Emitter& e, const SimtPlan& plan);

// Index arithmetic, the first tiles' copies, the first fragments.
void emit_simt_prologue(Emitter& e, const SimtPlan& plan, SimtState& state);

void emit_simt_mainloop(Emitter& e, const SimtPlan& plan, SimtState& state);

// Accumulators through shared memory into rows, scaled, guarded, stored.
void emit_simt_epilogue(Emitter& e, const SimtPlan& plan, const KernelConfig& config, const SimtState& state);

// Copy number `index` of an operand in one tile: mask test, pointer step, LDGSTS or LDG.
struct CopyCursor {
  Value pointer;  // pointer of the next copy
  Value mask;
  int predicate = 0;  // predicates are handed round
};
void emit_copy(Emitter& e, const SimtPlan& plan, const SimtState& state, const OperandCopy& operand, int index,
               CopyCursor& cursor);
void emit_shared_stores(Emitter& e, const SimtPlan& plan, const SimtState& state);  // behind an LDG

inline void emit_simt_pointer_step(Emitter& e, Value to, Value from, int predicate) {
  emit_pointer_step(e, to, from, predicate, Opcode::iadd3);
}

void load_fragments(Emitter& e, const SimtPlan& plan, const SimtState& state, const std::vector<Value>& a,
                    const std::vector<Value>& b, int k_step, int first_release, int gap);
[[nodiscard]] std::vector<Value> fresh_fragment(Emitter& e, int extent);

}  // namespace noteg::kernels
