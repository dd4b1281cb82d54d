// One thread per element of C, a T x T tile of A and of B in shared memory, T known only at run time: the compiler
// unrolls the inner loop by 16, 8 and 4 with a remainder, and forms every address anew. The instructions on the path
// that a given T takes follow our own kernel compiled for sm_90; paths not taken are left out.
#include <algorithm>
#include <array>

#include "kernels/families/build.hpp"
#include "kernels/families/common.hpp"
#include "kernels/families/naive/naive_parts.hpp"

namespace noteg::kernels {
namespace {

constexpr int largest_tile = 32;

class Naive {
 public:
  Naive(int tile, const KernelConfig& config) : tile_(tile), config_(config) {
    for (Value* v : {&row_, &column_, &t_, &k_, &b_address_, &a_store_, &b_store_, &sum_, &m_, &n_, &left_, &remainder_,
                     &in_tile_})
      *v = e_.fresh();
    make_patterns();
  }

  Result<Program> build(const BuildRequest& request) {
    emit_prologue();
    e_.program().mainloop_begin = e_.position();
    const int loop = e_.begin_loop(true, 1);
    emit_tile_load();
    emit_products();
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
    e_.end_loop(loop, pred(1, true));
    e_.program().epilogue_begin = e_.position();
    emit_epilogue();
    describe_naive(e_.program(), tile_, config_);
    return finish_naive(e_, request);
  }

 private:
  AccessPattern lanes(Space space, Matrix matrix, bool store, int row_step, int column_step) const {
    return naive_lanes(tile_, space, matrix, store, f32_bytes, row_step, column_step);
  }

  void make_patterns() {
    load_a_ = e_.add_pattern(lanes(Space::global, Matrix::a, false, 1, 1));
    load_b_ = e_.add_pattern(lanes(Space::global, Matrix::b, false, 1, 1));
    write_ = e_.add_pattern(lanes(Space::shared, Matrix::none, true, 1, 1));
    read_a_ = e_.add_pattern(lanes(Space::shared, Matrix::a, false, 1, 0));  // the row's element, for all columns
    read_b_ = e_.add_pattern(lanes(Space::shared, Matrix::b, false, 0, 1));  // the column's element, for all rows
    result_ = e_.add_pattern(lanes(Space::global, Matrix::c, true, 1, 1));
  }

  void emit_prologue() {
    e_.emit(Opcode::ldc, "", {reg(t_)}, {constant(0x230)});
    e_.emit(Opcode::s2r, "", {reg(row_)}, {});
    e_.emit(Opcode::s2r, "", {reg(column_)}, {});
    e_.emit(Opcode::s2ur, "", {ureg(4)}, {});
    e_.emit(Opcode::s2ur, "", {ureg(5)}, {});
    e_.emit(Opcode::uldc, ".64", {ureg(10, 2)}, {constant(0x208, 2)});
    emit_division();
    e_.emit(Opcode::imad, "", {reg(m_)}, {reg(t_), ureg(4), reg(row_)});
    e_.emit(Opcode::imad, "", {reg(n_)}, {reg(t_), ureg(5), reg(column_)});
    e_.emit(Opcode::mov, "", {reg(sum_)}, {reg(zero_value)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(t_), imm(1)});
    e_.emit(Opcode::bra, "", {}, {}).guard = pred(0, true);
    emit_addresses();
  }

