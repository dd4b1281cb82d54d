#include "kernels/families/common.hpp"

#include <algorithm>

#include "kernels/passes/passes.hpp"

namespace noteg::kernels {
namespace {

void emit_ffma(Emitter& e, Value a, Value b, Value c) { e.emit(Opcode::ffma, "", {reg(c)}, {reg(a), reg(b), reg(c)}); }

}  // namespace

Result<Program> finish(Emitter& emitter, const BuildRequest& request, HeldBack held_back) {
  Program& program = emitter.program();
  if (request.is_draft) return std::move(program);
  schedule(program, emitter.releases(), request.latency, held_back);
  if (auto assigned = assign_registers(program, emitter.groups()); !assigned) return assigned.errors();
  if (request.config.registers) program.registers = *request.config.registers;
  if (request.config.shared_bytes) program.shared_bytes = *request.config.shared_bytes;
  assign_control_bits(program, request.latency);
  return std::move(program);
}

void emit_index_arithmetic(Emitter& e, int instructions) {
  if (instructions <= 0) return;
  const Value tid = e.fresh();
  e.emit(Opcode::s2r, "", {reg(tid)}, {});
  Value left = tid;
  Value right = tid;
  for (int i = 1; i < instructions; ++i) {
    const Value next = e.fresh();
    switch (i % 8) {
      case 0: e.emit(Opcode::imad, "", {reg(next)}, {reg(left), constant(0x180), reg(right)}); break;
      case 1: e.emit(Opcode::shf, ".R.S32.HI", {reg(next)}, {reg(zero_value), imm(0x1f), reg(left)}); break;
      case 2: e.emit(Opcode::lop3, "", {reg(next)}, {reg(left), imm(0x1f), reg(zero_value)}); break;
      case 5: e.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(i / 8 % 4)}, {reg(left), constant(0x160)}); break;
      case 6: e.emit(Opcode::lea, ".HI", {reg(next)}, {reg(left), reg(right), reg(zero_value)}); break;
      default: e.emit(Opcode::iadd3, "", {reg(next)}, {reg(left), reg(right), reg(zero_value)}); break;
    }
    if (i % 8 == 5) continue;
    if (i % 4 == 0) left = tid;  // a new chain
    right = left;
    left = next;
  }
}

void emit_zeroes(Emitter& e, const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    Instruction& ins = e.emit(Opcode::cs2r, "", {reg(values[i])}, {});
    if (i + 1 < values.size()) ins.dst[1] = reg(values[i + 1]);
  }
}

std::uint32_t lane_mask(int lanes) { return lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1u; }

AccessPattern contiguous(Space space, Matrix matrix, bool store, int bytes, int row_bytes) {
  AccessPattern p;
  p.space = space;
  p.matrix = matrix;
  p.store = store;
  p.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  const int pitch = space == Space::global ? static_cast<int>(nominal_pitch) : row_bytes;
  for (int lane = 0; lane < 32; ++lane) {
    const int at = lane * bytes;
    p.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(at / row_bytes * pitch + at % row_bytes);
  }
  return p;
}

AccessPattern words_in_l2() {
  AccessPattern out = contiguous(Space::global, Matrix::none, false, 4, 128);
  out.in_l2 = true;
  return out;
}

std::vector<Value> elements_of(const std::vector<Value>& vectors) {
  std::vector<Value> elements;
  for (const Value& v : vectors) {
    for (int i = 0; i < v.count; ++i) elements.push_back(v.part(i));
  }
  return elements;
}

void emit_serpentine(Emitter& e, const ThreadTile& tile) {
  const std::size_t columns = tile.b.size();
  for (std::size_t i = 0; i < tile.a.size(); ++i) {
    for (std::size_t step = 0; step < columns; ++step) {
      const std::size_t j = i % 2 == 0 ? step : columns - 1 - step;
      emit_ffma(e, tile.a[i], tile.b[j], tile.c[i * columns + j]);
    }
  }
}

void emit_runs(Emitter& e, const ThreadTile& tile, int run) {
  const std::size_t columns = tile.b.size();
  for (std::size_t first = 0; first < columns; first += static_cast<std::size_t>(run)) {
    const std::size_t last = std::min(columns, first + static_cast<std::size_t>(run));
    for (std::size_t i = 0; i < tile.a.size(); ++i) {
      for (std::size_t j = first; j < last; ++j) emit_ffma(e, tile.a[i], tile.b[j], tile.c[i * columns + j]);
    }
  }
}

std::vector<Value> fresh_accumulators(Emitter& e, int rows, int columns, Allocation allocation) {
  // In the main loops of our seven measured blocked kernels as nvcc compiles them for sm_90, 1052 of 3584 FFMAs (29 %)
  // have the accumulator in the bank of the column's element; here two of seven. In 205 translations of CLBlast's
  // kernel for sm_86 with 32 to 128 accumulators it is 6 % on average; here one of fifteen.
  const auto shares_bank = [allocation](std::size_t at) {
    switch (allocation) {
      case Allocation::ideal: return false;
      case Allocation::plain_loops: return at % 7 < 2;
      case Allocation::vector_loops: return at % 15 == 0;
    }
    return false;
  };
  std::vector<Value> c;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const bool shares = shares_bank(c.size());
      c.push_back(e.fresh(1, (j % 2 == 0) != shares ? Bank::odd : Bank::even));
    }
  }
  return c;
}

}  // namespace noteg::kernels
