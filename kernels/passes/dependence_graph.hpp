// Dependences between the instructions of a straight piece of code, with the latency each one asks for.
// Registers and predicates give read-after-write, write-after-read and write-after-write edges; memory and
// barriers give order edges. Loops are not entered: a piece ends at a branch.
#pragma once

#include <vector>

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

enum class DependenceKind : std::uint8_t { raw, war, waw, order };

struct Dependence {
  int from = 0, to = 0;  // instruction indices of the program
  int latency = 1;       // least issue distance in cycles; planning figure after variable-latency producers
  DependenceKind kind = DependenceKind::raw;
};

// For instructions [begin, end).
[[nodiscard]] std::vector<Dependence> dependences(const Program& program, int begin, int end,
                                                  const LatencyModel& model);

// Longest latency path from each instruction of [begin, end) to the end of the piece, in cycles.
[[nodiscard]] std::vector<int> path_to_end(int begin, int end, const std::vector<Dependence>& edges);

// Length in cycles of the longest dependence chain of [begin, end).
[[nodiscard]] int critical_path(const Program& program, int begin, int end, const LatencyModel& model);

}  // namespace noteg::kernels
