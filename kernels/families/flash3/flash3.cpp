// The streams of FlashAttention-3. A consumer works one block of keys ahead: it asks for the scores of the next block,
// then for the products of this block's weights, and takes the softmax of the first while the second runs. Consumers
// take turns at asking, so that one multiplies while the others are at their softmax.
#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/common.hpp"
#include "kernels/families/flash3/flash3_parts.hpp"
#include "kernels/families/wgmma/wgmma_parts.hpp"
#include "kernels/passes/passes.hpp"

namespace noteg::kernels {
namespace {

enum Walk : int { walk_k, walk_v, walk_turn, walk_tiles, walk_staged };

constexpr int quad_steps = 2;  // a row lies in four lanes: two exchanges reduce it
constexpr int rows_of_thread = 2;
constexpr int output_arithmetic = 30;  // of a row of the output: token and head by a division, then 64-bit products
constexpr int exponentials_ahead = 4, sums_behind = 6;  // in the stream of one row after another

class Flash3Builder {
 public:
  Flash3Builder(Emitter& e, const Flash3Plan& plan, const KernelConfig& config) : e_(e), plan_(plan), config_(config) {
    scores_ = e.fresh(plan.keys / 2);
    output_ = e.fresh(plan.head / 2);
    for (int i = 0; i < plan.keys / 16; ++i) weights_.push_back(e.fresh(4));
    for (int i = 0; i < rows_of_thread; ++i) {
      most_.push_back(e.fresh());
      sum_.push_back(e.fresh());
      scale_.push_back(e.fresh());
    }
    for (int i = 0; i < 8; ++i) spare_.push_back(e.fresh());
    length_ = e.fresh();
    place_ = e.fresh(2);
    lengths_ = add_flash3_lengths(e);
  }

  void run() {
    add_rings();
    const int copying = plan_.copying_warps();
    add_role(e_, "producer", 0, copying, plan_.producer_registers(), [&] { emit_flash3_producer(e_, plan_); });
    if (copying < 4) add_role(e_, "idle", copying, 4 - copying, plan_.producer_registers(), [&] { idle(); });
    for (int i = 0; i < plan_.consumers; ++i)
      add_role(e_, "consumer_" + std::to_string(i), 4 * (i + 1), 4, plan_.consumer_registers(), [&] { consumer(i); });
  }

 private:
  void add_rings() {
    std::vector<BarrierRing>& rings = e_.program().rings;
    rings.resize(static_cast<std::size_t>(ring_turn + plan_.consumers));
    const int consuming = 4 * plan_.consumers, copying = plan_.copying_warps();
    rings[ring_full_q] = {"full_q", 1, plan_.gathers ? copying : 1, walk_tiles, false, false};
    rings[ring_empty_q] = {"empty_q", 1, consuming, walk_tiles, false, false};
    rings[ring_output] = {"output", 1, consuming, walk_tiles, false, false};
    rings[ring_next] = {"next", 1, consuming + copying, walk_tiles, true, false};
    rings[ring_full_k] = {"full_k", plan_.stages, copying, walk_k, false, false};
    rings[ring_empty_k] = {"empty_k", plan_.stages, consuming, walk_k, false, false};
    rings[ring_full_v] = {"full_v", plan_.stages, copying, walk_v, false, false};
    rings[ring_empty_v] = {"empty_v", plan_.stages, consuming, walk_v, false, false};
    rings[ring_staged] = {"staged", 1, consuming, walk_staged, true, false};
    for (int i = 0; i < plan_.consumers; ++i)
      rings[static_cast<std::size_t>(ring_turn + i)] = {"turn_" + std::to_string(i), 1, 4, walk_turn, false, false};
  }

  void idle() {
    emit_flash3_start(e_, ".DEALLOC.CTAPOOL", plan_.producer_registers());
    e_.emit(Opcode::exit, "", {}, {});
  }

  void wait_full(int ring) {
    emit_async(e_, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
               {.kind = AsyncKind::wait, .ring = ring, .rounds_ahead = 1});
  }

  void release(int ring, bool advances = true) {
    emit_async(e_, Opcode::syncs, ".ARRIVE.TRANS64.RED.A1T0",
               {.kind = AsyncKind::arrive, .ring = ring, .advances = advances});
  }

  void wait_groups(int groups) {
    emit_async(e_, Opcode::warpgroup, ".DEPBAR.LE", {.kind = AsyncKind::matmul_wait, .groups = groups});
  }

