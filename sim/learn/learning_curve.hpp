// How the error falls with the number of rows learned from: would more data help? One fold of shapes is held out; the
// forest is trained on nested parts of the others, whole shapes at a time.
#pragma once

#include <string>
#include <vector>

#include "sim/learn/training.hpp"

namespace noteg::learn {

struct CurvePoint {
  std::string target;
  std::size_t rows = 0;      // learned from
  double held_out_mape = 0;  // of rows of shapes that no point of the curve learned from; fractions
  double learned_mape = 0;   // of the rows learned from, at most 2000 of them
};

// Points of each target in order of rows. Empty where the rows have too few shapes. Errors: as of make_problem.
[[nodiscard]] Result<std::vector<CurvePoint>> learning_curve(const dataset::Table& table,
                                                             const TrainingRequest& request);

}  // namespace noteg::learn
