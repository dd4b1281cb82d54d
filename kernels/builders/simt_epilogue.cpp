// The epilogue in CUTLASS's manner: row by row of the thread tile, accumulators go to shared memory, come back in
// the order of memory (with the partial sums of sliced-K warps), are scaled and stored under guard.
#include <algorithm>
#include <string>

#include "kernels/builders/simt_parts.hpp"

namespace noteg::kernels {
namespace {

constexpr int element_bytes = 4;

std::string width_suffix(int bytes) { return bytes == 16 ? ".128" : bytes == 8 ? ".64" : ""; }

class Epilogue {
 public:
  Epilogue(Emitter& e, const SimtPlan& plan, const KernelConfig& config, const SimtState& state)
      : e_(e), plan_(plan), config_(config), state_(state), pointer_(e.fresh(2)), write_(e.fresh()), read_(e.fresh()),
        row_(e.fresh()), column_(e.fresh()) {
    const int bytes = plan.store_width * element_bytes;
    const int row_bytes = plan.tile.n * element_bytes;
    write_pattern_ = e.add_pattern(contiguous(Space::shared, Matrix::c, true, element_bytes, row_bytes));
    read_pattern_ = e.add_pattern(contiguous(Space::shared, Matrix::c, false, bytes, row_bytes));
    store_pattern_ = e.add_pattern(contiguous(Space::global, Matrix::c, true, bytes, row_bytes));
    load_pattern_ = e.add_pattern(contiguous(Space::global, Matrix::c, false, bytes, row_bytes));
  }

  void run() {
    emit_index_arithmetic(e_, 60);
    emit_addresses();
    if (config_.split_k > 1 && config_.split_k_mode == SplitKMode::serial) emit_semaphore_wait();
    for (int row = 0; row < plan_.thread_m; ++row) emit_row(row);
    if (config_.split_k > 1 && config_.split_k_mode == SplitKMode::serial) emit_semaphore_release();
    e_.emit(Opcode::exit, "", {}, {});
  }

 private:
  void emit_addresses() {
    const Value tid = e_.fresh();
    e_.emit(Opcode::s2r, "", {reg(tid)}, {});
    e_.emit(Opcode::shf, ".R.U32.HI", {reg(row_)}, {reg(zero_value), imm(5), reg(tid)});
    e_.emit(Opcode::lop3, "", {reg(column_)}, {reg(tid), imm(0x1f), reg(zero_value)});
    e_.emit(Opcode::lea, "", {reg(write_)}, {reg(row_), ureg(4), imm(4)});
    e_.emit(Opcode::lea, "", {reg(read_)}, {reg(column_), ureg(4), imm(4)});
    e_.emit(Opcode::imad_wide, "", {reg(pointer_)}, {reg(row_), constant(0x178), constant(0x1c0, 2)});
    // The main loop's tiles lie where the rows will be written.
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  }

  void emit_row(int row) {
    for (int j = 0; j < plan_.thread_n; ++j) {
      const Value value = state_.accumulators[static_cast<std::size_t>(row * plan_.thread_n + j)];
      e_.memory(Opcode::sts, "", {}, {reg(write_), reg(value)}, element_bytes, write_pattern_).src[0].value = j * element_bytes;
    }
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
    const int outputs = std::max(1, plan_.thread_n / plan_.sliced_k / plan_.store_width);
    for (int i = 0; i < outputs; ++i) emit_output(i);
    e_.emit(Opcode::iadd3, "", {reg(row_)}, {reg(row_), imm(1), reg(zero_value)});
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  }

  Value load_sum(int output) {
    const int bytes = plan_.store_width * element_bytes;
    Value sum = e_.fresh(plan_.store_width);
    for (int slice = 0; slice < plan_.sliced_k; ++slice) {
      const Value part = slice == 0 ? sum : e_.fresh(plan_.store_width);
      e_.memory(Opcode::lds, width_suffix(bytes), reg(part), {reg(read_)}, bytes, read_pattern_).src[0].value = output * 32 * bytes;
      for (int i = 0; slice > 0 && i < part.count; ++i) {
        e_.emit(Opcode::fadd, "", {reg(sum.part(i))}, {reg(sum.part(i)), reg(part.part(i))});
      }
    }
    return sum;
  }