  // ceil(K / T) by floating-point reciprocal, as integer division is done: the long chain at the start.
  void emit_division() {
    std::array<Value, 8> v;
    for (Value& x : v) x = e_.fresh();
    e_.emit(Opcode::iabs, "", {reg(v[0])}, {reg(t_)});
    e_.emit(Opcode::iadd3, "", {reg(v[1])}, {reg(t_), imm(-1), reg(t_)});
    e_.emit(Opcode::i2f, ".RP", {reg(v[2])}, {reg(v[0])});
    e_.emit(Opcode::mufu, ".RCP", {reg(v[2])}, {reg(v[2])});
    e_.emit(Opcode::iadd3, "", {reg(v[3])}, {reg(v[2]), imm(0x0ffffffe), reg(zero_value)});
    e_.emit(Opcode::f2i, ".FTZ.U32.TRUNC.NTZ", {reg(v[4])}, {reg(v[3])});
    e_.emit(Opcode::imad, ".MOV", {reg(v[5])}, {reg(zero_value), reg(zero_value), reg(v[4])});
    e_.emit(Opcode::imad, "", {reg(v[5])}, {reg(v[5]), reg(v[0]), reg(zero_value)});
    e_.emit(Opcode::iabs, "", {reg(v[6])}, {reg(v[1])});
    e_.emit(Opcode::lop3, "", {reg(v[1])}, {reg(v[1]), reg(t_), reg(zero_value)});
    e_.emit(Opcode::imad, ".HI.U32", {reg(v[4])}, {reg(v[4]), reg(v[5]), reg(v[3])});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(2)}, {reg(v[1]), reg(zero_value)});
    e_.emit(Opcode::imad, ".HI.U32", {reg(v[7])}, {reg(v[4]), reg(v[6]), reg(zero_value)});
    e_.emit(Opcode::imad, ".MOV", {reg(v[2])}, {reg(zero_value), reg(zero_value), reg(v[7])});
    e_.emit(Opcode::imad, "", {reg(v[2])}, {reg(v[0]), reg(v[2]), reg(v[6])});
    e_.emit(Opcode::isetp, ".GT.U32.AND", {Operand{}, pred(1)}, {reg(v[0]), reg(v[2])});
    e_.emit(Opcode::iadd3, "", {reg(v[2])}, {reg(v[2]), reg(v[0]), reg(zero_value)}).guard = pred(1, true);
    e_.emit(Opcode::viadd, "", {reg(v[7])}, {reg(v[7]), imm(1)}).guard = pred(1, true);
    e_.emit(Opcode::isetp, ".GE.U32.AND", {Operand{}, pred(0)}, {reg(v[2]), reg(v[0])});
    e_.emit(Opcode::iadd3, "", {reg(v[7])}, {reg(v[7]), imm(1), reg(zero_value)}).guard = pred(0);
    e_.emit(Opcode::imad, ".MOV", {reg(v[7])}, {reg(zero_value), reg(zero_value), reg(v[7])}).guard = pred(2, true);
    e_.emit(Opcode::isetp, ".NE.AND", {Operand{}, pred(1)}, {reg(t_), reg(zero_value)});
    e_.emit(Opcode::lop3, "", {reg(v[7])}, {reg(zero_value), reg(t_), reg(zero_value)}).guard = pred(1, true);
    e_.emit(Opcode::mov, "", {reg(k_)}, {reg(v[7])});
    e_.emit(Opcode::mov, "", {reg(left_)}, {reg(v[7])});
  }

  void emit_addresses() {
    const Value square = e_.fresh();
    e_.emit(Opcode::s2ur, "", {ureg(6)}, {});
    e_.emit(Opcode::umov, "", {ureg(7)}, {imm(0x400)});
    e_.emit(Opcode::imad, "", {reg(a_store_)}, {reg(row_), reg(t_), reg(column_)});
    e_.emit(Opcode::lop3, "", {reg(remainder_)}, {reg(t_), imm(3), reg(zero_value)});
    e_.emit(Opcode::uldc, "", {ureg(8)}, {constant(0x22c)});
    e_.emit(Opcode::isetp, ".GE.U32.AND", {Operand{}, pred(2)}, {reg(t_), imm(3)});
    e_.emit(Opcode::imad, "", {reg(square)}, {reg(t_), reg(t_), reg(zero_value)});
    e_.emit(Opcode::iadd3, "", {reg(in_tile_)}, {reg(remainder_), reg(t_), reg(zero_value)});
    e_.emit(Opcode::ushf, ".R.S32.HI", {ureg(8)}, {imm(0x1f), ureg(8)});
    e_.emit(Opcode::shf, ".R.S32.HI", {reg(b_store_)}, {reg(zero_value), imm(0x1f), reg(n_)});
    e_.emit(Opcode::imad, ".IADD", {reg(b_address_)}, {reg(square), imm(1), reg(column_)});
    e_.emit(Opcode::mov, "", {reg(sum_)}, {reg(zero_value)});
    e_.emit(Opcode::ulea, "", {ureg(6)}, {ureg(6), ureg(7), imm(0x18)});
    e_.emit(Opcode::umov, "", {ureg(4)}, {imm(0)});
    e_.emit(Opcode::lea, "", {reg(a_store_)}, {reg(a_store_), ureg(6), imm(2)});
    e_.emit(Opcode::lea, "", {reg(b_address_)}, {reg(b_address_), ureg(6), imm(2)});
    e_.emit(Opcode::imad, "", {reg(b_store_)}, {reg(square), imm(4), reg(a_store_)});
    e_.emit(Opcode::umov, "", {ureg(5)}, {imm(0)});
  }

