// What limits a run, in one word and one sentence: a quick estimate from how busy everything was. `explain` measures
// the same gains by experiment; a test holds the two together.
#pragma once

#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "sim/chip/report.hpp"

namespace noteg::chip {

struct Limits {  // microseconds each resource alone would need
  double fma = 0, tensor = 0, issue = 0, lsu = 0, l2 = 0, dram = 0;
  double ports = 0;  // of which dispatch waits for register read ports
};

struct EstimatedGain {
  std::string limit;    // as in chip::explain
  std::string because;  // one sentence
  double gain_us = 0;
};

// A limit that gains less than this share of the run is not worth a name of its own.
inline constexpr double least_named_gain = 0.05;

// Largest gain first.
[[nodiscard]] std::vector<EstimatedGain> estimated_gains(const SimReport& report, const Limits& limits);

[[nodiscard]] Bottleneck find_bottleneck(const SimReport& report, const Limits& limits);

}  // namespace noteg::chip
