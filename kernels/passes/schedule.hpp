// List scheduling: an order of each straight piece of code that hides latency. Arithmetic (FFMA) keeps the
// builder's order, which is chosen for operand reuse; all else moves into it as early as its release allows.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

// While no FFMA can follow before something else is placed, what is held back may pass: in its turn, as CUTLASS and
// cuBLAS loops read, or behind all that is free, as loops read whose loads run far ahead.
enum class HeldBack : std::uint8_t { passes_in_turn, passes_last };

// releases[i]: instruction i stays behind so many FFMAs of its piece (Emitter::release_after).
void schedule(Program& program, const std::vector<int>& releases, const LatencyModel& model,
              HeldBack held_back = HeldBack::passes_in_turn);

// Straight pieces [begin, end) of the program: cut behind branches and before loop heads.
struct Piece {
  int begin = 0, end = 0;
};
[[nodiscard]] std::vector<Piece> straight_pieces(const Program& program);

}  // namespace noteg::kernels