  void multiply(const TensorForm& form, Value sums, Operand a, bool a_in_registers, bool closes) {
    for (int i = 0; i < 2; ++i) e_.emit(Opcode::uiadd3, "", {ureg(12 + 2 * i)}, {ureg(10), imm(i)});
    Instruction& ins = emit_async(
        e_, opcode_of(form), modifiers_of(form),
        {.kind = AsyncKind::matmul, .n = form.shape.n, .a_in_registers = a_in_registers, .closes_group = closes});
    ins.dst[0] = reg(sums);
    ins.src[0] = a;
    ins.src[1] = ureg(14, 2);
    ins.src[2] = reg(sums);
  }

  void ask_scores() {
    wait_full(ring_full_k);
    e_.emit(Opcode::warpgroup, ".ARRIVE", {}, {});
    const int steps = plan_.head / 16;
    for (int i = 0; i < steps; ++i) multiply(plan_.scores, scores_, ureg(12, 2), false, i + 1 == steps);
  }

  void ask_products() {
    wait_full(ring_full_v);
    e_.emit(Opcode::warpgroup, ".ARRIVE", {}, {});
    for (std::size_t i = 0; i < weights_.size(); ++i)
      multiply(plan_.values, output_, reg(weights_[i]), true, i + 1 == weights_.size());
  }

  // Two neighbours of a row in turn with two of the other row: how the sums of a warpgroup lie.
  [[nodiscard]] Value score(int i) const { return scores_.part(i); }
  [[nodiscard]] static int row_of(int i) { return i / 2 % rows_of_thread; }
  // The i-th score in an order that takes the rows in turn: chains of one row wait for each other.
  [[nodiscard]] static int in_turn(int i) { return i / 4 * 4 + (i % 2) * 2 + i / 2 % 2; }

  void reduce_rows(const std::vector<Value>& rows, Opcode by) {
    for (int step = 0; step < quad_steps; ++step) {
      for (std::size_t row = 0; row < rows.size(); ++row)
        e_.emit(Opcode::shfl, ".BFLY", {reg(spare_[6 + row])}, {reg(rows[row]), imm(1 << step), imm(0x1f)});
      for (std::size_t row = 0; row < rows.size(); ++row)
        e_.emit(by, "", {reg(rows[row])}, {reg(rows[row]), reg(spare_[6 + row]), pred(4)});
    }
  }

  // The last block of keys: scores behind the diagonal go by a comparison and a choice each; those behind the last key
  // share the comparison, since both rows of a thread have the same columns.
  void mask() {
    for (int i = 0; i < plan_.keys / 2; ++i) {
      if (config_.attention.causal || row_of(i) == 0)
        e_.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(5)}, {reg(most_.front()), imm(i)});
      e_.emit(Opcode::sel, "", {reg(score(i))}, {reg(score(i)), imm(0xff80), pred(5)});
    }
  }

  // Largest of each row, weights = exp2(score - largest), their sums: FFMA, MUFU and FADD of different elements stand
  // beside each other, since MUFU takes longest. Four instructions a weight, half of a packing one and the scaling of
  // the output: as nvcc 13 compiles the published loop (68 FMNMX, 64 FFMA, 66 MUFU, 64 FADD, 32 F2FP, 64 FMUL for 64).
  void softmax() {
    largest();
    weights(false);
  }

  void largest() {
    const int count = plan_.keys / 2;
    for (int row = 0; row < rows_of_thread; ++row)
      e_.emit(Opcode::mov, "", {reg(spare_[static_cast<std::size_t>(row)])},
              {reg(most_[static_cast<std::size_t>(row)])});
    for (int i = 0; i < count; ++i) {
      const Value most = most_[static_cast<std::size_t>(row_of(in_turn(i)))];
      e_.emit(Opcode::sel, "", {reg(most)}, {reg(most), reg(score(in_turn(i))), pred(4)});  // FMNMX
    }
  }

