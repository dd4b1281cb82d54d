// What each limit costs, as text, JSON or CSV.
#pragma once

#include <string>

#include "sim/gpu/explain.hpp"

namespace noteg::report {

[[nodiscard]] std::string explanation_text(const gpu::Explanation& explanation);  // the report, then the table
[[nodiscard]] std::string explanation_json(const gpu::Explanation& explanation);  // the report with "explain": [...]
[[nodiscard]] std::string explanation_csv(const gpu::Explanation& explanation);   // the table alone

}  // namespace noteg::report
