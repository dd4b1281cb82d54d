// What the streams of FlashAttention-3's warps have in common: barriers, their start, the producer.
#pragma once

#include "kernels/families/flash3/flash3_plan.hpp"
#include "kernels/ir/emitter.hpp"

namespace noteg::kernels {

// Rings of barriers; the turns of further consumers lie behind the first one's. `output`: the output's place in shared
// memory, which is that of the values, has been read; `next`: the next tile is known and all want to know; `staged`:
// all consumers have read their last values.
enum Flash3Ring : int {
  ring_full_q,
  ring_empty_q,
  ring_output,
  ring_next,
  ring_full_k,
  ring_empty_k,
  ring_full_v,
  ring_empty_v,
  ring_staged,
  ring_turn
};

inline constexpr int flash3_role_prologue = 60;  // instructions, as in the kernels of the wgmma family

// Instructions of all roles before they part, then registers given back or taken.
void emit_flash3_start(Emitter& e, const char* registers_move, int registers);

// Arithmetic of addresses: each instruction waits for the one before, some for a parameter of the kernel.
void emit_flash3_chain(Emitter& e, Value of, Value with, int instructions);

// What all tiles read of the sequences: it lies in L1, for which these loads count as loads of A (gemm_traffic.cpp).
int add_flash3_lengths(Emitter& e);

// Lengths and first tokens of a tile's sequence, which stand in memory, each found with the one before. Consumers keep
// them in uniform registers. pattern: of add_flash3_lengths.
void emit_flash3_lengths(Emitter& e, Value length, Value address, int pattern, bool to_uniform);

// The whole stream of the warps that copy queries, keys and values.
void emit_flash3_producer(Emitter& e, const Flash3Plan& plan);

}  // namespace noteg::kernels
