// One thread per element of C, a T x T tile of A and of B in shared memory, T known to the compiler: the inner loop is
// unrolled whole, its shared-memory addresses are constants, and a row of A is read in the widest loads that T allows.
// The instructions follow our own kernel compiled for sm_90, with its guards at the edges of the matrices.
#include <array>

#include "kernels/families/build.hpp"
#include "kernels/families/common.hpp"
#include "kernels/families/naive/naive_parts.hpp"

namespace noteg::kernels {
namespace {

// Products that loads run ahead of: what those registers hold beside addresses and the sum.
constexpr int ahead = 9;

class NaiveStatic {
 public:
  NaiveStatic(int tile, const KernelConfig& config) : tile_(tile), config_(config) {
    for (Value* v : {&row_, &column_, &m_, &k_, &a_store_, &b_store_, &a_read_, &b_read_, &sum_}) *v = e_.fresh();
    n_ = e_.fresh(2);
    a_index_ = e_.fresh(2);
    load_a_ = e_.add_pattern(lanes(Space::global, Matrix::a, false, f32_bytes, 1, 1));
    load_b_ = e_.add_pattern(lanes(Space::global, Matrix::b, false, f32_bytes, 1, 1));
    write_ = e_.add_pattern(lanes(Space::shared, Matrix::none, true, f32_bytes, 1, 1));
    read_a_ = e_.add_pattern(lanes(Space::shared, Matrix::a, false, vector() * f32_bytes, 1, 0));
    read_b_ = e_.add_pattern(lanes(Space::shared, Matrix::b, false, f32_bytes, 0, 1));
    result_ = e_.add_pattern(lanes(Space::global, Matrix::c, true, f32_bytes, 1, 1));
  }

  Result<Program> build(const BuildRequest& request) {
    emit_prologue();
    e_.program().mainloop_begin = e_.position();
    const int loop = e_.begin_loop(true, 1);
    emit_tile_load();
    emit_products();
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
    e_.end_loop(loop, pred(0, true));
    e_.program().epilogue_begin = e_.position();
    emit_epilogue();
    describe_naive(e_.program(), tile_, config_);
    return finish_naive(e_, request);
  }

 private:
  // Elements of A that one load takes: rows of T elements lie one behind the other.
  [[nodiscard]] int vector() const { return tile_ % 4 == 0 ? 4 : tile_ % 2 == 0 ? 2 : 1; }

  AccessPattern lanes(Space space, Matrix matrix, bool store, int bytes, int row_step, int column_step) const {
    return naive_lanes(tile_, space, matrix, store, bytes, row_step, column_step);
  }

