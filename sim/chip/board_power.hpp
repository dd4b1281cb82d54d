// A first estimate of board power from work rates, until the power model solves clock and power together.
// Whole-board increments per FLOP and per DRAM byte (least squares on GPUB roofline runs, reference key GPUB).
#pragma once

#include "arch/spec.hpp"
#include "sim/chip/report.hpp"

namespace noteg::chip {

struct BoardPower {
  double watts = 0;
  bool throttled = false;
  std::string note;
};

[[nodiscard]] BoardPower board_power(const arch::GpuSpec& gpu, const SimReport& report);

}  // namespace noteg::chip
