// The simulator against real measurements: every row of a measured file is predicted, or skipped with a reason, or set
// aside because the user asked for other rows; none is lost. The same figures for any number of jobs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "sim/confidence/measured_errors.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/validate/measured_case.hpp"
#include "sim/validate/measured_file.hpp"
#include "sim/validate/metrics.hpp"
#include "sim/validate/outcome.hpp"

namespace noteg::validate {

// What predicts: gpu::simulate, or in a test anything else. Called from many threads.
using Simulator = std::function<Result<gpu::SimReport>(const arch::GpuSpec&, const kernels::KernelConfig&,
                                                       const kernels::GemmShape&, const gpu::SimOptions&)>;

struct ValidateOptions {
  std::vector<std::string> by{"gpu", "family"};
  std::optional<double> min_time_ms;  // shorter measured times are set aside and counted
  std::optional<std::size_t> sample;  // rows of each source, GPU, operation, type and family; others are set aside
  std::vector<std::string> gpus;      // only these, as the file writes them or as arch files name them; empty: all
  bool exact = false;
  bool leave_one_out = false;  // each GPU without the constants that were fitted on its own rows
  TimeColumn time = TimeColumn::as_taken;
  std::optional<gpu::L2State> l2;  // instead of what the way of measuring left there
  unsigned jobs = 1;
  Chooser chooser;                                         // empty: rows without a kernel are skipped
  arch::Overrides arch_overrides;                          // on every GPU
  std::function<void(std::size_t, std::size_t)> progress;  // rows done, rows to do; called under a lock
};

struct Validation {
  MeasuredData data;
  std::vector<Outcome> outcomes;  // parallel to data.rows
  std::vector<Group> groups;
  std::optional<Group> all;                              // absent where no row was predicted
  std::size_t predicted = 0, skipped = 0, filtered = 0;  // they add up to the rows
  double wall_s = 0;
};

// Errors: unreadable data, a --by column that does not exist, a --gpu that no row has.
[[nodiscard]] Result<Validation> validate(const std::vector<std::string>& paths, const ValidateOptions& options,
                                          const Simulator& simulator);

// The table from which intervals are made (sim/confidence/measured_errors.hpp): which rows of a validation count, and
// the factors that make the stated share of the rows lie inside. A row is judged by all rows but those left out with
// it: its shape, its kernel on every GPU, its family, its GPU. Each of these stands for one way in which a user's run
// can be new, and has factors of its own.

struct CountedRow {
  gpu::MeasuredError row;
  std::string shape;
};

// Rows with a prediction and a time. Not counted: rows that a constant was fitted on, those whose time is to a fifth
// the host's, and those that hold another kernel.
[[nodiscard]] std::vector<CountedRow> counted_rows(const Validation& validation);

// Factors and coverage of these rows, cross-validated: each row lies inside or outside an interval whose factor was
// taken from other groups than its own. Coverage is told of the rows and as the mean over groups: families and GPUs are
// few, and one of them may have half of the rows. The same for any order of the threads.
[[nodiscard]] gpu::ErrorTable error_table(const std::vector<CountedRow>& rows);

}  // namespace noteg::validate