  void weights(bool scales_output) {
    const int count = plan_.keys / 2;
    reduce_rows(most_, Opcode::sel);
    for (int row = 0; row < rows_of_thread; ++row) {
      const auto r = static_cast<std::size_t>(row);
      e_.emit(Opcode::ffma, "", {reg(scale_[r])}, {reg(spare_[r]), constant(0x1b0), reg(most_[r])});
      e_.emit(Opcode::mufu, ".EX2", {reg(scale_[r])}, {reg(scale_[r])});
    }
    for (int row = 0; row < rows_of_thread; ++row) {
      const auto r = static_cast<std::size_t>(row);
      e_.emit(Opcode::fmul, "", {reg(sum_[r])}, {reg(sum_[r]), reg(scale_[r])});
    }
    for (int i = -exponentials_ahead; i < count + sums_behind; ++i) {
      if (scales_output) scale_output(scale_, i + exponentials_ahead, count + exponentials_ahead + sums_behind);
      if (i + exponentials_ahead < count) {
        const int at = in_turn(i + exponentials_ahead);
        const Value most = most_[static_cast<std::size_t>(row_of(at))];
        e_.emit(Opcode::ffma, "", {reg(score(at))}, {reg(score(at)), constant(0x1b0), reg(most)});
      }
      if (i >= 0 && i < count) e_.emit(Opcode::mufu, ".EX2", {reg(score(in_turn(i)))}, {reg(score(in_turn(i)))});
      if (i >= sums_behind) {
        const int at = in_turn(i - sums_behind);
        const Value sum = sum_[static_cast<std::size_t>(row_of(at))];
        e_.emit(Opcode::fadd, "", {reg(sum)}, {reg(sum), reg(score(at))});
      }
    }
  }

  // What falls to step `step` of `steps` of the output's scaling.
  void scale_output(const std::vector<Value>& by, int step = 0, int steps = 1) {
    const int all = plan_.head / 2;
    for (int i = step * all / steps; i < (step + 1) * all / steps; ++i) {
      const Value scale = by[static_cast<std::size_t>(row_of(i))];
      e_.emit(Opcode::fmul, "", {reg(output_.part(i))}, {reg(output_.part(i)), reg(scale)});
    }
  }

  void pack_weights() {
    for (int i = 0; i < plan_.keys / 4; ++i) {
      const Value to = weights_[static_cast<std::size_t>(i / 4)].part(i % 4);
      e_.emit(Opcode::f2fp, config_.dtype_in == DataType::bf16 ? ".BF16.F32.PACK_AB" : ".F16.F32.PACK_AB", {reg(to)},
              {reg(score(2 * i + 1)), reg(score(2 * i))});
    }
  }

  void consumer(int which) {
    emit_flash3_start(e_, ".TRY_ALLOC.CTAPOOL", plan_.consumer_registers());
    emit_index_arithmetic(e_, flash3_role_prologue);
    const int tiles = open_tiles(e_, plan_.persistent);
    emit_flash3_lengths(e_, length_, place_, lengths_, true);
    for (int i = 0; i < plan_.head / 2; ++i) e_.emit(Opcode::cs2r, ".32", {reg(output_.part(i))}, {});
    emit_zeroes(e_, most_);
    emit_zeroes(e_, sum_);
    emit_zeroes(e_, scale_);
    wait_full(ring_full_q);
    ask_scores();
    wait_groups(0);
    release(ring_empty_k);
    mask();
    softmax();
    pack_weights();
    if (which == 0) e_.program().mainloop_begin = e_.position();
    block(which);
    if (which == 0) e_.program().epilogue_begin = e_.position();
    release(ring_empty_q, false);
    if (plan_.scales_first()) scale_output(scale_);
    ask_products();
    reduce_rows(sum_, Opcode::fadd);
    for (const Value& v : sum_) e_.emit(Opcode::mufu, ".RCP", {reg(v)}, {reg(v)});
    wait_groups(0);
    release(ring_empty_v);
    scale_output(sum_);
    if (tiles >= 0)
      emit_async(e_, Opcode::bar_sync, ".DEFER_BLOCKING",
                 {.kind = AsyncKind::sync, .ring = ring_next, .rounds_ahead = 1});
    epilogue();
    close_tiles(e_, tiles);
    e_.emit(Opcode::exit, "", {}, {});
  }

  // The compiler asks for the products between the largest scores and the exponentials, which only a neighbour's
  // products run beside. Heads beyond 128 take no turns and scale the output beside their own scores
  // (UseSchedulerBarrier and RescaleOBeforeGemm of the library's main loop).
  void block(int which) {
    const int loop = e_.begin_guarded_loop(pred(0));
    if (plan_.takes_turns()) emit_turn(e_, ring_turn + which, which == 0 ? 0 : 1);
    ask_scores();
    if (plan_.scales_first()) scale_output(scale_);
    ask_products();
    if (plan_.takes_turns()) emit_pass(e_, ring_turn + (which + 1) % plan_.consumers);
    wait_groups(1);
    release(ring_empty_k);
    largest();
    wait_groups(0);
    release(ring_empty_v);
    weights(!plan_.scales_first());
    pack_weights();
    e_.end_loop(loop, pred(0));
  }

