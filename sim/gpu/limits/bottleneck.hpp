// What limits a run, from how busy everything was. An estimate names one limit at no cost, for the thousands of runs of
// generate, validate and tune; `explain` asks experiments, and needs from here how much each may gain at most.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/gpu/report.hpp"
#include "sim/power/clock.hpp"
#include "sim/support/units.hpp"

namespace noteg::gpu {

struct Limits {  // microseconds each resource alone would need
  double fma = 0, tensor = 0, issue = 0, lsu = 0, l2 = 0, dram = 0;
  double ports = 0;  // of which dispatch waits for register read ports
};

struct EstimatedGain {
  std::string limit;  // as in gpu::explain
  double gain_us = 0;
};

// Largest gain first. Power counts with what the clock has lost; of the other gains, what power would take back of them
// is left out.
[[nodiscard]] std::vector<EstimatedGain> estimated_gains(const SimReport& report, const Limits& limits,
                                                         Hertz highest_clock);

// Of the gain that it names, power has taken back its part. request: for the clock that the run was solved for.
[[nodiscard]] Bottleneck estimated_bottleneck(const SimReport& report, const Limits& limits,
                                              const power::ClockRequest& request, Hertz highest_clock);

// The roof that the run is nearest to, how near, and what holds the clock: what a Bottleneck says without experiments.
[[nodiscard]] Bottleneck roof_of(const SimReport& report, Hertz highest_clock);

// The limit whose removal lifts that roof: tensor_pipe, fma_pipe, l2_bandwidth or dram_bandwidth.
[[nodiscard]] std::string_view limit_of_roof(const Bottleneck& bottleneck);

// "97 % of the tensor roof; the roof itself is held to 1226 of 1980 MHz by the power limit of 700 W". below_share: of
// the run time, what Bottleneck::below_roof_by costs.
[[nodiscard]] std::string sentence_of(const Bottleneck& bottleneck, const SimReport& report, double below_share);

// Of the run time, 0..1, the most that a limit's removal may gain at an unchanged clock. What serves requests saves no
// more than the time in which it was busy, half of that where it is doubled. What makes warps wait saves no more than
// the cycles in which one of them waited for it, even if all others waited for that one. And nothing but the roof
// brings a run above its roof.
[[nodiscard]] double limit_bound(std::string_view limit, const SimReport& report);

}  // namespace noteg::gpu
