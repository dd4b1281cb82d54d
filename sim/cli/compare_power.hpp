// noteg compare --power-limits: one kernel on one GPU under several power limits, and the clock at which it takes the
// least energy.
#pragma once

#include "sim/cli/options.hpp"

namespace noteg::cli {

[[nodiscard]] int compare_power(const Arguments& arguments);  // the exit status

}  // namespace noteg::cli
