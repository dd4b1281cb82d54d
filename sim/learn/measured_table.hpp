// Measured rows as a table: the columns of a data set, with what was simulated, what was measured and what a measured
// time holds beside the kernel. The table can be kept as a file, so that one can learn again without simulating.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/dataset/table.hpp"
#include "sim/validate/measured_source.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::learn {

// Names of the columns added: measured over simulated, of the GPU's own time and of board power.
inline constexpr const char* time_ratio = "time_ratio";
inline constexpr const char* power_ratio = "power_ratio";

// What it takes to go from a ratio back to a measured time.
struct MeasuredRun {
  validate::HostTime host;
  int kernels = 1;
  double simulated_us = 0, measured_us = 0;
  double other_us = 0;                     // inside the measured time, not the kernel's: operands are quantised first
  double simulated_w = 0, measured_w = 0;  // 0: not measured

  // Measured time that the ratio means.
  [[nodiscard]] double time_for(double ratio) const {
    return validate::with_host(host, ratio * simulated_us + other_us, kernels);
  }
};

struct MeasuredTable {
  dataset::Table table;
  std::vector<MeasuredRun> runs;    // parallel to the table's rows
  std::vector<std::size_t> source;  // of each, its place in MeasuredData::rows; empty where the table was read
  std::size_t skipped = 0;
  std::vector<std::pair<std::string, std::size_t>> reasons;  // why rows were left out, and how many
};

struct MeasuredOptions {
  unsigned jobs = 1;
  std::vector<std::string> gpus;  // as of validate
  validate::Chooser chooser;      // as of validate: empty leaves rows without a kernel out
  std::function<void(std::size_t, std::size_t)> progress = {};
  std::optional<arch::GpuSpec> gpu = {};  // in the place of the file of every row's GPU
};

// Every row simulated. A row that the host's dispatch hides has no time ratio; one whose power was not measured no
// power ratio. Errors: unreadable data, not a single row that can be simulated.
[[nodiscard]] Result<MeasuredTable> measured_table(const validate::MeasuredData& data, const MeasuredOptions& options,
                                                   const validate::Simulator& simulator);

// Is it such a table, written to a file and read back, and not a file of measured rows?
[[nodiscard]] bool is_measured_table(const std::vector<std::string>& columns);

// The runs of such a table: nothing is simulated again. gpus: as of MeasuredOptions. Errors: columns missing, a run
// without its times, no row of these GPUs.
[[nodiscard]] Result<MeasuredTable> simulated_before(dataset::Table table, const std::vector<std::string>& gpus);

// What a measured run adds to the columns of a data set, one table for writing and reading: the ratios that are learnt,
// and the parts of a measured time that a ratio has to be turned back with.

// Ratios as targets, parts as other columns.
[[nodiscard]] std::vector<dataset::Values> columns_of(const std::vector<MeasuredRun>& runs);

// The runs of a table that has those columns. Errors: a column that is missing or holds texts, a run whose simulated
// time is absent.
[[nodiscard]] Result<std::vector<MeasuredRun>> runs_of(const dataset::Table& table);

}  // namespace noteg::learn
