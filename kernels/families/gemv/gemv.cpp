// A CTA makes tile.m x tile.n results: each thread takes 16 bytes of K of every row in turn, then lanes and warps add
// up what they have. Instructions and their numbers follow our own kernels compiled for sm_80 and sm_90
// (tests/data/h100_gemv.csv), which are written as TensorRT-LLM's for up to four rows.
#include "kernels/families/gemv/gemv.hpp"
#include "kernels/families/build.hpp"
#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr int index_instructions = 34, result_instructions = 24;  // before the loop; of those that write results
constexpr int words = gemv_access_bytes / 4;                      // of an access

class Gemv {
 public:
  explicit Gemv(const KernelConfig& config)
      : config_(config), is_integer_(config.dtype_in == DataType::s8), rows_(config.tile.m), columns_(config.tile.n) {}

  Result<Program> build(const BuildRequest& request) {
    prologue();
    Program& program = e_.program();
    program.mainloop_begin = e_.position();
    const int loop = e_.begin_loop(true, 1);
    load();
    multiply();
    advance();
    e_.end_loop(loop, pred(0));
    program.epilogue_begin = e_.position();
    reduce();
    write();
    describe(program);
    BuildRequest placed = request;  // nvcc keeps fewer values at a time than the passes do
    placed.config.registers.reset();
    Result<Program> out = finish(e_, placed);
    if (out && config_.registers) out->registers = *config_.registers;
    return out;
  }

