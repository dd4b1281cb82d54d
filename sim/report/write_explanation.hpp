// What each limit costs, as text, JSON or CSV.
#pragma once

#include <string>

#include "sim/chip/explain.hpp"

namespace noteg::report {

[[nodiscard]] std::string explanation_text(const chip::Explanation& explanation);  // the report, then the table
[[nodiscard]] std::string explanation_json(const chip::Explanation& explanation);  // the report with "explain": [...]
[[nodiscard]] std::string explanation_csv(const chip::Explanation& explanation);   // the table alone

}  // namespace noteg::report
