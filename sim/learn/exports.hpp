// A model as source code that needs nothing of noteg: a C++ header, or a C file for a shared library. Values alone:
// intervals and the question whether a row lies inside the domain stay with the model file.
#pragma once

#include <string>

#include "sim/learn/model.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

enum class SourceKind : std::uint8_t { cpp_header, c_file };

// Functions of both, in the namespace or behind the prefix `noteg_model`:
//   predict(x, out)            x: a value per feature, NaN is missing; out: a value per target
//   feature_count, feature_name(i), target_count, target_name(i)
//   category(i, text)          what stands for a text of feature i in x; NaN where the model does not know it
// Errors: a model of more than trees, a target whose anchor is no feature.
[[nodiscard]] Result<std::string> to_source(const Model& model, SourceKind kind);

// A model as ONNX, so that other runtimes can serve it: TreeEnsembleRegressor of ai.onnx.ml, and around it what makes
// features of categories and run times of logarithms.

// Input `features`: doubles, a row per run and a column per feature in the model's order; NaN is missing, a category is
// its place in the model's list, and what the list lacks is NaN. Outputs: a float per row for each target, under its
// name and in its unit. Names, units and categories of the features are in the metadata. Intervals and the question
// whether a row lies inside the domain stay with the JSON file. Error: a target whose anchor is no feature.
[[nodiscard]] Result<std::string> to_onnx(const Model& model);

}  // namespace noteg::learn
