// A Program as text, in the form of disassembly listings with decoded control bits, with the directives that
// kernels/assembly/assembly.hpp explains: parse_assembly() reads it back to the same program.
//   [B0-----:R-:W1:-:S04] LDS.128 R4, [R8+0x10] ; /*0120*/
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

// One instruction without address: control bits, guard, mnemonic, operands. `at` is its index, for branch targets.
[[nodiscard]] std::string to_text(const Program& program, int at);

// The whole program, an instruction a line.
[[nodiscard]] std::string to_text(const Program& program);

inline constexpr int instruction_bytes = 16;

// The innermost loop around an instruction; null: none.
[[nodiscard]] const Loop* innermost_loop(const Program& program, int at);

// Static facts of a block of code, as one reads them off a disassembly.

struct CodeFacts {
  int instructions = 0;
  int stall_sum = 0;  // least issue cycles of one warp through the block
  int ffma = 0;
  int ffma_with_reuse = 0;  // at least one reuse flag
  int with_write_barrier = 0, with_read_barrier = 0, with_wait = 0;
  int critical_path = 0;               // cycles, longest of the basic blocks
  double shared_load_wavefronts = 0;   // mean over executed LDS
  double shared_store_wavefronts = 0;  // mean over STS
  std::map<std::string, int> by_mnemonic;

  // Instructions of a mnemonic.
  [[nodiscard]] int count(const std::string& mnemonic) const {
    const auto found = by_mnemonic.find(mnemonic);
    return found == by_mnemonic.end() ? 0 : found->second;
  }
};

// Instructions [begin, end).
[[nodiscard]] CodeFacts facts_of(const Program& program, int begin, int end, const LatencyModel& model);

// The main loop's body with its branch.
[[nodiscard]] CodeFacts mainloop_facts(const Program& program, const LatencyModel& model);

// How often an iteration of the main loop runs an instruction: the loops inside.
[[nodiscard]] double repeats_in_iteration(const Program& program, std::int32_t at);

}  // namespace noteg::kernels
