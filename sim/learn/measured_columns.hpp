// What a measured run adds to the columns of a data set, one table for writing and reading: the ratios that are learnt,
// and the parts of a measured time that a ratio has to be turned back with.
#pragma once

#include <vector>

#include "sim/dataset/table.hpp"
#include "sim/learn/measured_table.hpp"

namespace noteg::learn {

// Ratios as targets, parts as other columns.
[[nodiscard]] std::vector<dataset::Values> columns_of(const std::vector<MeasuredRun>& runs);

// The runs of a table that has those columns. Errors: a column that is missing or holds texts, a run whose simulated
// time is absent.
[[nodiscard]] Result<std::vector<MeasuredRun>> runs_of(const dataset::Table& table);

}  // namespace noteg::learn
