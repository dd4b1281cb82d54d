// A comparison as text, JSON or CSV.
#pragma once

#include <string>

#include "sim/compare/compare.hpp"

namespace noteg::compare {

// For people: at most 100 columns, plain ASCII.
[[nodiscard]] std::string to_text(const Comparison& comparison);

// gpus (what simulate prints of each), differences, waterfalls.
[[nodiscard]] std::string to_json(const Comparison& comparison);

// One row per GPU with every counter; what was changed stands in the columns label and what_if.
[[nodiscard]] std::string to_csv(const Comparison& comparison);

// Only the keys that differ, one column per GPU: part of the above, and what `arch show --diff` prints.
[[nodiscard]] std::string differences_text(const std::vector<std::string>& labels,
                                           const std::vector<arch::Difference>& differences);
[[nodiscard]] std::string differences_json(const std::vector<std::string>& labels,
                                           const std::vector<arch::Difference>& differences);
[[nodiscard]] std::string differences_csv(const std::vector<std::string>& labels,
                                          const std::vector<arch::Difference>& differences);

}  // namespace noteg::compare
