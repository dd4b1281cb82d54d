// What limits a run, in one word and one sentence.
#pragma once

#include "arch/spec.hpp"
#include "sim/chip/report.hpp"

namespace noteg::chip {

struct Limits {  // microseconds each resource alone would need
  double fma = 0, issue = 0, lsu = 0, l2 = 0, dram = 0;
};

[[nodiscard]] Bottleneck find_bottleneck(const SimReport& report, const Limits& limits);

}  // namespace noteg::chip