  // Guards, two 64-bit addresses, two loads, two stores, a barrier.
  void emit_tile_load() {
    const Value extent = e_.fresh(2), a_base = e_.fresh(2), b_base = e_.fresh(2);
    const Value a_index = e_.fresh(2), b_index = e_.fresh(2), a_address = e_.fresh(2), b_address = e_.fresh(2);
    const Value a_column = e_.fresh(), b_row = e_.fresh(), high = e_.fresh(), part = e_.fresh();
    const Value a_data = e_.fresh(), b_data = e_.fresh();
    e_.emit(Opcode::ldc, ".64", {reg(extent)}, {constant(0x230, 2)});
    e_.emit(Opcode::uldc, "", {ureg(5)}, {constant(0x228)});
    e_.emit(Opcode::uldc, "", {ureg(8)}, {constant(0x22c)});
    e_.emit(Opcode::imad, "", {reg(a_column)}, {reg(extent.part(1)), ureg(4), reg(column_)});
    e_.emit(Opcode::imad, "", {reg(b_row)}, {reg(extent.part(1)), ureg(4), reg(row_)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(1)}, {reg(a_column), reg(extent.part(0))});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(b_row), reg(extent.part(0))});
    e_.emit(Opcode::isetp, ".GE.OR", {Operand{}, pred(1)}, {reg(m_), ureg(5), pred(1)});
    e_.emit(Opcode::isetp, ".GE.OR", {Operand{}, pred(0)}, {reg(n_), ureg(8), pred(0)});
    e_.emit(Opcode::ldc, ".64", {reg(a_base)}, {constant(0x210, 2)}).guard = pred(1, true);
    e_.emit(Opcode::shf, ".R.S32.HI", {reg(part)}, {reg(zero_value), imm(0x1f), reg(a_column)});
    e_.emit(Opcode::shf, ".R.S32.HI", {reg(high)}, {reg(zero_value), imm(0x1f), reg(b_row)});
    e_.emit(Opcode::imad_wide, "", {reg(a_index)}, {reg(m_), reg(extent.part(0)), reg(part)});
    e_.emit(Opcode::ldc, ".64", {reg(b_base)}, {constant(0x218, 2)}).guard = pred(0, true);
    e_.emit(Opcode::imad, "", {reg(high)}, {reg(high), ureg(8), reg(zero_value)});
    e_.emit(Opcode::imad_wide, ".U32", {reg(b_index)}, {reg(b_row), ureg(8), reg(n_)});
    e_.emit(Opcode::imad, "", {reg(high)}, {reg(b_row), ureg(7), reg(high)});
    e_.emit(Opcode::iadd3, "", {reg(high)}, {reg(b_index.part(1)), reg(high), reg(zero_value)});
    emit_address(a_address, a_index, a_base, a_index.part(1), 3);
    e_.emit(Opcode::hfma2, ".MMA", {reg(b_data)}, {reg(zero_value), reg(zero_value), imm(0)});
    emit_address(b_address, b_index, b_base, high, 4);
    e_.emit(Opcode::imad, ".MOV.U32", {reg(a_data)}, {reg(zero_value), reg(zero_value), reg(zero_value)});
    e_.memory(Opcode::ldg, ".E.CONSTANT", reg(b_data), {reg(b_address)}, f32_bytes, load_b_).guard = pred(0, true);
    e_.memory(Opcode::ldg, ".E.CONSTANT", reg(a_data), {reg(a_address)}, f32_bytes, load_a_).guard = pred(1, true);
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(5)}, {reg(extent.part(1)), imm(1)});
    e_.emit(Opcode::uiadd3, "", {ureg(4)}, {ureg(4), imm(1)});
    e_.emit(Opcode::isetp, ".LE.AND", {Operand{}, pred(6)}, {reg(k_), ureg(4)});
    e_.memory(Opcode::sts, "", {}, {reg(a_store_), reg(a_data)}, f32_bytes, write_);
    e_.memory(Opcode::sts, "", {}, {reg(b_store_), reg(b_data)}, f32_bytes, write_);
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
    e_.emit(Opcode::bra, "", {}, {}).guard = pred(5, true);
  }

  void emit_address(Value to, Value index, Value base, Value high, int carry) {
    e_.emit(Opcode::lea, "", {reg(to.part(0)), pred(carry)}, {reg(index.part(0)), reg(base.part(0)), imm(2)});
    e_.emit(Opcode::lea, ".HI.X", {reg(to.part(1))}, {reg(index.part(0)), reg(base.part(1)), reg(high), pred(carry)});
  }

  // The unrolled inner loop: which parts run, and how often, follows from T.
  void emit_products() {
    e_.emit(Opcode::umov, "", {ureg(5)}, {imm(0)});
    branch(2, tile_ < 4);
    const int whole = tile_ / 4 * 4;
    const int sixteens = whole > 12 ? (whole - 13) / 16 + 1 : 0;
    const int after_sixteens = whole - 16 * sixteens;
    const int eights = after_sixteens > 4 ? 1 : 0;
    const int fours = (after_sixteens - 8 * eights) / 4;
    if (tile_ > 3) {
      emit_entry(sixteens == 0);
      if (sixteens > 0) e_.emit(Opcode::plop3, "", {Operand{}, pred(0)}, {imm(0x8)});
      repeat(sixteens, 16);
      emit_test(3, eights == 0);
      if (eights > 0) repeat(1, 8);
      emit_test(0, fours == 0);
      repeat(fours, 4);
    }
    emit_test(0, tile_ % 4 == 0);
    if (tile_ % 4 > 0) emit_remainder();
  }

  // Over code that this T does not run, if taken.
  void branch(int predicate, bool taken) {
    Instruction& ins = e_.emit(Opcode::bra, "", {}, {});
    ins.guard = pred(predicate, true);
    ins.taken = taken;
  }

  void emit_test(int predicate, bool skips) {
    e_.emit(Opcode::isetp, ".NE.AND", {Operand{}, pred(predicate)}, {reg(left_), reg(zero_value)});
    branch(predicate, skips);
  }

  void emit_entry(bool skips_sixteens) {
    e_.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(0)}, {reg(in_tile_), reg(zero_value)});
    e_.emit(Opcode::umov, "", {ureg(5)}, {imm(0)});
    e_.emit(Opcode::imad, ".MOV.U32", {reg(left_)}, {reg(zero_value), reg(zero_value), reg(in_tile_)});
    b_ = e_.fresh();
    e_.emit(Opcode::mov, "", {reg(b_)}, {reg(b_address_)});
    branch(0, false);
    e_.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(3)}, {reg(left_), imm(12)});
    e_.emit(Opcode::plop3, "", {Operand{}, pred(0)}, {imm(0x80)});
    branch(3, skips_sixteens);
  }

  void repeat(int iterations, int unroll) {
    if (iterations == 0) return;
    const int loop = iterations > 1 ? e_.begin_loop(false, iterations) : -1;
    emit_unrolled(unroll);
    if (loop >= 0)
      e_.end_loop(loop, pred(3));
    else if (unroll != 8)
      branch(3, false);
  }

  // Per four products: A's address (IMAD, LEA), four LDS of A, four of B with a running address.
  void emit_unrolled(int unroll) {
    for (int i = 0; i < unroll; ++i) {
      if (i % 4 == 0) emit_a_address(i, unroll);
      const Value a = e_.fresh(), b = e_.fresh();
      // The running address ends in the register that the loop began with.
      const Value next = i + 1 < unroll ? e_.fresh() : loop_b_;
      e_.memory(Opcode::lds, "", reg(b), {reg(b_)}, f32_bytes, read_b_);
      e_.memory(Opcode::lds, "", reg(a), {reg(a_)}, f32_bytes, read_a_).src[0].value = i % 4 * f32_bytes;
      if (i % 2 == 0)
        e_.emit(Opcode::imad, "", {reg(next)}, {reg(t_), imm(4), reg(b_)});
      else
        e_.emit(Opcode::lea, "", {reg(next)}, {reg(t_), reg(b_), imm(2)});
      e_.emit(Opcode::ffma, "", {reg(sum_)}, {reg(b), reg(a), reg(sum_)});
      b_ = next;
    }
  }

  void emit_a_address(int i, int unroll) {
    if (i == 0) {
      loop_b_ = b_;
      e_.emit(Opcode::iadd3, "", {reg(left_)}, {reg(left_), imm(-unroll), reg(zero_value)});
      if (unroll != 8)
        e_.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(3)}, {reg(left_), imm(12)});
      else
        e_.emit(Opcode::plop3, "", {Operand{}, pred(0)}, {imm(0x8)});
    }
    const Value index = e_.fresh();
    a_ = e_.fresh();
    e_.emit(Opcode::imad, "", {reg(index)}, {reg(row_), reg(t_), ureg(5)});
    e_.emit(Opcode::uiadd3, "", {ureg(5)}, {ureg(5), imm(4)});
    e_.emit(Opcode::lea, "", {reg(a_)}, {reg(index), ureg(6), imm(2)});
  }

  void emit_remainder() {
    const Value index = e_.fresh(), a = e_.fresh(), offset = e_.fresh();
    Value b = e_.fresh();
    e_.emit(Opcode::imad, "", {reg(index)}, {reg(row_), reg(t_), ureg(5)});
    e_.emit(Opcode::isetp, ".NE.AND", {Operand{}, pred(0)}, {reg(remainder_), imm(1)});
    e_.emit(Opcode::imad, "", {reg(offset)}, {reg(t_), ureg(5), reg(b_address_)});
    e_.emit(Opcode::lea, "", {reg(a)}, {reg(index), ureg(6), imm(2)});
    e_.emit(Opcode::lea, "", {reg(b)}, {reg(offset), ureg(6), imm(2)});
    emit_single(a, b, 0);
    branch(0, tile_ % 4 == 1);
    if (tile_ % 4 == 1) return;
    e_.emit(Opcode::isetp, ".NE.AND", {Operand{}, pred(0)}, {reg(remainder_), imm(2)});
    for (int i = 1; i < 3; ++i) {
      const Value next = e_.fresh();
      e_.emit(Opcode::lea, "", {reg(next)}, {reg(t_), reg(b), imm(2)});
      b = next;
      emit_single(a, b, i, i >= tile_ % 4);
    }
  }

  // `off`: guarded by a predicate that is false for this T.
  void emit_single(Value a_address, Value b_address, int i, bool off = false) {
    const Value a = e_.fresh(), b = e_.fresh();
    Instruction& from_a = e_.memory(Opcode::lds, "", reg(a), {reg(a_address)}, f32_bytes, off ? idle() : read_a_);
    from_a.src[0].value = i * f32_bytes;
    if (i == 2) from_a.guard = pred(0);
    Instruction& from_b = e_.memory(Opcode::lds, "", reg(b), {reg(b_address)}, f32_bytes, off ? idle() : read_b_);
    if (i == 2) from_b.guard = pred(0);
    Instruction& product = e_.emit(Opcode::ffma, "", {reg(sum_)}, {reg(b), reg(a), reg(sum_)});
    if (i == 2) product.guard = pred(0);
  }

  int idle() {
    AccessPattern p;
    p.active_mask = 0;
    return e_.add_pattern(p);
  }

  void emit_epilogue() {
    const Value index = e_.fresh(2), address = e_.fresh(2), high = e_.fresh();
    e_.emit(Opcode::uldc, ".64", {ureg(6, 2)}, {constant(0x228, 2)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(n_), ureg(7)});
    e_.emit(Opcode::isetp, ".GE.OR", {Operand{}, pred(0)}, {reg(m_), ureg(6), pred(0)});
    e_.emit(Opcode::bra, "", {}, {}).guard = pred(0);
    e_.emit(Opcode::shf, ".R.S32.HI", {reg(high)}, {reg(zero_value), imm(0x1f), reg(n_)});
    e_.emit(Opcode::uldc, ".64", {ureg(4, 2)}, {constant(0x220, 2)});
    e_.emit(Opcode::imad_wide, "", {reg(index)}, {reg(m_), ureg(7), reg(n_)});
    e_.emit(Opcode::lea, "", {reg(address.part(0)), pred(0)}, {reg(index.part(0)), ureg(4), imm(2)});
    e_.emit(Opcode::lea, ".HI.X", {reg(address.part(1))}, {reg(index.part(0)), ureg(5), reg(high), pred(0)});
    e_.memory(Opcode::stg, ".E", {}, {reg(address), reg(sum_)}, f32_bytes, result_);
    e_.emit(Opcode::exit, "", {}, {});
  }

  int tile_;
  const KernelConfig& config_;
  Emitter e_;
  Value row_, column_, t_, k_, b_address_, a_store_, b_store_, sum_, m_, n_, left_, remainder_, in_tile_;
  Value a_, b_, loop_b_;
  int load_a_ = -1, load_b_ = -1, write_ = -1, read_a_ = -1, read_b_ = -1, result_ = -1;
};

}  // namespace

Result<Program> build_naive(const BuildRequest& request) {
  const Tile& tile = request.config.tile;
  if (tile.m < 1 || tile.m > largest_tile || tile.n != tile.m || tile.k != tile.m) {
    return Diagnostic{"",
                      0,
                      0,
                      "tile",
                      "T x T x T with T from 1 to 32",
                      std::to_string(tile.m) + "x" + std::to_string(tile.n) + "x" + std::to_string(tile.k)};
  }
  if (request.config.static_tile) return build_naive_static(request);
  return Naive(tile.m, request.config).build(request);
}

}  // namespace noteg::kernels
