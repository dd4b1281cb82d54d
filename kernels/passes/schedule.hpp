// List scheduling: an order of each straight piece of code that hides latency. Arithmetic (FFMA) keeps the
// builder's order, which is chosen for operand reuse; all else moves into it as early as its release allows.
#pragma once

#include <vector>

#include "kernels/ir.hpp"
#include "kernels/latency_model.hpp"

namespace noteg::kernels {

// releases[i]: instruction i stays behind so many FFMAs of its piece (Emitter::release_after).
void schedule(Program& program, const std::vector<int>& releases, const LatencyModel& model);

// Straight pieces [begin, end) of the program: cut behind branches and before loop heads.
struct Piece {
  int begin = 0, end = 0;
};
[[nodiscard]] std::vector<Piece> straight_pieces(const Program& program);

}  // namespace noteg::kernels
