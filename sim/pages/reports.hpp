// The HTML reports of the commands: what each of them found, as one page. Pure functions from results to a file's
// bytes; the same results give the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "sim/compare/compare.hpp"
#include "sim/gpu/explain.hpp"
#include "sim/learn/learning_curve.hpp"
#include "sim/learn/training.hpp"
#include "sim/tune/write.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::pages {

// explanation: of --explain; its report is then that of the run.
[[nodiscard]] std::string simulate_report(const arch::GpuSpec& gpu, const gpu::SimReport& report,
                                          const std::optional<gpu::Explanation>& explanation = std::nullopt);

[[nodiscard]] std::string compare_report(const compare::Comparison& comparison);

[[nodiscard]] std::string tune_report(const tune::Results& results, const arch::GpuSpec& gpu);

// by: the columns that the groups were made from.
[[nodiscard]] std::string validate_report(const validate::Validation& validation, const std::vector<std::string>& by);

// curve: may be empty.
[[nodiscard]] std::string train_report(const learn::Training& training, const dataset::Table& table,
                                       const std::vector<learn::CurvePoint>& curve);

}  // namespace noteg::pages
