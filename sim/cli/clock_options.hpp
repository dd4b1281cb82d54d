// --clock, --clock-mode, --launches, --operands and --l2: how the SM clock is found, and what the operands and L2 hold.
#pragma once

#include <optional>
#include <vector>

#include "sim/cli/options.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::cli {

[[nodiscard]] std::vector<Option> clock_options();

// --l2: nothing where it is absent, and with a diagnostic where it is no state.
[[nodiscard]] std::optional<gpu::L2State> l2_option(const Arguments& arguments, Diagnostics& errors);

// Sets the clock, its mode, the operands and the state of L2; a diagnostic for each value that is none.
void apply_clock_options(const Arguments& arguments, gpu::SimOptions& options, Diagnostics& errors);

}  // namespace noteg::cli
