// The HTML reports of the commands: what each of them found, as one page. Pure functions from results to a file's
// bytes; the same results give the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "sim/compare/compare.hpp"
#include "sim/compiled/source_view.hpp"
#include "sim/gpu/limits/explain.hpp"
#include "sim/learn/training.hpp"
#include "sim/tune/tune.hpp"
#include "sim/validate/validate.hpp"
#include "sim/workload/workload.hpp"

namespace noteg::pages {

// explanation: of --explain; its report is then that of the run.
[[nodiscard]] std::string simulate_report(const arch::GpuSpec& gpu, const gpu::SimReport& report,
                                          const std::optional<gpu::Explanation>& explanation = std::nullopt);

// view: what each instruction of the listing costs.
[[nodiscard]] std::string compiled_report(const arch::GpuSpec& gpu, const compiled::CompiledRun& run,
                                          const compiled::Launch& launch,
                                          const std::vector<compiled::SourceLine>& view);

[[nodiscard]] std::string compare_report(const compare::Comparison& comparison);

[[nodiscard]] std::string tune_report(const tune::Results& results, const arch::GpuSpec& gpu);

// by: the columns that the groups were made from.
[[nodiscard]] std::string validate_report(const validate::Validation& validation, const std::vector<std::string>& by);

// curve: may be empty.
[[nodiscard]] std::string train_report(const learn::Training& training, const dataset::Table& table,
                                       const std::vector<learn::CurvePoint>& curve);

// The HTML report of a workload: where time and energy of each case go, its operations under their roofs, and which
// cases are worth having.

[[nodiscard]] std::string workload_report(const workload::Results& results, const workload::Heading& heading);

}  // namespace noteg::pages