  void emit_prologue() {
    const Value extent = e_.fresh(), cta_x = e_.fresh(), cta_y = e_.fresh(), high = e_.fresh();
    e_.emit(Opcode::ldc, "", {reg(extent)}, {constant(0x230)});
    e_.emit(Opcode::s2r, "", {reg(cta_y)}, {});
    e_.emit(Opcode::uldc, ".64", {ureg(8, 2)}, {constant(0x208, 2)});
    e_.emit(Opcode::s2r, "", {reg(row_)}, {});
    e_.emit(Opcode::s2r, "", {reg(column_)}, {});
    e_.emit(Opcode::s2r, "", {reg(cta_x)}, {});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(extent), imm(1)});
    e_.emit(Opcode::lea, "", {reg(m_)}, {reg(cta_y), reg(row_), imm(5)});
    e_.emit(Opcode::lea, "", {reg(n_.part(0))}, {reg(cta_x), reg(column_), imm(5)});
    e_.emit(Opcode::bra, "", {}, {}).guard = pred(0, true);
    e_.emit(Opcode::s2ur, "", {ureg(6)}, {});
    e_.emit(Opcode::umov, "", {ureg(4)}, {imm(0x400)});
    e_.emit(Opcode::shf, ".R.S32.HI", {reg(high)}, {reg(zero_value), imm(0x1f), reg(column_)});
    e_.emit(Opcode::uiadd3, "", {ureg(5)}, {ureg(4), imm(tile_ * tile_ * f32_bytes)});
    e_.emit(Opcode::shf, ".R.S32.HI", {reg(n_.part(1))}, {reg(zero_value), imm(0x1f), reg(n_.part(0))});
    e_.emit(Opcode::mov, "", {reg(k_)}, {reg(zero_value)});
    e_.emit(Opcode::imad_wide, "", {reg(a_index_)}, {reg(m_), reg(extent), reg(high)});
    e_.emit(Opcode::mov, "", {reg(sum_)}, {reg(zero_value)});
    e_.emit(Opcode::ulea, "", {ureg(4)}, {ureg(6), ureg(4), imm(0x18)});
    e_.emit(Opcode::ulea, "", {ureg(5)}, {ureg(6), ureg(5), imm(0x18)});
    e_.emit(Opcode::uldc, "", {ureg(6)}, {constant(0x230)});
    e_.emit(Opcode::lea, "", {reg(a_read_)}, {reg(row_), ureg(4), imm(7)});
    e_.emit(Opcode::uldc, "", {ureg(7)}, {constant(0x228)});
    const Value b_row = e_.fresh();
    e_.emit(Opcode::lea, "", {reg(b_row)}, {reg(row_), ureg(5), imm(7)});
    e_.emit(Opcode::lea, "", {reg(a_store_)}, {reg(column_), reg(a_read_), imm(2)});
    e_.emit(Opcode::lea, "", {reg(b_store_)}, {reg(column_), reg(b_row), imm(2)});
    e_.emit(Opcode::lea, "", {reg(b_read_)}, {reg(column_), ureg(5), imm(2)});
    e_.emit(Opcode::uldc, "", {ureg(10)}, {constant(0x22c)});
  }

  // Guards of the edges, two addresses, two loads, two stores, a barrier.
  void emit_tile_load() {
    const Value a_column = e_.fresh(), b_row = e_.fresh(), a_data = e_.fresh(), b_data = e_.fresh();
    const Value a_base = e_.fresh(2), b_base = e_.fresh(2), b_index = e_.fresh(2), low = e_.fresh(), high = e_.fresh();
    const Value a_address = e_.fresh(2), b_address = e_.fresh(2);
    e_.release_after(0);
    e_.emit(Opcode::iadd3, "", {reg(a_column)}, {reg(column_), reg(k_), reg(zero_value)});
    e_.emit(Opcode::hfma2, ".MMA", {reg(b_data)}, {reg(zero_value), reg(zero_value), imm(0)});
    e_.emit(Opcode::iadd3, "", {reg(b_row)}, {reg(row_), reg(k_), reg(zero_value)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(1)}, {reg(a_column), ureg(6)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(2)}, {reg(b_row), ureg(6)});
    e_.emit(Opcode::isetp, ".GE.OR", {Operand{}, pred(1)}, {reg(m_), ureg(7), pred(1)});
    e_.emit(Opcode::isetp, ".GE.OR", {Operand{}, pred(2)}, {reg(n_.part(0)), ureg(10), pred(2)});
    e_.emit(Opcode::mov, "", {reg(a_data)}, {reg(zero_value)});
    e_.emit(Opcode::ldc, ".64", {reg(a_base)}, {constant(0x210, 2)}).guard = pred(1, true);
    e_.emit(Opcode::iadd3, "", {reg(low), pred(3)}, {reg(a_index_.part(0)), reg(k_), reg(zero_value)}).guard =
        pred(1, true);
    e_.emit(Opcode::imad_wide, "", {reg(b_index)}, {reg(b_row), ureg(10), reg(n_)}).guard = pred(2, true);
    e_.emit(Opcode::lea, ".HI.X.SX32", {reg(high)}, {reg(k_), reg(a_index_.part(1)), imm(1), pred(3)}).guard =
        pred(1, true);
    e_.emit(Opcode::ldc, ".64", {reg(b_base)}, {constant(0x218, 2)}).guard = pred(2, true);
    emit_address(a_address, low, high, a_base, 1, 3);
    emit_address(b_address, b_index.part(0), b_index.part(1), b_base, 2, 4);
    e_.memory(Opcode::ldg, ".E.CONSTANT", reg(a_data), {reg(a_address)}, f32_bytes, load_a_).guard = pred(1, true);
    e_.memory(Opcode::ldg, ".E.CONSTANT", reg(b_data), {reg(b_address)}, f32_bytes, load_b_).guard = pred(2, true);
    e_.memory(Opcode::sts, "", {}, {reg(a_store_), reg(a_data)}, f32_bytes, write_);
    e_.memory(Opcode::sts, "", {}, {reg(b_store_), reg(b_data)}, f32_bytes, write_);
    e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  }

