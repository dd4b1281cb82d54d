// Measured launches of compiled kernels against the simulation: rows with the columns launch, kernel, listing, grid,
// block, dynamic_shared, args and time_ms, listings beside the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/spec.hpp"
#include "sim/compiled/simulate_compiled.hpp"
#include "sim/support/csv.hpp"

namespace noteg::compiled {

struct LaunchOutcome {
  int line = 0;
  std::string launch, kernel;
  std::optional<double> measured_ms;
  std::optional<CompiledRun> run;  // without: skipped
  std::string skipped;
};

struct LaunchValidation {
  CsvTable table;
  std::vector<LaunchOutcome> outcomes;  // by row
};

// Whether a file holds such rows.
[[nodiscard]] bool holds_launches(const CsvTable& table);

struct LaunchOptions {
  const arch::GpuSpec* gpu = nullptr;
  bool exact = false;
  unsigned jobs = 1;
};

[[nodiscard]] Result<LaunchValidation> validate_launches(const std::string& path, const LaunchOptions& options);

[[nodiscard]] std::string predictions_csv(const LaunchValidation& validation);
[[nodiscard]] std::string to_text(const LaunchValidation& validation);
[[nodiscard]] std::string to_json(const LaunchValidation& validation);

}  // namespace noteg::compiled
