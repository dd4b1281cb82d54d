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

}  // namespace noteg::learn
