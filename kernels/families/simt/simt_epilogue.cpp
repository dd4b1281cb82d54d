// The epilogue in CUTLASS's manner: row by row of the thread tile, accumulators go to shared memory, come back in
// the order of memory (with the partial sums of sliced-K warps), are scaled and stored under guard.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/families/simt/simt_parts.hpp"

namespace noteg::kernels {
namespace {

class Epilogue {
 public:
  Epilogue(Emitter& e, const SimtPlan& plan, const KernelConfig& config, const SimtState& state)
      : e_(e), plan_(plan), config_(config), state_(state), at_(fresh_row_addresses(e)) {
    const int bytes = plan.store_width * f32_bytes;
    const int row_bytes = plan.tile.n * f32_bytes;
    write_pattern_ = e.add_pattern(contiguous(Space::shared, Matrix::c, true, f32_bytes, row_bytes));
    read_pattern_ = e.add_pattern(contiguous(Space::shared, Matrix::c, false, bytes, row_bytes));
    store_pattern_ = e.add_pattern(contiguous(Space::global, Matrix::c, true, bytes, row_bytes));
    load_pattern_ = e.add_pattern(contiguous(Space::global, Matrix::c, false, bytes, row_bytes));
    for (int i = 0; i < outputs(); ++i) outputs_.push_back(make_output());
  }

  void run() {
    emit_index_arithmetic(e_, 60);
    emit_row_addresses(e_, at_);
    if (takes_turns(config_)) emit_semaphore_wait(e_, at_.pointer);
    for (int row = 0; row < plan_.thread_m; ++row) emit_row(row);
    if (takes_turns(config_)) emit_semaphore_release(e_, at_.pointer);
    e_.emit(Opcode::exit, "", {}, {});
  }

 private:
  // Registers of one output vector; every row of the thread tile uses the same ones again.
  struct Output {
    Value column, address, sum, part, old, bias, result;
  };

  [[nodiscard]] int outputs() const { return std::max(1, plan_.thread_n / plan_.sliced_k / plan_.store_width); }
  [[nodiscard]] bool adds_c() const { return config_.reads_c || takes_turns(config_); }
  [[nodiscard]] bool loads_early() const { return adds_c() || config_.bias; }

  Output make_output() {
    const int width = plan_.store_width;
    return {e_.fresh(),      e_.fresh(2),     e_.fresh(width), e_.fresh(width),
            e_.fresh(width), e_.fresh(width), e_.fresh(width)};
  }

  void emit_row(int row) {
    if (loads_early()) {
      for (int i = 0; i < outputs(); ++i) emit_loads(i, outputs_[static_cast<std::size_t>(i)]);
    }
    for (int j = 0; j < plan_.thread_n; ++j) {
      const Value value = state_.accumulators[static_cast<std::size_t>(row * plan_.thread_n + j)];
      e_.memory(Opcode::sts, "", {}, {reg(at_.write), reg(value)}, f32_bytes, write_pattern_).src[0].value =
          j * f32_bytes;
    }
    emit_barrier(e_);
    for (int i = 0; i < outputs(); ++i) emit_output(i, outputs_[static_cast<std::size_t>(i)]);
    e_.emit(Opcode::iadd3, "", {reg(at_.row)}, {reg(at_.row), imm(1), reg(zero_value)});
    emit_barrier(e_);
  }

  // The sliced-K warps' partial sums, added up.
  void load_sum(int output, const Output& o) {
    const int bytes = plan_.store_width * f32_bytes;
    for (int slice = 0; slice < plan_.sliced_k; ++slice) {
      const Value part = slice == 0 ? o.sum : o.part;
      e_.memory(Opcode::lds, width_suffix(bytes), reg(part), {reg(at_.read)}, bytes, read_pattern_).src[0].value =
          output * 32 * bytes;
      for (int i = 0; slice > 0 && i < part.count; ++i) {
        e_.emit(Opcode::fadd, "", {reg(o.sum.part(i))}, {reg(o.sum.part(i)), reg(part.part(i))});
      }
    }
  }

  [[nodiscard]] static int guard_of(int output) { return output % 4; }

  void emit_guard(int output, const Output& o) {
    e_.emit(Opcode::isetp, ".LT.AND", {Operand{}, pred(guard_of(output))}, {reg(o.column), constant(0x164)});
  }

  void emit_place(int output, const Output& o) {
    e_.emit(Opcode::iadd3, "", {reg(o.column)}, {reg(at_.column), imm(output * 32), reg(zero_value)});
    emit_guard(output, o);
    emit_simt_pointer_step(e_, o.address, at_.pointer, output);
  }

  // C and bias of a whole row are asked for before its accumulators go to shared memory: one wait per row.
  void emit_loads(int output, const Output& o) {
    const int bytes = plan_.store_width * f32_bytes;
    emit_place(output, o);
    const auto load = [&](Value to, Value from) {
      e_.memory(Opcode::ldg, ".E" + width_suffix(bytes), reg(to), {reg(from)}, bytes, load_pattern_).guard =
          pred(guard_of(output));
    };
    if (adds_c()) load(o.old, o.address);
    if (config_.bias) load(o.bias, at_.pointer);
  }

  // One store: guard, address, scaled value.
  void emit_output(int output, const Output& o) {
    const int bytes = plan_.store_width * f32_bytes;
    load_sum(output, o);
    if (loads_early())
      emit_guard(output, o);
    else
      emit_place(output, o);
    for (int i = 0; i < plan_.store_width; ++i) {
      e_.emit(Opcode::fmul, "", {reg(o.result.part(i))}, {reg(o.sum.part(i)), constant(0x1e0)});
      if (adds_c())
        e_.emit(Opcode::ffma, "", {reg(o.result.part(i))},
                {reg(o.old.part(i)), constant(0x1e4), reg(o.result.part(i))});
      if (config_.bias)
        e_.emit(Opcode::fadd, "", {reg(o.result.part(i))}, {reg(o.result.part(i)), reg(o.bias.part(i))});
    }
    e_.memory(Opcode::stg, ".E" + width_suffix(bytes), {}, {reg(o.address), reg(o.result)}, bytes, store_pattern_)
        .guard = pred(guard_of(output));
  }

  Emitter& e_;
  const SimtPlan& plan_;
  const KernelConfig& config_;
  const SimtState& state_;
  RowAddresses at_;
  std::vector<Output> outputs_;
  int write_pattern_ = -1, read_pattern_ = -1, store_pattern_ = -1, load_pattern_ = -1;
};

}  // namespace

void emit_simt_epilogue(Emitter& e, const SimtPlan& plan, const KernelConfig& config, const SimtState& state) {
  Epilogue(e, plan, config, state).run();
}

}  // namespace noteg::kernels
