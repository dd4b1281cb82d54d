// The pieces of an mma kernel that its builder strings together; internal to kernels/builders.
#pragma once

#include "kernels/families/mma/mma_plan.hpp"
#include "kernels/families/pipeline_parts.hpp"

namespace noteg::kernels {

// One k group's fragments: vectors of up to four registers, as one LDSM fills them.
struct Fragments {
  std::vector<Value> a, b, meta;
};

struct MmaState : PipelineState {
  std::vector<Value> accumulators;  // one group of registers per instruction of the warp tile
  std::vector<Value> partials;      // the same for one tile, where its sums are staged
  Fragments first;                  // of the first k group, loaded one iteration ahead
};

[[nodiscard]] MmaState make_mma_state(Emitter& e, const MmaPlan& plan);
[[nodiscard]] Fragments fresh_fragments(Emitter& e, const MmaPlan& plan);

// Copies of one tile: mask test, pointer step, LDGSTS or LDG.
struct MmaCopyCursor {
  Value pointer_a, pointer_b;
};
void emit_mma_copy(Emitter& e, const MmaPlan& plan, const MmaState& state, int number, MmaCopyCursor& cursor);
void emit_mma_stores(Emitter& e, const MmaPlan& plan, const MmaState& state);  // behind LDGs

inline void emit_mma_pointer_step(Emitter& e, Value to, Value from, int predicate) {
  emit_pointer_step(e, to, from, predicate, Opcode::imad);
}

// first: mma instructions that come before the first load; span: over how many the loads are spread.
void load_mma_fragments(Emitter& e, const MmaPlan& plan, const MmaState& state, const Fragments& to, int first,
                        int span);

// All instructions of one k group, in snake order over the warp tile; `anew`: sums start from nothing.
void emit_mma_group(Emitter& e, const MmaPlan& plan, const MmaState& state, const Fragments& from, bool anew = false);
void emit_staged_sums(Emitter& e, const MmaPlan& plan, const MmaState& state);  // partials to accumulators

void emit_mma_prologue(Emitter& e, const MmaPlan& plan, MmaState& state);
void emit_mma_mainloop(Emitter& e, const MmaPlan& plan, MmaState& state);
// Accumulators through shared memory into rows, scaled, guarded, stored.
void emit_mma_epilogue(Emitter& e, const MmaPlan& plan, const KernelConfig& config, const MmaState& state);

}  // namespace noteg::kernels
