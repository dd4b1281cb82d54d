// Pieces of the consumers' streams of a wgmma kernel.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/families/wgmma/wgmma_plan.hpp"
#include "kernels/ir/emitter.hpp"

namespace noteg::kernels {

// Rings of barriers, and the walks that advance through them.
enum WgmmaRing : int {
  ring_full,
  ring_empty,
  ring_multiply_0,
  ring_multiply_1,
  ring_store_0,
  ring_store_1,
  ring_stage_0,
  ring_stage_1,
  ring_cluster,
  ring_count
};
enum WgmmaWalk : int { walk_stages, walk_multiply, walk_store, walk_staging };

// Instructions of an epilogue between two pieces: addresses, who stores, which buffer is free. Fitted on the h200_gemm
// rows of cutlass_wgmma below 20 us, whose listings are not known; with more, cuBLAS' own tiles are chosen less often.
inline constexpr int piece_arithmetic = 28;

Instruction& emit_async(Emitter& e, Opcode op, std::string_view modifiers, const AsyncOp& async);

struct WgmmaConsumer {
  std::vector<Value> sums;                                                   // one a block of 64 rows
  std::vector<Value> partials;                                               // of one k tile, where sums are promoted
  int own_multiply = 0, other_multiply = 0, own_store = 0, other_store = 0;  // rings of ping-pong
  int staging = 0;
  bool stores = true;  // issues the bulk stores
};

// Registers are the same for all consumers; the place says which of them it is, from 0.
[[nodiscard]] WgmmaConsumer make_consumer(Emitter& e, const WgmmaPlan& plan);
void take_place(WgmmaConsumer& consumer, const WgmmaPlan& plan, int which);

void emit_wgmma_mainloop(Emitter& e, const WgmmaPlan& plan, const WgmmaConsumer& consumer);
void emit_wgmma_tail(Emitter& e, const WgmmaPlan& plan);  // the last multiplications end, their stage is free
void emit_wgmma_epilogue(Emitter& e, const WgmmaPlan& plan, const WgmmaConsumer& consumer);

// Ping-pong: waits for the turn, hands it to the other consumer.
void emit_turn(Emitter& e, int ring, int which);
void emit_pass(Emitter& e, int ring);

// The loop over the tiles of a persistent CTA, -1 where a CTA has one tile. It ends with the coordinates of the next.
[[nodiscard]] int open_tiles(Emitter& e, bool persistent);
void close_tiles(Emitter& e, int loop);

// FENCE waits for the MEMBAR before it.
void guard_fences(Program& program);

}  // namespace noteg::kernels
