// A recording as text, in the manner of viewers of CPU pipelines: a row for each warp, or for each instruction of one
// warp, and a column for each cycle or for a few of them. Left out: other SMs, and what a unit does between its begin
// and the result.
#pragma once

#include <cstddef>
#include <string>

#include "sim/trace/recording.hpp"

namespace noteg::trace {

struct TimelineOptions {
  std::size_t width = 100;             // columns of the terminal, at least 40
  std::size_t most_warps = 32;         // rows of a block; more warps are left out, and that is said
  std::size_t most_instructions = 48;  // of the warp whose instructions are shown
  bool in_colour = false;              // issues, waits for memory and other waits in colours of the terminal (ECMA-48)
};

// Lines of at most `width` columns, plain ASCII: the whole window at a glance, its first cycles one by one, and what
// the letters mean.
[[nodiscard]] std::string timeline(const gpu::Recording& recording, int sub_cores, const TimelineOptions& options = {});

// The leading warp's instructions in the order of their issue, a row each, a column a cycle:
//   waits before it (letters as above), its issue (the unit's letter), = while it keeps a unit, - until its result, R
[[nodiscard]] std::string instruction_timeline(const gpu::Recording& recording, const TimelineOptions& options = {});

// The letter of a wait.
[[nodiscard]] char letter_of(sm::Stall stall);

}  // namespace noteg::trace
