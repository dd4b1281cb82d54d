// A model from a problem.
#pragma once

#include "sim/learn/problem.hpp"

namespace noteg::learn {

// The forest of one part, trained on some of its rows (all of them where none are named).
struct Fitted {
  forest::Forest forest;
  std::vector<double> smearing;  // per target, see Target
};

[[nodiscard]] Result<Fitted> fit_part(const Problem& problem, std::size_t part, const std::vector<std::size_t>& rows,
                                      const forest::ForestOptions& options);

// Forests of all parts with smearing and usual distances. Intervals are not widened yet: that takes a validation.
[[nodiscard]] Result<Model> fit_model(const Problem& problem, ModelKind kind, const forest::ForestOptions& options);

[[nodiscard]] std::string hash_of(const Problem& problem);

}  // namespace noteg::learn
