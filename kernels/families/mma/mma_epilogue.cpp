// The epilogue in CUTLASS's manner: eight rows of each warp's tile at a time go to shared memory as the accumulators
// lie, come back in the order of memory, are scaled, converted and stored under guard.
#include <algorithm>
#include <string>

#include "kernels/families/mma/mma_parts.hpp"

namespace noteg::kernels {
namespace {

constexpr int rows_at_a_time = 8;  // of a warp: half an instruction's tile

class Epilogue {
 public:
  Epilogue(Emitter& e, const MmaPlan& plan, const KernelConfig& config, const MmaState& state)
      : e_(e),
        plan_(plan),
        config_(config),
        state_(state),
        acc_bytes_(static_cast<int>(bytes_of(config.dtype_acc))),
        out_bytes_(static_cast<int>(std::max(1.0, bytes_of(config.dtype_out)))),
        vector_(std::max(1, std::min(16 / out_bytes_, config.align_c.value_or(1)))),
        at_(fresh_row_addresses(e)) {
    const int row_bytes = plan.tile.n * acc_bytes_;
    write_pattern_ = e.add_pattern(fragment_rows());
    read_pattern_ = e.add_pattern(contiguous(Space::shared, Matrix::c, false, load_bytes(), row_bytes));
    const int bytes = vector_ * out_bytes_;
    store_pattern_ = e.add_pattern(contiguous(Space::global, Matrix::c, true, bytes, plan.tile.n * out_bytes_));
    load_pattern_ = e.add_pattern(contiguous(Space::global, Matrix::c, false, bytes, plan.tile.n * out_bytes_));
    for (int i = 0; i < std::min(outputs(), 4); ++i) outputs_.push_back(make_output());
  }

  void run() {
    emit_index_arithmetic(e_, 60);
    emit_row_addresses(e_, at_);
    if (takes_turns(config_)) emit_semaphore_wait(e_, at_.pointer);
    for (int row = 0; row < plan_.warp_rows; ++row) {
      for (int half = 0; half < 2; ++half) emit_rows(row, half);
    }
    if (takes_turns(config_)) emit_semaphore_release(e_, at_.pointer);
    e_.emit(Opcode::exit, "", {}, {});
  }

 private:
  // Registers of one output vector; handed round.
  struct Output {
    Value column, address, sum, part, old, bias, result;
  };

  [[nodiscard]] bool adds_c() const { return config_.reads_c || takes_turns(config_); }
  [[nodiscard]] int load_bytes() const { return std::min(16, vector_ * acc_bytes_); }
  [[nodiscard]] int loads_per_output() const { return std::max(1, vector_ * acc_bytes_ / load_bytes()); }
  [[nodiscard]] int sum_registers() const { return std::max(1, vector_ * acc_bytes_ / 4); }
  [[nodiscard]] int out_registers() const { return std::max(1, vector_ * out_bytes_ / 4); }
  // Vectors per thread and step: rows of all warps of one slice together, over all threads.
  [[nodiscard]] int outputs() const {
    const int warps_m = plan_.tile.m / (plan_.warp_rows * plan_.form.shape.m);
    return std::max(1, rows_at_a_time * warps_m * plan_.tile.n / (plan_.threads * vector_));
  }

  Output make_output() {
    return {e_.fresh(),
            e_.fresh(2),
            e_.fresh(sum_registers()),
            plan_.sliced_k > 1 ? e_.fresh(sum_registers()) : Value{},
            adds_c() ? e_.fresh(out_registers()) : Value{},
            config_.bias ? e_.fresh(out_registers()) : Value{},
            e_.fresh(out_registers())};
  }

  // A quad of lanes holds eight neighbouring elements of a row, two each; rows are padded by 32 bytes.
  [[nodiscard]] AccessPattern fragment_rows() const {
    AccessPattern p;
    p.space = Space::shared;
    p.matrix = Matrix::c;
    p.store = true;
    p.bytes_per_lane = static_cast<std::uint8_t>(2 * acc_bytes_);
    const int stride = plan_.tile.n * acc_bytes_ + 8 * acc_bytes_;
    for (int lane = 0; lane < 32; ++lane)
      p.offset[static_cast<std::size_t>(lane)] =
          static_cast<std::uint32_t>(lane / 4 * stride + lane % 4 * 2 * acc_bytes_);
    return p;
  }