  // One store: guard, address, scaled value.
  void emit_output(int output) {
    const int bytes = plan_.store_width * element_bytes;
    const int guard = output % 4;
    const Value at = e_.fresh();
    const Value address = e_.fresh(2);
    const Value sum = load_sum(output);
    e_.emit(Opcode::iadd3, "", {reg(at)}, {reg(column_), imm(output * 32), reg(zero_value)});
    e_.emit(Opcode::isetp, ".LT.AND", {Operand{}, pred(guard)}, {reg(at), constant(0x164)});
    emit_pointer_step(e_, address, pointer_, output);
    const bool adds_c = config_.reads_c || (config_.split_k > 1 && config_.split_k_mode == SplitKMode::serial);
    const Value old = adds_c ? e_.fresh(plan_.store_width) : Value{};
    if (adds_c) e_.memory(Opcode::ldg, ".E" + width_suffix(bytes), reg(old), {reg(address)}, bytes, load_pattern_).guard = pred(guard);
    const Value added = config_.bias ? e_.fresh(plan_.store_width) : Value{};
    if (config_.bias) e_.memory(Opcode::ldg, ".E" + width_suffix(bytes), reg(added), {reg(pointer_)}, bytes, load_pattern_).guard = pred(guard);
    const Value result = e_.fresh(plan_.store_width);
    for (int i = 0; i < plan_.store_width; ++i) {
      e_.emit(Opcode::fmul, "", {reg(result.part(i))}, {reg(sum.part(i)), constant(0x1e0)});
      if (adds_c) e_.emit(Opcode::ffma, "", {reg(result.part(i))}, {reg(old.part(i)), constant(0x1e4), reg(result.part(i))});
      if (config_.bias) e_.emit(Opcode::fadd, "", {reg(result.part(i))}, {reg(result.part(i)), reg(added.part(i))});
    }
    Instruction& store = e_.memory(Opcode::stg, ".E" + width_suffix(bytes), {}, {reg(address), reg(result)}, bytes, store_pattern_);
    store.guard = pred(guard);
  }

  // Serial split-K: CTAs of one tile take turns through a semaphore in global memory.
  void emit_semaphore_wait() {
    AccessPattern one = contiguous(Space::global, Matrix::none, false, element_bytes, 128);
    one.active_mask = 1;
    const Value turn = e_.fresh();
    e_.memory(Opcode::ldg, ".E.STRONG.GPU", reg(turn), {reg(pointer_)}, element_bytes, e_.add_pattern(one));
    e_.emit(Opcode::isetp, ".NE.AND", {Operand{}, pred(0)}, {reg(turn), constant(0x1f0)});
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  }

  void emit_semaphore_release() {
    AccessPattern one = contiguous(Space::global, Matrix::none, true, element_bytes, 128);
    one.active_mask = 1;
    const Value turn = e_.fresh();
    e_.emit(Opcode::membar, ".SC.GPU", {}, {});
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
    e_.emit(Opcode::iadd3, "", {reg(turn)}, {constant(0x1f0), imm(1), reg(zero_value)});
    e_.memory(Opcode::stg, ".E.STRONG.GPU", {}, {reg(pointer_), reg(turn)}, element_bytes, e_.add_pattern(one));
  }

  Emitter& e_;
  const SimtPlan& plan_;
  const KernelConfig& config_;
  const SimtState& state_;
  Value pointer_, write_, read_, row_, column_;
  int write_pattern_ = -1, read_pattern_ = -1, store_pattern_ = -1, load_pattern_ = -1;
};

}  // namespace

void emit_simt_epilogue(Emitter& e, const SimtPlan& plan, const KernelConfig& config, const SimtState& state) {
  Epilogue(e, plan, config, state).run();
}

}  // namespace noteg::kernels
