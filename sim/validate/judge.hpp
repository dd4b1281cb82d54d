// A prediction beside what was measured for the same row.
#pragma once

#include "sim/gpu/report.hpp"
#include "sim/validate/measured_case.hpp"
#include "sim/validate/outcome.hpp"

namespace noteg::validate {

// The host's part is added to the predicted time where the measured one holds it. Skipped where the model gave no
// usable time.
[[nodiscard]] Outcome outcome_of(const MeasuredCase& measured, const arch::GpuSpec& gpu, const gpu::SimReport& report);

}  // namespace noteg::validate