  void emit_rows(int row, int half) {
    for (int j = 0; j < plan_.warp_columns; ++j) {
      const Value c = state_.accumulators[static_cast<std::size_t>(row * plan_.warp_columns + j)];
      const int count = c.count / 2;
      const int bytes = 4 * count;
      e_.memory(Opcode::sts, width_suffix(bytes), {}, {reg(at_.write), reg(c.range(half * count, count))}, bytes,
                write_pattern_)
          .src[0]
          .value = j * plan_.form.shape.n * acc_bytes_;
    }
    emit_barrier(e_);
    for (int i = 0; i < outputs(); ++i) emit_output(i, outputs_[static_cast<std::size_t>(i) % outputs_.size()]);
    e_.emit(Opcode::iadd3, "", {reg(at_.row)}, {reg(at_.row), imm(1), reg(zero_value)});
    emit_barrier(e_);
  }

  void load_sum(const Output& o) {
    for (int slice = 0; slice < plan_.sliced_k; ++slice) {
      const Value part = slice == 0 ? o.sum : o.part;
      const int each = std::max(1, load_bytes() / 4);
      for (int i = 0; i < loads_per_output(); ++i) {
        e_.memory(Opcode::lds, width_suffix(load_bytes()), reg(part.range(i * each, each)), {reg(at_.read)},
                  std::max(4, load_bytes()), read_pattern_);
      }
      for (int i = 0; slice > 0 && i < part.count; ++i)
        e_.emit(Opcode::fadd, "", {reg(o.sum.part(i))}, {reg(o.sum.part(i)), reg(part.part(i))});
    }
  }

  // One store: guard, address, scaled and converted value.
  void emit_output(int output, const Output& o) {
    const int bytes = std::max(4, out_registers() * 4);
    const int guard = output % 4;
    load_sum(o);
    e_.emit(Opcode::iadd3, "", {reg(o.column)}, {reg(at_.column), imm(output * 32), reg(zero_value)});
    e_.emit(Opcode::isetp, ".LT.AND", {Operand{}, pred(guard)}, {reg(o.column), constant(0x164)});
    emit_mma_pointer_step(e_, o.address, at_.pointer, output);
    const auto load = [&](Value to, Value from) {
      e_.memory(Opcode::ldg, ".E" + width_suffix(bytes), reg(to), {reg(from)}, bytes, load_pattern_).guard =
          pred(guard);
    };
    if (adds_c()) load(o.old, o.address);
    if (config_.bias) load(o.bias, at_.pointer);
    const int per_result = std::max(1, sum_registers() / out_registers());
    for (int i = 0; i < out_registers(); ++i) emit_result(o, i, per_result);
    e_.memory(Opcode::stg, ".E" + width_suffix(bytes), {}, {reg(o.address), reg(o.result)}, bytes, store_pattern_)
        .guard = pred(guard);
  }

  // Scaled elements; several of them packed where C is narrower than the accumulators.
  void emit_result(const Output& o, int index, int per_result) {
    const bool half = config_.dtype_acc == DataType::f16;
    for (int i = 0; i < per_result; ++i) {
      const Value sum = o.sum.part(std::min(o.sum.count - 1, index * per_result + i));
      e_.emit(half ? Opcode::hfma2 : Opcode::fmul, "", {reg(sum)}, {reg(sum), constant(0x1e0)});
    }
    const Value first = o.sum.part(std::min(o.sum.count - 1, index * per_result));
    const Value last = o.sum.part(std::min(o.sum.count - 1, (index + 1) * per_result - 1));
    if (adds_c()) e_.emit(Opcode::ffma, "", {reg(first)}, {reg(o.old.part(index)), constant(0x1e4), reg(first)});
    if (config_.bias) e_.emit(Opcode::fadd, "", {reg(first)}, {reg(first), reg(o.bias.part(index))});
    e_.emit(Opcode::prmt, "", {reg(o.result.part(index))}, {reg(first), imm(0x5410), reg(last)});
  }

  Emitter& e_;
  const MmaPlan& plan_;
  const KernelConfig& config_;
  const MmaState& state_;
  int acc_bytes_, out_bytes_, vector_;
  RowAddresses at_;
  std::vector<Output> outputs_;
  int write_pattern_ = -1, read_pattern_ = -1, store_pattern_ = -1, load_pattern_ = -1;
};

}  // namespace

void emit_mma_epilogue(Emitter& e, const MmaPlan& plan, const KernelConfig& config, const MmaState& state) {
  Epilogue(e, plan, config, state).run();
}

}  // namespace noteg::kernels
