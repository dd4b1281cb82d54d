// A recording in the Trace Event Format, which Perfetto and chrome://tracing open: a process for the SM and one for
// each sub-core, in these a track per CTA slot, per warp and per unit, and counters. One microsecond of the viewer is
// one cycle of the SM clock, so that cycles can be read off; otherData says how long one really is.
#pragma once

#include <string>

#include "arch/spec.hpp"
#include "sim/trace/recording.hpp"

namespace noteg::trace {

// The JSON text, events in order of time.
[[nodiscard]] std::string chrome_trace(const gpu::Recording& recording, const gpu::SimReport& report,
                                       const arch::GpuSpec& gpu);

}  // namespace noteg::trace
