// Time of an SM whose tiles come partly from DRAM. CTAs that share a tile walk K in step, held together by the first
// of them that waits for DRAM: measured, a step of a group of 132 CTAs that share its tiles takes as long as a step of
// one CTA alone. So a step waits for DRAM in full or not at all, and the times of both are mixed, not the latencies.
#pragma once

#include "sim/gpu/environment.hpp"
#include "sim/gpu/sm_timer.hpp"

namespace noteg::gpu {

// What a search for the clock has found out.
struct Searched {
  EnvironmentClocks clocks;  // of its last look
  double sm_cycles = 0;      // 0: nothing was searched
};

struct DramLoad {
  double waiting_steps = 0;  // 0..1, of the k tiles of all CTAs: those that wait for DRAM
  double cycles = 0;         // that DRAM needs for the whole traffic at its best
  Searched search;
};

// The busiest SM's time; counters are of both kinds of step. Never less than what DRAM needs.
[[nodiscard]] SmTime time_with_dram(SmTimer& timer, EnvironmentRequest request, const sm::SmWork& work, Grade grade,
                                    const DramLoad& load, unsigned jobs);

}  // namespace noteg::gpu
