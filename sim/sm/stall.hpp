// Why a warp did not issue in a cycle. Fractions of warp cycles, over resident warps, sum to one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace noteg::sm
