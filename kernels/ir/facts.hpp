// Static facts of a piece of code, as one reads them off a disassembly.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

struct CodeFacts {
  int instructions = 0;
  int stall_sum = 0;  // least issue cycles of one warp through the piece
  int ffma = 0;
  int ffma_with_reuse = 0;  // at least one reuse flag
  int with_write_barrier = 0, with_read_barrier = 0, with_wait = 0;
  int critical_path = 0;               // cycles, longest of the straight pieces
  double shared_load_wavefronts = 0;   // mean over executed LDS
  double shared_store_wavefronts = 0;  // mean over STS
  std::map<std::string, int> by_mnemonic;
};

// Instructions [begin, end).
[[nodiscard]] CodeFacts facts_of(const Program& program, int begin, int end, const LatencyModel& model);

// The main loop's body with its branch.
[[nodiscard]] CodeFacts mainloop_facts(const Program& program, const LatencyModel& model);

// How often a trip of the main loop runs an instruction: the loops inside.
[[nodiscard]] double repeats_in_trip(const Program& program, std::int32_t at);

}  // namespace noteg::kernels
