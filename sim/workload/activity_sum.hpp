// The events of several kernels as those of one: what a power limiter sees that averages over many of them.
#pragma once

#include <vector>

#include "sim/power/clock.hpp"

namespace noteg::workload {

struct CountedActivity {
  double count = 1;
  power::ActivityAt activity_at;
};

// Counts add up; lanes, moved bits and padding are means over what they weigh.
[[nodiscard]] power::Activity sum_at(const std::vector<CountedActivity>& parts, Hertz clock);

}  // namespace noteg::workload
