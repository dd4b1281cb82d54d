// Views of a watched run: a picture of intervals, one lane for each warp, and events for trace viewers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "sim/trace/recording.hpp"

namespace noteg::trace {

struct TimelineOptions {
  std::size_t width = 100;             // columns of the terminal, at least 40
  std::size_t most_warps = 32;         // rows of a block; more warps are left out, and that is said
  std::size_t most_instructions = 48;  // of the warp whose instructions are shown
  bool in_colour = false;              // issues, waits for memory and other waits in colours of the terminal (ECMA-48)
};

// Lines of at most `width` columns, plain ASCII: the whole window in one row, its first cycles one by one, and what
// the letters mean.
[[nodiscard]] std::string timeline(const gpu::Recording& recording, int sub_cores, const TimelineOptions& options = {});

// The leading warp's instructions in the order of their issue, a row each, a column a cycle:
//   waits before it (letters as above), its issue (the unit's letter), = while it keeps a unit, - until its result, R
[[nodiscard]] std::string instruction_timeline(const gpu::Recording& recording, const TimelineOptions& options = {});

// The letter of a wait.
[[nodiscard]] char letter_of(sm::Stall stall);

// What each warp of a watched SM did, one after the other: its issues, its waits, and the wait that had not ended when
// the recording did; and whose results an instruction needs. Timelines, traces and the source view are made of this.
// Left out: which of several producers was the last to be ready.

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

// A recording in the Trace Event Format, which Perfetto and chrome://tracing open: a process for the SM and one for
// each sub-core, in these a track per CTA slot, per warp and per unit, and counters. One microsecond of the viewer is
// one cycle of the SM clock, so that cycles can be read off; otherData says how long one really is.

// The JSON text, events in order of time.
[[nodiscard]] std::string chrome_trace(const gpu::Recording& recording, const gpu::SimReport& report,
                                       const arch::GpuSpec& gpu);

}  // namespace noteg::trace
