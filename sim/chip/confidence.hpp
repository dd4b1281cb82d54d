// How far off the model was on real measurements of this GPU and family, and whether the run at hand lies
// within what was measured there.
#pragma once

#include <span>
#include <string_view>

#include "sim/chip/report.hpp"

namespace noteg::chip {

// A recorded validation: rows of one GPU and family.
struct ValidationRecord {
  std::string_view gpu;
  kernels::Family family;
  double mape;
  int rows;
  std::string_view on;
};

[[nodiscard]] std::span<const ValidationRecord> validation_records();

[[nodiscard]] Confidence confidence_of(const SimReport& report);

}  // namespace noteg::chip
