// noteg simulate --list-switches.
#pragma once

#include "sim/cli/kernel_options.hpp"

namespace noteg::cli {

// Prints the table of switches; returns the exit status.
[[nodiscard]] int list_switches(Format format);

}  // namespace noteg::cli
