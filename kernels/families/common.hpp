// Shared by all builders: the way from a written kernel to a finished Program, stand-ins for index arithmetic,
// and lane patterns that several families use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/families/build.hpp"
#include "kernels/ir/emitter.hpp"
#include "kernels/passes/passes.hpp"

namespace noteg::kernels {

// Runs the passes: schedule, registers, control bits. Of a draft none.
[[nodiscard]] Result<Program> finish(Emitter& emitter, const BuildRequest& request,
                                     HeldBack held_back = HeldBack::passes_in_turn);

inline constexpr int f32_bytes = 4;  // an element of the families that multiply with FFMA

// Rows of a global operand lie far apart and on line borders; any pitch of whole lines counts the same.
inline constexpr std::uint32_t nominal_pitch = 4096;

// Index arithmetic before and behind a main loop: which values it computes does not matter, its size and mix do
// (S2R, IMAD, SHF, LOP3, IADD3, ISETP in the shares of compiled kernels, chains about four deep).
void emit_index_arithmetic(Emitter& e, int instructions);

// What `emit` emits as the code of `warps` warps from first_warp on. registers: of each
// of their threads.
template <class Emit>
void add_role(Emitter& e, const std::string& name, int first_warp, int warps, int registers, Emit emit) {
  Role role;
  role.name = name;
  role.begin = e.position();
  emit();
  role.end = e.position();
  role.first_warp = first_warp;
  role.warps = warps;
  role.registers = registers;
  e.program().roles.push_back(role);
}

// Exchanges with a lane 1, 2, 4, 8 and 16 away, each added by `add`: then every lane has the sum of all 32.
template <class Add>
void emit_over_lanes(Emitter& e, Value sum, Value other, Add add) {
  for (int distance = 1; distance < 32; distance *= 2) {
    e.emit(Opcode::shfl, ".BFLY", {reg(other)}, {reg(sum), imm(distance), imm(0x1f)});
    add(sum, other);
  }
}

// Zeroes registers, two at a time as CS2R does.
void emit_zeroes(Emitter& e, const std::vector<Value>& values);

// Lanes side by side, `bytes` each, in rows of `row_bytes` (the row pitch counts only for global memory).
[[nodiscard]] AccessPattern contiguous(Space space, Matrix matrix, bool store, int bytes, int row_bytes);
// Words of a table or a counter, which L2 always has.
[[nodiscard]] AccessPattern words_in_l2();

[[nodiscard]] std::uint32_t lane_mask(int lanes);

// FFMA d += a * b over a thread tile. Fragment elements are single registers.
struct ThreadTile {
  std::vector<Value> a, b;  // thread_m and thread_n elements
  std::vector<Value> c;     // row-major thread_m x thread_n
};

// Rows of a thread tile in snake order: each FFMA shares an operand with the one before, and with accumulators of
// the bank opposite to B's every read finds a free port.
void emit_serpentine(Emitter& e, const ThreadTile& tile);

// Columns in runs of `run`, rows inside: what nvcc makes of plain nested loops; the change of row costs a conflict.
void emit_runs(Emitter& e, const ThreadTile& tile, int run);

// How well registers are placed: every accumulator in the bank that its FFMAs want, or as nvcc manages it for plain
// nested loops over single elements or over vectors.
enum class Allocation : std::uint8_t { ideal, plain_loops, vector_loops };

// Accumulators for emit_serpentine and emit_runs, with the bank opposite to the column's B element as far as the
// allocation manages.
[[nodiscard]] std::vector<Value> fresh_accumulators(Emitter& e, int rows, int columns, Allocation allocation);

// Values of one fragment as single registers.
[[nodiscard]] std::vector<Value> elements_of(const std::vector<Value>& vectors);

}  // namespace noteg::kernels
