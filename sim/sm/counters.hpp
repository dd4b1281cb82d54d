// What an SM counts: sums over a run, of which ratios are made elsewhere; among them why warps did not issue: fractions
// of warp cycles, over resident warps, that sum to one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/ir/ir.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::sm {

enum class Stall : std::uint8_t {
  selected,          // issued
  not_selected,      // ready, another warp of the sub-core was chosen
  wait,              // stall count of the previous instruction still running
  short_scoreboard,  // dependence counter of a shared-memory, constant or MUFU access
  long_scoreboard,   // dependence counter of a global access
  barrier,           // BAR.SYNC
  math_pipe,         // execution pipe busy
  memory_queue,      // load/store queue of the sub-core full
  dispatch,          // register read ports busy
  no_instruction,    // instruction buffer empty, branch redirect
  constant_miss,     // constant operand not in its cache
  async_copy,        // DEPBAR on cp.async groups, or a barrier that a bulk copy completes
  by_design,         // a producer for a free stage, a warpgroup for its turn: nothing is lost
  drained,           // at EXIT until its accesses are over, then until its CTA has ended
  count_
};

inline constexpr std::size_t stall_count = static_cast<std::size_t>(Stall::count_);

[[nodiscard]] std::string_view name_of(Stall stall);         // snake_case key of the JSON output
[[nodiscard]] std::string_view description_of(Stall stall);  // one sentence

inline constexpr std::size_t opcode_count = static_cast<std::size_t>(kernels::Opcode::count_);

// Sums over the run. Warp cycles are counted while a warp is resident.
struct CoreCounters {
  std::array<double, opcode_count> issued{};
  std::array<double, stall_count> stall_cycles{};
  std::array<double, kernels::tensor_kind_count> tensor_macs{};  // multiply-accumulates by types
  double warp_instructions = 0;
  double issue_cycles = 0, fma_cycles = 0, alu_cycles = 0, tensor_cycles = 0, lsu_cycles = 0;
  double rf_reads = 0, rf_hits = 0, rf_conflict_cycles = 0;
  double shared_bytes = 0, shared_wavefronts = 0, shared_conflict_wavefronts = 0;
  double l1_bytes = 0;
  double read_sectors = 0, write_sectors = 0;  // asked of L2 when l1_hit_rate is 0
  double merged_sectors = 0;                   // of stores that went with earlier ones, beside write_sectors
  // Of CTAs: before any warpgroup's main loop, while one is in its main loop, and the rest.
  double prologue_cycles = 0, mainloop_cycles = 0, epilogue_cycles = 0;
  double lead_epilogue_cycles = 0;  // the rest where only the leading warp's main loop counts

  CoreCounters& operator+=(const CoreCounters& o);
  [[nodiscard]] CoreCounters operator*(double factor) const;
  // Of the sectors that are stored, those that no earlier store takes along.
  [[nodiscard]] double stored_apart() const {
    return merged_sectors > 0 ? write_sectors / (write_sectors + merged_sectors) : 1;
  }
  [[nodiscard]] std::array<double, stall_count> stall_shares() const;  // sum 1, or all 0 where nothing ran
};

// Counters that nearly every instruction adds to, integers of them.
struct Tally {
  std::uint64_t warp_instructions = 0, fma_cycles = 0, alu_cycles = 0;
  std::uint64_t rf_reads = 0, rf_hits = 0, rf_conflict_cycles = 0;

  void move_to(CoreCounters& count) {
    count.warp_instructions += static_cast<double>(warp_instructions);
    count.fma_cycles += static_cast<double>(fma_cycles);
    count.alu_cycles += static_cast<double>(alu_cycles);
    count.rf_reads += static_cast<double>(rf_reads);
    count.rf_hits += static_cast<double>(rf_hits);
    count.rf_conflict_cycles += static_cast<double>(rf_conflict_cycles);
    *this = {};
  }
};

// Cycles never fill the last bit, and signed numbers are converted in one instruction of the host.
inline double as_double(std::uint64_t cycles) { return static_cast<double>(static_cast<std::int64_t>(cycles)); }

}  // namespace noteg::sm
