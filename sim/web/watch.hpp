// A watched stretch of a run as JSON: the listing with what each instruction cost there, and for each warp its issues
// and waits. Behind the timeline of warps and the source view of the live page.
#pragma once

#include <string>

#include "arch/spec.hpp"
#include "sim/trace/recording.hpp"

namespace noteg::web {

// begin, end, iterations; code: text, issues, waits by reason (warp cycles, of the wait before the issue), producers
// (pcs whose result or dependence counter the instruction needs); warps: [warp, sub-core, issues [cycle, pc, ...],
// waits [from, until, reason, ...]], flat lists. A wait that has not ended lasts to the window's end.
[[nodiscard]] std::string watched(const gpu::Recording& recording, const arch::GpuSpec& gpu);

}  // namespace noteg::web
