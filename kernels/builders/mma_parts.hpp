// The pieces of an mma kernel that its builder strings together; internal to kernels/builders.
#pragma once

#include "kernels/builders/common.hpp"
#include "kernels/builders/mma_plan.hpp"

namespace noteg::kernels {

// One k group's fragments: vectors of up to four registers, as one LDSM fills them.
struct Fragments {
  std::vector<Value> a, b, meta;
};

// Registers that live through the kernel.
struct MmaState {
  Value a_pointer, b_pointer;  // 64-bit global pointers
  Value a_mask, b_mask;        // one bit per copy: inside the matrix
  Value write_offset;          // shared-memory addresses
  Value read_a, read_b;
  Value trips_left;
  std::vector<Value> accumulators;    // one group of registers per instruction of the warp tile
  Fragments first;                    // of the first k group, loaded one trip ahead
  std::vector<Value> pointers, bits;  // of copies under way, handed round
  std::vector<Value> staged;          // LDG + STS kernels: data on its way through registers
  int read_a_pattern = -1, read_b_pattern = -1;
  int copy_a_pattern = -1, copy_b_pattern = -1;
  int store_a_pattern = -1, store_b_pattern = -1;
  int idle_pattern = -1;  // predicated off
};

[[nodiscard]] MmaState make_mma_state(Emitter& e, const MmaPlan& plan);
[[nodiscard]] Fragments fresh_fragments(Emitter& e, const MmaPlan& plan);

// Copies of one tile: mask test, pointer step, LDGSTS or LDG.
struct MmaCopyCursor {
  Value pointer_a, pointer_b;
  int copies = 0;
};
void emit_mma_copy(Emitter& e, const MmaPlan& plan, const MmaState& state, int number, MmaCopyCursor& cursor);
void emit_mma_stores(Emitter& e, const MmaPlan& plan, const MmaState& state);  // behind LDGs
void emit_mma_pointer_step(Emitter& e, Value to, Value from, int predicate);

// first: mma instructions that come before the first load; span: over how many the loads are spread.
void load_mma_fragments(Emitter& e, const MmaPlan& plan, const MmaState& state, const Fragments& to, int first,
                        int span);

// All instructions of one k group, in snake order over the warp tile.
void emit_mma_group(Emitter& e, const MmaPlan& plan, const MmaState& state, const Fragments& from);

void emit_mma_prologue(Emitter& e, const MmaPlan& plan, MmaState& state);
void emit_mma_mainloop(Emitter& e, const MmaPlan& plan, MmaState& state);
// Accumulators through shared memory into rows, scaled, guarded, stored.
void emit_mma_epilogue(Emitter& e, const MmaPlan& plan, const KernelConfig& config, const MmaState& state);

}  // namespace noteg::kernels
