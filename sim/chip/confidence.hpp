// How far off the model was on real measurements of this GPU and family, and whether the run at hand lies
// within what was measured there.
#pragma once

#include "sim/chip/report.hpp"

namespace noteg::chip {

[[nodiscard]] Confidence confidence_of(const SimReport& report);

}  // namespace noteg::chip
