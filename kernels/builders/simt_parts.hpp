// The pieces of a SIMT kernel that its builder strings together; internal to kernels/builders.
#pragma once

#include "kernels/builders/common.hpp"
#include "kernels/builders/simt_plan.hpp"

namespace noteg::kernels {

// Registers that live through the kernel.
struct SimtState {
  Value a_pointer, b_pointer;  // 64-bit global pointers
  Value a_mask, b_mask;        // one bit per copy: inside the matrix
  Value write_offset;          // shared-memory addresses
  Value read_a, read_b;
  Value trips_left;
  std::vector<Value> accumulators;
  std::vector<Value> first_a, first_b;  // fragments of the first k step, loaded one trip ahead
  std::vector<Value> pointers, bits;    // per copy: its address and its mask bit
  std::vector<Value> staged;            // LDG + STS kernels: data on its way through registers
  int read_a_pattern = -1, read_b_pattern = -1;
  int copy_a_pattern = -1, copy_b_pattern = -1;
  int store_a_pattern = -1, store_b_pattern = -1;
  int idle_pattern = -1;  // predicated off
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
void emit_pointer_step(Emitter& e, Value to, Value from, int predicate);

void load_fragments(Emitter& e, const SimtPlan& plan, const SimtState& state, const std::vector<Value>& a,
                    const std::vector<Value>& b, int k_step, int first_release, int gap);
[[nodiscard]] std::vector<Value> fresh_fragment(Emitter& e, int extent);

}  // namespace noteg::kernels
