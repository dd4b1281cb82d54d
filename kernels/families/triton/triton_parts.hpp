// The pieces of a triton kernel that its builder strings together; internal to the family.
#pragma once

#include "kernels/families/mma/mma_parts.hpp"
#include "kernels/families/triton/triton_plan.hpp"

namespace noteg::kernels {

struct TritonState : MmaState {
  std::vector<Value> a_pointers, b_pointers;  // one a copy, as far as registers go
  std::vector<Value> weights;                 // of 8 bits on their way to A's type
  std::vector<Value> tile;                    // FFMA: accumulators
};

[[nodiscard]] TritonState make_triton_state(Emitter& e, const TritonPlan& plan);

// Copies of one tile: the asynchronous ones, or those by way of registers with the barriers that they need.
// Multiplications of the iteration that come before the first of several instructions, and over which they are spread.
struct Releases {
  int first = 0, span = 0;
};
void emit_triton_async(Emitter& e, const TritonPlan& plan, const TritonState& state, Releases at = {});
void emit_triton_sync(Emitter& e, const TritonPlan& plan, const TritonState& state);

// Registers beyond 255 go to local memory and come back once an iteration.
void emit_triton_spills(Emitter& e, const TritonPlan& plan, const TritonState& state);

// The products of one tile from shared memory; ends with the place behind which the tile may be overwritten.
// Returns how many multiplications come before the last load from shared memory.
int emit_triton_products(Emitter& e, const TritonPlan& plan, const TritonState& state);
// The same by warpgroups, which read shared memory themselves; the products of the tile before have ended then.
int emit_triton_warpgroups(Emitter& e, const TritonPlan& plan, const TritonState& state);
void emit_triton_warpgroup_wait(Emitter& e, int groups);
int emit_triton_ffma(Emitter& e, const TritonPlan& plan, const TritonState& state);

void emit_triton_epilogue(Emitter& e, const TritonPlan& plan, const KernelConfig& config, const TritonState& state);

}  // namespace noteg::kernels
