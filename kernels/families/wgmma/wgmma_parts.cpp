#include "kernels/families/wgmma/wgmma_parts.hpp"

#include <algorithm>

#include "kernels/families/common.hpp"
#include "kernels/passes/passes.hpp"

namespace noteg::kernels {
namespace {

constexpr int tile_arithmetic = 36;   // instructions of the tile scheduler per tile
constexpr int values_per_piece = 16;  // FP32 per thread

// Of a sparse A: where its values stand, a word per lane for each multiplication, out of shared memory.
std::vector<Value> emit_places(Emitter& e, const WgmmaPlan& plan) {
  std::vector<Value> places;
  if (!plan.form.sparse) return places;
  const int pattern = e.add_pattern(contiguous(Space::shared, Matrix::a, false, 4, 128));
  for (int i = 0; i < plan.blocks * plan.k_steps; ++i) {
    places.push_back(e.fresh());
    e.memory(Opcode::lds, "", {reg(places.back())}, {reg(zero_value)}, 4, pattern);
  }
  return places;
}

void emit_multiplication(Emitter& e, const WgmmaPlan& plan, int step, Value sums, Value places, bool closes_group) {
  for (int i = 0; i < 2; ++i) e.emit(Opcode::uiadd3, "", {ureg(12 + 2 * i)}, {ureg(10), imm(step)});
  Instruction& ins = emit_async(e, opcode_of(plan.form), modifiers_of(plan.form),
                                {.kind = AsyncKind::matmul,
                                 .n = plan.columns,
                                 .a_in_registers = plan.a_in_registers,
                                 .closes_group = closes_group});
  ins.dst[0] = reg(sums);
  ins.src[0] = ureg(12, 2);
  ins.src[1] = ureg(14, 2);
  ins.src[2] = reg(sums);
  if (places.first != rz) ins.src[3] = reg(places);
}

// One block of 64 rows for each of the registers that they go `into`.
void emit_multiplications(Emitter& e, const WgmmaPlan& plan, const std::vector<Value>& into) {
  const std::vector<Value> places = emit_places(e, plan);
  const int blocks = static_cast<int>(into.size());
  e.emit(Opcode::warpgroup, ".ARRIVE", {}, {});
  for (int step = 0; step < plan.k_steps; ++step) {
    for (int block = 0; block < blocks; ++block) {
      const auto at = static_cast<std::size_t>(step * plan.blocks + block);
      emit_multiplication(e, plan, step, into[static_cast<std::size_t>(block)],
                          places.empty() ? zero_value : places[at], step + 1 == plan.k_steps && block + 1 == blocks);
    }
  }
}

void emit_wait(Emitter& e, int groups) {
  emit_async(e, Opcode::warpgroup, ".DEPBAR.LE", {.kind = AsyncKind::matmul_wait, .groups = groups});
}

}  // namespace

Instruction& emit_async(Emitter& e, Opcode op, std::string_view modifiers, const AsyncOp& async) {
  std::vector<AsyncOp>& list = e.program().async;
  list.push_back(async);
  Instruction& ins = e.emit(op, modifiers, {}, {});
  ins.async = static_cast<std::int16_t>(list.size() - 1);
  return ins;
}

WgmmaConsumer make_consumer(Emitter& e, const WgmmaPlan& plan) {
  WgmmaConsumer out;
  const int each = plan.accumulators / plan.blocks;
  for (int i = 0; i < plan.blocks; ++i) out.sums.push_back(e.fresh(each));
  if (plan.promotes) {
    for (int i = 0; i < (plan.scales ? 1 : plan.blocks); ++i) out.partials.push_back(e.fresh(each));
  }
  return out;
}

void take_place(WgmmaConsumer& out, const WgmmaPlan& plan, int which) {
  const bool in_turns = plan.schedule == Schedule::pingpong;
  out.own_multiply = which == 0 ? ring_multiply_0 : ring_multiply_1;
  out.other_multiply = which == 0 ? ring_multiply_1 : ring_multiply_0;
  out.own_store = which == 0 ? ring_store_0 : ring_store_1;
  out.other_store = which == 0 ? ring_store_1 : ring_store_0;
  out.staging = in_turns && which == 1 ? ring_stage_1 : ring_stage_0;
  out.stores = in_turns || which == 0;
}

// A pair of registers takes CS2R as long as two: the k tiles of 8-bit floats on our H200 take 551 cycles, of which 256
// multiply.
void emit_cleared(Emitter& e, const std::vector<Value>& values) {
  for (const Value& value : values) e.emit(Opcode::cs2r, ".32", {reg(value)}, {});
}

void hand_back(Emitter& e, const AsyncOp& arrival) {
  emit_async(e, Opcode::syncs, ".ARRIVE.TRANS64.RED.A1T0", arrival);
}

constexpr AsyncOp stage_just_read{.kind = AsyncKind::arrive, .ring = ring_empty, .advances = true};
constexpr AsyncOp stage_before{
    .kind = AsyncKind::arrive, .ring = ring_empty, .places_back = 1, .not_first = true, .advances = true};

// DeepGEMM, sm90_fp8_gemm_1d2d.cuh. The first product of a tile takes a scale of zero for its sums that the unrolled
// code states as a constant: nothing is cleared. Block after block its products are waited for, then scaled by those of
// 128 columns and of two rows, and added. The stage is handed back before the last of these additions.
void emit_scaled_tile(Emitter& e, const WgmmaPlan& plan, const WgmmaConsumer& consumer) {
  const int row_pattern = e.add_pattern(contiguous(Space::shared, Matrix::none, false, 4, 128));
  const Value of_columns = e.fresh(), rows = e.fresh(2), scales = e.fresh(2);
  e.memory(Opcode::lds, "", {reg(of_columns)}, {reg(zero_value)}, 4, row_pattern);
  const std::vector<Value> partials = elements_of(consumer.partials);
  for (int block = 0; block < plan.blocks; ++block) {
    for (int i = 0; i < 2; ++i) e.memory(Opcode::lds, "", {reg(rows.part(i))}, {reg(zero_value)}, 4, row_pattern);
    emit_multiplications(e, plan, consumer.partials);
    for (int i = 0; i < 2; ++i) e.emit(Opcode::fmul, "", {reg(scales.part(i))}, {reg(rows.part(i)), reg(of_columns)});
    emit_wait(e, 0);
    if (block + 1 == plan.blocks) hand_back(e, stage_just_read);
    const std::vector<Value> sums = elements_of({consumer.sums[static_cast<std::size_t>(block)]});
    for (std::size_t i = 0; i < sums.size(); ++i)
      e.emit(Opcode::ffma, "", {reg(sums[i])},
             {reg(partials[i]), reg(scales.part(static_cast<int>(i / 2 % 2))), reg(sums[i])});
  }
}

void emit_promotion(Emitter& e, const WgmmaConsumer& consumer) {
  const std::vector<Value> sums = elements_of(consumer.sums), partials = elements_of(consumer.partials);
  for (std::size_t i = 0; i < sums.size(); ++i)
    e.emit(Opcode::fadd, "", {reg(sums[i])}, {reg(sums[i]), reg(partials[i])});
}

// nvjet (code and samples of cuBLAS 13.0 on our H100): block after block over the whole k tile. Those of the first
// block stand in the queue when the tile before has been multiplied; its stage goes back then, not behind all blocks.
// Sums of 8-bit floats begin with the first multiplication of a tile, and its stage goes back before they are added.
void emit_nvjet_tile(Emitter& e, const WgmmaPlan& plan, const WgmmaConsumer& consumer) {
  const std::vector<Value>& into = plan.promotes ? consumer.partials : consumer.sums;
  for (int block = 0; block < plan.blocks; ++block) {
    e.emit(Opcode::warpgroup, ".ARRIVE", {}, {});
    for (int step = 0; step < plan.k_steps; ++step)
      emit_multiplication(e, plan, step, into[static_cast<std::size_t>(block)], zero_value,
                          step + 1 == plan.k_steps && block + 1 == plan.blocks);
    if (block > 0 || plan.promotes) continue;
    emit_wait(e, plan.blocks > 1 ? 0 : 1);
    hand_back(e, stage_before);
  }
  if (!plan.promotes) return;
  emit_wait(e, 0);
  hand_back(e, stage_just_read);
  emit_promotion(e, consumer);
}

// 8-bit floats: the tensor cores keep fewer bits of their sums, so those of each k tile go to registers of their own,
// cleared before, and are added to the whole in FP32 behind it. Nothing multiplies meanwhile.
void emit_tile(Emitter& e, const WgmmaPlan& plan, const WgmmaConsumer& consumer) {
  const std::vector<Value>& into = plan.promotes ? consumer.partials : consumer.sums;
  if (plan.promotes) emit_cleared(e, elements_of(into));
  emit_multiplications(e, plan, into);
  emit_wait(e, plan.promotes ? 0 : 1);
  if (plan.promotes) emit_promotion(e, consumer);
  hand_back(e, stage_before);
}

void emit_wgmma_mainloop(Emitter& e, const WgmmaPlan& plan, const WgmmaConsumer& consumer) {
  const int loop = e.begin_loop(true, 1);
  emit_async(e, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
             {.kind = AsyncKind::wait, .ring = ring_full, .rounds_ahead = 1});
  if (plan.scales)
    emit_scaled_tile(e, plan, consumer);
  else if (plan.is_nvjet)
    emit_nvjet_tile(e, plan, consumer);
  else
    emit_tile(e, plan, consumer);
  e.end_loop(loop, pred(0));
}

void emit_wgmma_tail(Emitter& e, const WgmmaPlan& plan) {
  if (plan.scales || (plan.is_nvjet && plan.promotes)) return;  // every tile has been waited for, every stage is back
  emit_wait(e, 0);
  hand_back(e, {.kind = AsyncKind::arrive, .ring = ring_empty, .places_back = 1});
}

// Piece by piece: scaled, packed, staged in shared memory, stored by one bulk copy for all who share the tile. Two
// staging buffers: the piece after the next waits until the first has been read.
void emit_wgmma_epilogue(Emitter& e, const WgmmaPlan& plan, const WgmmaConsumer& consumer) {
  const std::vector<Value> sums = elements_of(consumer.sums);
  const int pattern = e.add_pattern(contiguous(Space::shared, Matrix::c, true, 16, 512));
  const Value address = e.fresh();
  e.emit(Opcode::iadd3, "", {reg(address)}, {reg(zero_value), imm(0x400), reg(zero_value)});
  const AsyncOp sync{.kind = AsyncKind::sync, .ring = consumer.staging, .rounds_ahead = 1, .advances = true};
  const int per_register = std::max(1, values_per_piece / (4 * plan.stores_per_piece));
  std::size_t next = 0;
  for (int piece = 0; piece < plan.pieces; ++piece) {
    std::vector<Value> packed;
    for (int store = 0; store < plan.stores_per_piece; ++store) {
      const Value four = e.fresh(4);
      for (int i = 0; i < 4; ++i) {
        Value first = zero_value, last = zero_value;
        for (int j = 0; j < per_register; ++j, ++next) {
          first = j == 0 ? sums[next % sums.size()] : first;
          last = sums[next % sums.size()];
          e.emit(Opcode::fmul, "", {reg(last)}, {reg(last), constant(0x2a0)});
        }
        e.emit(Opcode::f2fp, "", {reg(four.part(i))}, {reg(last), reg(first)});
      }
      packed.push_back(four);
    }
    emit_index_arithmetic(e, piece_arithmetic);
    for (const Value& four : packed) e.memory(Opcode::stsm, ".16.M88.4", {}, {reg(address), reg(four)}, 16, pattern);
    e.emit(Opcode::membar, ".ALL.CTA", {}, {});
    e.emit(Opcode::fence, ".VIEW.ASYNC", {}, {});
    emit_async(e, Opcode::bar_sync, ".DEFER_BLOCKING", sync);
    if (consumer.stores) {
      emit_async(e, Opcode::utmastg, ".3D",
                 {.kind = AsyncKind::store_box, .one_warp = true, .box = BoxOf::c, .bytes = plan.piece_bytes});
      e.emit(Opcode::utmacmdflush, "", {}, {});
      e.emit(Opcode::depbar, ".LE", {}, {}).depbar_count = 1;
    }
    emit_async(e, Opcode::bar_sync, ".DEFER_BLOCKING", sync);
  }
}

void emit_turn(Emitter& e, int ring, int which) {
  emit_async(e, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
             {.kind = AsyncKind::wait, .ring = ring, .rounds_ahead = which, .by_design = true});
}

void emit_pass(Emitter& e, int ring) {
  emit_async(e, Opcode::syncs, ".ARRIVE.TRANS64.A1T0", {.kind = AsyncKind::arrive, .ring = ring, .advances = true});
}

int open_tiles(Emitter& e, bool persistent) {
  if (!persistent) return -1;
  const int loop = e.begin_loop(false, 1);
  e.program().loops[static_cast<std::size_t>(loop)].is_tiles = true;
  return loop;
}

void close_tiles(Emitter& e, int loop) {
  if (loop < 0) return;
  emit_index_arithmetic(e, tile_arithmetic);
  e.end_loop(loop, pred(0));
}

void guard_fences(Program& program) {
  constexpr std::int8_t counter = counter_count - 1;
  for (std::size_t i = 1; i < program.code.size(); ++i) {
    if (program.code[i].op != Opcode::fence || program.code[i - 1].op != Opcode::membar) continue;
    Control& before = program.code[i - 1].control;
    before.write_barrier = counter;
    before.stall = std::max<std::uint8_t>(before.stall, 2);
    program.code[i].control.wait_mask |= 1u << counter;
  }
}

}  // namespace noteg::kernels
