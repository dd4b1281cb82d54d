// Runs of a kernel that tell the rates at which trips of its main loop pass (rate_runs.cpp), and what flow_rates.cpp
// has to know of them.
#pragma once

#include <cstdint>

#include "sim/core/engine.hpp"

namespace noteg::chip {

// Trips of a CTA alone, which tells what lies around a main loop.
inline constexpr std::int64_t brief_run = 8;

// Where more rounds follow each other, how the last CTAs end counts little.
[[nodiscard]] inline bool ends_count(const core::SmWork& work) {
  constexpr std::int64_t rounds = 16;
  return work.ctas <= rounds * work.resident;
}

// The runs by their place in SmTimer::rate_runs; from `some` on fewer than all CTAs, in rising number, but for a last
// one where SmTimer::end_one_by_one.
enum RateRun : std::uint8_t { all_ctas, one_alone, all_end_to_end, some_ctas };

}  // namespace noteg::chip
