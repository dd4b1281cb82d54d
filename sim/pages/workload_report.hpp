// The HTML report of a workload: where time and energy of each case go, its operations under their roofs, and which
// cases are worth having.
#pragma once

#include <string>

#include "sim/workload/write.hpp"

namespace noteg::pages {

[[nodiscard]] std::string workload_report(const workload::Results& results, const workload::Heading& heading);

}  // namespace noteg::pages
