// The part of the table of counters that shows the kernel as resolved: every default that was filled in.
#pragma once

#include <vector>

#include "sim/report/counters.hpp"

namespace noteg::report {

[[nodiscard]] std::vector<Counter> kernel_counters();

}  // namespace noteg::report
