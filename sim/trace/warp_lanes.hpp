// What each warp of a watched SM did, one after the other: its issues, its waits, and the wait that had not ended when
// the recording did; and whose results an instruction needs. Timelines, traces and the source view are made of this.
// Left out: which of several producers was the last to be ready.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/trace/recording.hpp"

namespace noteg::trace {

struct WarpLane {
  std::vector<sm::IssueRecord> issues;  // of the whole recording, in order of time
  std::vector<sm::WaitRecord> waits;    // the last one lasts to the window's end if nothing ended it
};

// One for each warp that is resident, by its number.
[[nodiscard]] std::vector<WarpLane> warp_lanes(const gpu::Recording& recording);

// The instruction behind one that a warp issued: the next, or the head of a loop that goes on; -1 behind its last.
[[nodiscard]] int next_of(const kernels::Program& program, int pc);

// What a warp waits for that has issued nothing since `pc`, judged from the instruction behind it: the recording says
// why only when a wait ends.
[[nodiscard]] sm::Stall open_wait(const kernels::Program& program, int pc);

// The nearest earlier instructions, in the order in which a warp comes from them, that write its sources or release a
// dependence counter that it waits for; in order of their addresses.
[[nodiscard]] std::vector<int> producers(const kernels::Program& program, int pc);

}  // namespace noteg::trace
