#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/common.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::kernels {
namespace {

// As nvcc 13 compiles vLLM's reshape_and_cache_flash for sm_90: registers, and instructions of each part.
constexpr int registers_of_kernel = 58;
constexpr int first_instructions = 6;      // CTA index and the place of its word in the table
constexpr int uniform_instructions = 50;   // strides times token, page and place in it, 64 bits wide
constexpr int quotient_instructions = 14;  // behind the reciprocal: product, remainder, two corrections
constexpr int checks_of_word = 3;          // padding, the width of its division, the layout of the heads
constexpr int checks_of_stream = 2;        // alignment, then the thread's index against the vectors
constexpr int uniform_of_check = 3;
constexpr int address_instructions = 15;  // of a stream, by the index of the thread
constexpr int steps_of_vector = 9;        // pointers and the counter, between a vector's load and its store

class RowCopyBuilder {
 public:
  RowCopyBuilder(Emitter& e, const RowCopyWork& work) : e_(e), work_(work) {}

  void run() {
    const std::int64_t warps = ceil_div(work_.threads, 32), vectors = work_.vectors;
    const std::int64_t rounds = vectors / work_.threads, longer = ceil_div(vectors % work_.threads, std::int64_t{32});
    role("longer", 0, static_cast<int>(longer), static_cast<int>(rounds) + 1);
    role("shorter", static_cast<int>(longer), static_cast<int>(warps - longer), static_cast<int>(rounds));
  }

 private:
  void role(const char* name, int first, int warps, int vectors) {
    if (warps > 0) add_role(e_, name, first, warps, registers_of_kernel, [&] { warp(vectors); });
  }

  void warp(int vectors) {
    emit_index_arithmetic(e_, first_instructions);
    const Value word = e_.fresh(2), pointer = e_.fresh(2);
    const int table = e_.add_pattern(one_word());
    e_.memory(Opcode::ldg, ".E.64", reg(word), {reg(pointer)}, 8, table);
    for (int i = 0; i < 2; ++i) e_.emit(Opcode::r2ur, "", {ureg(8 + i)}, {reg(word.part(i))});
    for (int i = 0; i < checks_of_word; ++i) check(word);
    quotient(word.part(0), true);
    for (int i = 0; i < uniform_instructions; ++i)
      e_.emit(Opcode::uimad, "", {ureg(12 + i % 8)}, {ureg(8 + i % 8), ureg(9), ureg(8)});
    e_.emit(Opcode::imad, ".MOV.U32", {reg(pointer.part(0))}, {reg(zero_value), reg(zero_value), ureg(12)});
    for (int i = 0; i < work_.streams; ++i) stream(pointer, vectors);
    e_.emit(Opcode::exit, "", {}, {});
  }

  // A division by a number that the compiler does not know, by its reciprocal.
  void quotient(Value number, bool uniform) {
    const Value part = e_.fresh();
    e_.emit(Opcode::i2f, ".U32.RP", {reg(part)}, {reg(number)});
    e_.emit(Opcode::mufu, ".RCP", {reg(part)}, {reg(part)});
    e_.emit(Opcode::iadd3, "", {reg(part)}, {reg(part), imm(-2), reg(zero_value)});
    e_.emit(Opcode::f2i, ".FTZ.U32.TRUNC", {reg(part)}, {reg(part)});
    if (uniform) e_.emit(Opcode::r2ur, "", {ureg(8)}, {reg(part)});
    for (int i = 0; i < quotient_instructions; ++i) {
      if (uniform)
        e_.emit(Opcode::uimad, "", {ureg(8)}, {ureg(8), ureg(9), ureg(8)});
      else
        e_.emit(Opcode::imad, "", {reg(part)}, {reg(part), reg(number), reg(part)});
    }
  }

  // Uniform words, and a branch by what comes out of them.
  void check(Value pointer) {
    for (int i = 0; i < uniform_of_check; ++i) e_.emit(Opcode::ulop3, "", {ureg(20)}, {ureg(20), ureg(12), ureg(20)});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(pointer.part(0)), ureg(20)});
    e_.emit(Opcode::bra, "", {}, {}).guard = pred(0);
  }

  void stream(Value pointer, int vectors) {
    for (int i = 0; i < checks_of_stream; ++i) check(pointer);
    if (vectors == 0) return;
    quotient(pointer.part(0), false);
    const Value from = e_.fresh(2), to = e_.fresh(2), data = e_.fresh(4);
    for (int i = 0; i < address_instructions; ++i) {
      const Value half = (i % 2 == 0 ? from : to).part(i / 2 % 2);
      e_.emit(Opcode::imad, "", {reg(half)}, {reg(pointer.part(0)), constant(0x180), reg(pointer.part(1))});
    }
    const int loads = e_.add_pattern(row(false)), stores = e_.add_pattern(row(true));
    for (int i = 0; i < vectors; ++i) {
      e_.memory(Opcode::ldg, ".E.128.CONSTANT", reg(data), {reg(from)}, row_vector_bytes, loads);
      for (int step = 0; step < steps_of_vector; ++step) {
        const Value half = from.part(step % 2);
        e_.emit(Opcode::imad, "", {reg(half)}, {reg(half), imm(16), reg(half)});
      }
      e_.memory(Opcode::stg, ".E.128", {}, {reg(to), reg(data)}, row_vector_bytes, stores);
    }
  }

  AccessPattern row(bool store) const {
    AccessPattern out = contiguous(Space::global, Matrix::none, store, row_vector_bytes, 1 << 16);
    out.active_mask = lane_mask(static_cast<int>(std::min<std::int64_t>(32, work_.vectors)));
    return out;
  }

  // All lanes read the CTA's word.
  static AccessPattern one_word() {
    AccessPattern out = contiguous(Space::global, Matrix::none, false, 8, 1 << 16);
    out.offset.fill(0);
    return out;
  }

  Emitter& e_;
  const RowCopyWork& work_;
};

}  // namespace

Result<Program> build_row_copy(const RowCopyWork& work, const LatencyModel& latency) {
  Emitter e;
  RowCopyBuilder(e, work).run();
  Program& program = e.program();
  program.name = "row copy";
  program.warps = static_cast<int>(ceil_div(work.threads, 32));
  program.threads = work.threads;
  program.mainloop_begin = program.epilogue_begin = program.roles.front().end - 1;
  BuildRequest request;
  request.latency = latency;
  request.config.registers = registers_of_kernel;
  return finish(e, request);
}

}  // namespace noteg::kernels