 private:
  void prologue() {
    emit_index_arithmetic(e_, index_instructions);
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(left_), constant(0x22c)});
    for (std::vector<Value>* side : {&a_pointers_, &b_pointers_}) {
      const int extent = side == &a_pointers_ ? rows_ : columns_;
      for (int i = 0; i < extent; ++i) side->push_back(e_.fresh(2));
      for (const Value& pointer : *side) {
        e_.emit(Opcode::imad_wide, "", {reg(pointer)}, {reg(left_), constant(0x210), constant(0x218)});
      }
    }
    for (int i = 0; i < rows_ * columns_; ++i) sums_.push_back(e_.fresh());
    emit_zeroes(e_, sums_);
    a_ = e_.add_pattern(along_k(Matrix::a));
    b_ = e_.add_pattern(along_k(Matrix::b));
  }

  // Of a last warp without work for all lanes each has a share.
  AccessPattern along_k(Matrix matrix) const {
    AccessPattern out = contiguous(Space::global, matrix, false, gemv_access_bytes, 32 * gemv_access_bytes);
    const int accesses = config_.tile.k / elements_of_access(config_.dtype_in);
    out.active_mask = lane_mask(accesses * 32 / *config_.threads);
    return out;
  }

  void load() {
    const auto side = [&](const std::vector<Value>& pointers, std::vector<Value>& to, int pattern) {
      for (const Value& pointer : pointers) {
        to.push_back(e_.fresh(words));
        e_.memory(Opcode::ldg, ".E.128.CONSTANT", reg(to.back()), {reg(pointer)}, gemv_access_bytes, pattern);
      }
    };
    side(b_pointers_, b_values_, b_);
    side(a_pointers_, a_values_, a_);
  }

  // A word of the operands as single values in f32.
  std::vector<Value> widened(Value word) {
    std::vector<Value> out;
    if (config_.dtype_in == DataType::f16) return halves(word);
    if (config_.dtype_in == DataType::bf16) {  // the upper half as it stands, the lower one moved up
      for (int i = 0; i < 2; ++i) out.push_back(e_.fresh());
      e_.emit(Opcode::imad, ".U32", {reg(out[0])}, {reg(word), imm(0x10000), reg(zero_value)});
      e_.emit(Opcode::prmt, "", {reg(out[1])}, {reg(word), imm(0x7632), reg(zero_value)});
      e_.emit(Opcode::shf, ".L.U32", {reg(out[1])}, {reg(out[1]), imm(0x10), reg(zero_value)});
      return out;
    }
    for (int i = 0; i < 2; ++i) {
      const Value pair = e_.fresh();
      e_.emit(Opcode::f2fp, ".F16.E4M3.UNPACK_B", {reg(pair)}, {reg(word)});
      for (const Value& v : halves(pair)) out.push_back(v);
    }
    return out;
  }

  std::vector<Value> halves(Value pair) {
    std::vector<Value> out;
    for (int i = 0; i < 2; ++i) {
      out.push_back(e_.fresh());
      e_.emit(Opcode::hadd2_f32, "", {reg(out.back())}, {reg(zero_value), reg(pair)});
    }
    return out;
  }

  void multiply() {
    for (int word = 0; word < words; ++word) {
      std::vector<std::vector<Value>> b;
      for (const Value& column : b_values_) b.push_back(operands(column.part(word)));
      for (int row = 0; row < rows_; ++row) {
        const std::vector<Value> a = operands(a_values_[static_cast<std::size_t>(row)].part(word));
        for (int column = 0; column < columns_; ++column) {
          const Value sum = sums_[static_cast<std::size_t>(row * columns_ + column)];
          const std::vector<Value>& of_column = b[static_cast<std::size_t>(column)];
          for (std::size_t i = 0; i < a.size(); ++i)
            e_.emit(is_integer_ ? Opcode::idp : Opcode::ffma, is_integer_ ? ".S8.S8" : "", {reg(sum)},
                    {reg(a[i]), reg(of_column[i]), reg(sum)});
        }
      }
    }
  }

  // Four integers are multiplied as they are.
  std::vector<Value> operands(Value word) { return is_integer_ ? std::vector<Value>{word} : widened(word); }

  void advance() {
    const auto move = [&](const std::vector<Value>& pointers) {
      for (const Value& pointer : pointers) {
        e_.emit(Opcode::iadd3, "", {reg(pointer.part(0)), pred(1)}, {reg(pointer.part(0)), imm(1), reg(zero_value)});
        e_.emit(Opcode::iadd3, ".X", {reg(pointer.part(1))}, {reg(pointer.part(1)), reg(zero_value), pred(1)});
      }
    };
    move(a_pointers_);
    move(b_pointers_);
    e_.emit(Opcode::iadd3, "", {reg(left_)}, {reg(left_), imm(1), reg(zero_value)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(left_), constant(0x22c)});
  }

  void add(Value to, Value other) {
    if (is_integer_)
      e_.emit(Opcode::iadd3, "", {reg(to)}, {reg(to), reg(other), reg(zero_value)});
    else
      e_.emit(Opcode::fadd, "", {reg(to)}, {reg(to), reg(other)});
  }

  void reduce() {
    AccessPattern one = contiguous(Space::shared, Matrix::none, true, f32_bytes, 128);
    one.active_mask = 1;
    const int stores = e_.add_pattern(one);
    for (const Value& sum : sums_) {
      emit_over_lanes(e_, sum, e_.fresh(), [&](Value to, Value other) { add(to, other); });
      e_.memory(Opcode::sts, "", {}, {reg(left_), reg(sum)}, f32_bytes, stores).guard = pred(2, true);
    }
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  }

  // A thread for each result, all of them of the first warp; the others leave.
  void write() {
    const auto lanes = [&](Space space, Matrix matrix, bool store, int bytes) {
      AccessPattern out = contiguous(space, matrix, store, bytes, columns_ * bytes);
      out.active_mask = lane_mask(rows_ * columns_);
      return e_.add_pattern(out);
    };
    const int loads = lanes(Space::shared, Matrix::none, false, f32_bytes);
    const int bytes = static_cast<int>(bytes_of(config_.dtype_out));
    const int stores = lanes(Space::global, Matrix::c, true, bytes);
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(3)}, {reg(left_), imm(rows_ * columns_)});
    e_.emit(Opcode::exit, "", {}, {}).guard = pred(3);
    const Value sum = e_.fresh(), other = e_.fresh(), address = e_.fresh(2);
    emit_index_arithmetic(e_, result_instructions);
    e_.emit(Opcode::mov, "", {reg(sum)}, {reg(zero_value)});
    for (int warp = 0; warp < *config_.threads / 32; ++warp) {
      e_.memory(Opcode::lds, "", reg(other), {reg(left_)}, f32_bytes, loads);
      add(sum, other);
    }
    e_.emit(Opcode::imad_wide, "", {reg(address)}, {reg(left_), constant(0x220), constant(0x228)});
    e_.emit(Opcode::f2fp, ".F16.F32.PACK_AB", {reg(sum)}, {reg(zero_value), reg(sum)});
    e_.memory(Opcode::stg, bytes == 2 ? ".E.U16" : ".E", {}, {reg(address), reg(sum)}, bytes, stores);
    e_.emit(Opcode::exit, "", {}, {});
  }

  void describe(Program& program) const {
    program.name = config_.name.empty() ? "gemv" : config_.name;
    program.threads = *config_.threads;
    program.warps = program.threads / 32;
    program.shared_bytes = gemv_shared_bytes(config_);
    program.k_per_iteration = config_.tile.k;
    program.stages = 1;
    const double bytes = config_.tile.k * bytes_of(config_.dtype_in);
    program.a_bytes_per_iteration = bytes * rows_;
    program.b_bytes_per_iteration = bytes * columns_;
  }

  const KernelConfig& config_;
  bool is_integer_;
  int rows_, columns_;
  Emitter e_;
  Value left_ = e_.fresh();
  std::vector<Value> a_pointers_, b_pointers_, sums_;
  std::vector<Value> a_values_, b_values_;  // a row's and a column's part of K, four registers each
  int a_ = -1, b_ = -1;
};

}  // namespace

Result<Program> build_gemv(const BuildRequest& request) { return Gemv(request.config).build(request); }

}  // namespace noteg::kernels
