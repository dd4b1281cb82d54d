// A model as ONNX, so that other runtimes can serve it: TreeEnsembleRegressor of ai.onnx.ml, and around it what makes
// features of categories and run times of logarithms.
#pragma once

#include <string>

#include "sim/learn/model.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

// Input `features`: doubles, a row per run and a column per feature in the model's order; NaN is missing, a category is
// its place in the model's list, and what the list lacks is NaN. Outputs: a float per row for each target, under its
// name and in its unit. Names, units and categories of the features are in the metadata. Intervals and the question
// whether a row lies inside the domain stay with the JSON file. Error: a target whose anchor is no feature.
[[nodiscard]] Result<std::string> to_onnx(const Model& model);

}  // namespace noteg::learn
