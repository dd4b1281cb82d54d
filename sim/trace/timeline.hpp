// A recording as text, a row for each warp and a column for each cycle or for a few of them, in the manner of viewers
// of CPU pipelines: what the warp issued, or what it waited for.
#pragma once

#include <cstddef>
#include <string>

#include "sim/trace/recording.hpp"

namespace noteg::trace {

struct TimelineOptions {
  std::size_t width = 100;      // columns of the terminal, at least 40
  std::size_t most_warps = 32;  // rows of a block; more warps are left out, and that is said
};

// Lines of at most `width` columns, plain ASCII: the whole window at a glance, its first cycles one by one, and what
// the letters mean.
[[nodiscard]] std::string timeline(const gpu::Recording& recording, int sub_cores, const TimelineOptions& options = {});

// The letter of a wait.
[[nodiscard]] char letter_of(sm::Stall stall);

}  // namespace noteg::trace
