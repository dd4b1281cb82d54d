// Columns that come from the report of a simulation: config, counters and targets.
#pragma once

#include <vector>

#include "sim/dataset/columns.hpp"

namespace noteg::dataset {

[[nodiscard]] std::vector<RunColumn> run_report_columns(Group group);

}  // namespace noteg::dataset
