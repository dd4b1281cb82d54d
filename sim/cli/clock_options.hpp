// --clock, --clock-mode, --launches and --operands: how the SM clock is found, and what the operands hold.
#pragma once

#include <vector>

#include "sim/chip/simulate.hpp"
#include "sim/cli/options.hpp"

namespace noteg::cli {

[[nodiscard]] std::vector<Option> clock_options();

// Sets the clock, its mode and the operands; a diagnostic for each value that is none.
void apply_clock_options(const Arguments& arguments, chip::SimOptions& options, Diagnostics& errors);

}  // namespace noteg::cli
