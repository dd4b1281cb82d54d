// The table from which intervals are made (sim/confidence/measured_errors.hpp): which rows of a validation count, and
// the factors that make the stated share of the rows lie inside. A row is judged by all rows but those left out with
// it: its shape, its kernel on every GPU, its family, its GPU. Each of these stands for one way in which a user's run
// can be new, and has factors of its own.
#pragma once

#include "sim/confidence/measured_errors.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::validate {

struct CountedRow {
  gpu::MeasuredError row;
  std::string shape;
};

// Rows with a prediction and a time. Not counted: rows that a constant was fitted on, those whose time is to a fifth
// the host's, and those that hold another kernel.
[[nodiscard]] std::vector<CountedRow> counted_rows(const Validation& validation);

// Factors and coverage of these rows, cross-validated: each row lies inside or outside an interval whose factor was
// taken from other groups than its own. Coverage is told of the rows and as the mean over groups: families and GPUs are
// few, and one of them may have half of the rows. The same for any order of the threads.
[[nodiscard]] gpu::ErrorTable error_table(const std::vector<CountedRow>& rows);

}  // namespace noteg::validate
