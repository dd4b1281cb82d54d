// A first estimate of board power from the events of a run, until the power model solves clock and power together.
// Left out: voltage and clock, temperature, what the operands hold.
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