  void emit_address(Value to, Value low, Value high, Value base, int guard, int carry) {
    e_.emit(Opcode::lea, "", {reg(to.part(0)), pred(carry)}, {reg(low), reg(base.part(0)), imm(2)}).guard =
        pred(guard, true);
    e_.emit(Opcode::lea, ".HI.X", {reg(to.part(1))}, {reg(low), reg(base.part(1)), reg(high), pred(carry)}).guard =
        pred(guard, true);
  }

  // A chain of T products; the loads run ahead of it.
  void emit_products() {
    Value a{};
    for (int i = 0; i < tile_; ++i) {
      e_.release_after(std::max(0, i - ahead));
      const Value b = e_.fresh();
      e_.memory(Opcode::lds, "", reg(b), {reg(b_read_)}, f32_bytes, read_b_).src[0].value = i * tile_ * f32_bytes;
      if (i % vector() == 0) {
        a = e_.fresh(vector());
        constexpr std::array<std::string_view, 5> width{"", "", ".64", "", ".128"};
        e_.memory(Opcode::lds, width[static_cast<std::size_t>(vector())], reg(a), {reg(a_read_)}, vector() * f32_bytes,
                  read_a_)
            .src[0]
            .value = i * f32_bytes;
      }
      e_.emit(Opcode::ffma, "", {reg(sum_)}, {reg(b), reg(a.part(i % vector())), reg(sum_)});
    }
    e_.release_after(tile_ / 2);
    e_.emit(Opcode::iadd3, "", {reg(k_)}, {reg(k_), imm(tile_), reg(zero_value)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(k_), ureg(6)});
    e_.release_after(0);
  }

  void emit_epilogue() {
    const Value index = e_.fresh(2), address = e_.fresh(2);
    e_.emit(Opcode::uldc, ".64", {ureg(10, 2)}, {constant(0x228, 2)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(n_.part(0)), ureg(11)});
    e_.emit(Opcode::isetp, ".GE.OR", {Operand{}, pred(0)}, {reg(m_), ureg(10), pred(0)});
    e_.emit(Opcode::bra, "", {}, {}).guard = pred(0);
    e_.emit(Opcode::shf, ".R.S32.HI", {reg(n_.part(1))}, {reg(zero_value), imm(0x1f), reg(n_.part(0))});
    e_.emit(Opcode::uldc, ".64", {ureg(4, 2)}, {constant(0x220, 2)});
    e_.emit(Opcode::imad_wide, "", {reg(index)}, {reg(m_), ureg(11), reg(n_)});
    e_.emit(Opcode::lea, "", {reg(address.part(0)), pred(0)}, {reg(index.part(0)), ureg(4), imm(2)});
    e_.emit(Opcode::lea, ".HI.X", {reg(address.part(1))}, {reg(index.part(0)), ureg(5), reg(index.part(1)), pred(0)});
    e_.memory(Opcode::stg, ".E", {}, {reg(address), reg(sum_)}, f32_bytes, result_);
    e_.emit(Opcode::exit, "", {}, {});
  }

  int tile_;
  const KernelConfig& config_;
  Emitter e_;
  Value row_, column_, m_, n_, k_, a_index_, a_store_, b_store_, a_read_, b_read_, sum_;
  int load_a_ = -1, load_b_ = -1, write_ = -1, read_a_ = -1, read_b_ = -1, result_ = -1;
};

}  // namespace

Result<Program> build_naive_static(const BuildRequest& request) {
  return NaiveStatic(request.config.tile.m, request.config).build(request);
}

}  // namespace noteg::kernels
