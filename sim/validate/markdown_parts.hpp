// Parts of the page of documentation that judge the errors rather than list them.
#pragma once

#include <string>

#include "sim/validate/validate.hpp"

namespace noteg::validate {

// Every slice of at least 30 rows (one column or GPU with another) whose error is above 15 %, or that there is none.
[[nodiscard]] std::string bad_slices_section(const Validation& validation);

// Sets whose times hold host dispatch: errors of short rows on the half of the shapes that the host's constants were
// fitted on, and on the other. Empty where no predicted row is of such a set.
[[nodiscard]] std::string halves_section(const Validation& validation);

// How often measured times lie in their intervals, by what was left out in cross-validation and by GPU: the table that
// the program was built with (sim/confidence/measured_errors.csv).
[[nodiscard]] std::string intervals_section();

// "91 %"; "-" where absent.
[[nodiscard]] std::string share_text(const std::optional<double>& share);

// Text that may stand in a table.
[[nodiscard]] std::string escaped(std::string text);

}  // namespace noteg::validate