  // O through shared memory where values were, stored by a box; the sums' logarithms beside it.
  void epilogue() {
    if (plan_.consumers > 1)
      emit_async(e_, Opcode::bar_sync, ".DEFER_BLOCKING",
                 {.kind = AsyncKind::sync, .ring = ring_staged, .rounds_ahead = 1, .advances = true});
    const int pattern = e_.add_pattern(contiguous(Space::shared, Matrix::c, true, 16, 512));
    for (int first = 0; first < plan_.head / 2; first += 8) {
      const Value four = weights_.front();
      for (int i = 0; i < 4; ++i)
        e_.emit(Opcode::f2fp, ".PACK_AB", {reg(four.part(i))},
                {reg(output_.part(first + 2 * i + 1)), reg(output_.part(first + 2 * i))});
      e_.memory(Opcode::stsm, ".16.M88.4", {}, {reg(most_.front()), reg(four)}, 16, pattern);
    }
    if (plan_.gathers) read_back();
    e_.emit(Opcode::membar, ".ALL.CTA", {}, {});
    e_.emit(Opcode::fence, ".VIEW.ASYNC", {}, {});
    release(ring_output);
    if (plan_.gathers) share_places();
    // Heads of a key head lie in the rows by turns, so that threads store them and no box does (Use_TMA_O).
    emit_async(e_, Opcode::utmastg, ".4D",
               {.kind = AsyncKind::store_box, .one_warp = true, .box = BoxOf::c, .bytes = 2.0 * 64 * plan_.head});
    e_.emit(Opcode::utmacmdflush, "", {}, {});
    e_.emit(Opcode::depbar, ".LE", {}, {}).depbar_count = 0;
  }

  // All consumers' output in shared memory, each thread takes whole rows' pieces and works their places out.
  void read_back() {
    emit_async(e_, Opcode::bar_sync, ".DEFER_BLOCKING",
               {.kind = AsyncKind::sync, .ring = ring_staged, .rounds_ahead = 1, .advances = true});
    emit_flash3_lengths(e_, length_, place_, lengths_, true);
    emit_flash3_chain(e_, place_.part(0), length_, output_arithmetic);
    const int pattern = e_.add_pattern(contiguous(Space::shared, Matrix::c, false, 16, 512));
    for (int piece = 0; piece < plan_.head / 16; ++piece)
      e_.memory(Opcode::lds, ".128", reg(weights_[static_cast<std::size_t>(piece) % weights_.size()]),
                {reg(place_.part(0))}, 16, pattern);
  }

  // Of the threads that store a row, one has worked its place out.
  void share_places() {
    for (int pass = 0; pass < plan_.head / 32; ++pass) {
      for (int i = 0; i < 2; ++i)
        e_.emit(Opcode::shfl, ".IDX", {reg(spare_[6])}, {reg(place_.part(i)), imm(pass), imm(0x181f)});
      emit_flash3_chain(e_, spare_[6], length_, 3);
    }
  }

  Emitter& e_;
  const Flash3Plan& plan_;
  const KernelConfig& config_;
  Value scores_, output_, length_, place_;
  int lengths_ = -1;
  std::vector<Value> weights_, most_, sum_, scale_, spare_;
};

}  // namespace

Result<Program> build_flash3(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  const Flash3Plan plan = plan_flash3(config);
  Emitter e;
  Flash3Builder(e, plan, config).run();
  Program& program = e.program();
  program.name = config.name.empty() ? "flash3" : config.name;
  program.warps = plan.warps();
  program.threads = 32 * plan.warps();
  program.k_per_iteration = plan.keys;
  program.stages = plan.stages;
  program.is_persistent = plan.persistent;
  program.peeled_tiles = 1;
  program.lead_warp = 4;
  program.b_bytes_per_iteration = 2.0 * plan.keys * plan.head * bytes_of(config.dtype_in);
  if (auto assigned = assign_registers(program, e.groups()); !assigned) return assigned.errors();
  program.registers = config.registers.value_or(168);
  program.shared_bytes = config.shared_bytes.value_or(plan.shared_bytes);
  assign_control_bits(program, request.latency);
  guard_fences(program);
  return std::move(program);
}

}  // namespace noteg::kernels
