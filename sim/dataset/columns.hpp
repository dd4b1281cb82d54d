// The one table of what a data set of runs holds: name, unit, meaning, group and getter of every column. Files, headers
// and documentation come from it. Columns of the groups config, arch and physics are known before a simulation, so that
// a predictor can ask for a run that nobody simulated.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "arch/spec.hpp"
#include "sim/dataset/physics.hpp"
#include "sim/dataset/table.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/report/counters.hpp"

namespace noteg::dataset {

// One run: on which GPU, with which options, and its report. Where only columns known before are asked for, the report
// comes from unsimulated().
struct Run {
  const arch::GpuSpec* gpu = nullptr;
  const gpu::SimOptions* options = nullptr;
  const gpu::SimReport* report = nullptr;
  const Physics* physics = nullptr;  // of these three, so that it is computed once; absent: computed when asked for
};

// Absent (no clock was given, no such pipe): a number that is not finite, or an empty text.
using Value = report::Value;

struct RunColumn {
  Column column;
  std::function<Value(const Run&)> get;
};

[[nodiscard]] constexpr bool known_before(Group group) {
  return group == Group::config || group == Group::arch || group == Group::physics;
}

// Every column in the order of files. Built at each call: there is no global state.
[[nodiscard]] std::vector<RunColumn> run_columns();

// Those of the group arch.
[[nodiscard]] std::vector<RunColumn> arch_columns();

[[nodiscard]] std::optional<Column> known_column(std::string_view name);

// A report that holds what is known before the simulation: GPU, kernel as resolved, shape, resources, grid. Errors as
// of kernels::resolve.
[[nodiscard]] Result<gpu::SimReport> unsimulated(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                                 const kernels::GemmShape& shape, const gpu::SimOptions& options);

// Rows of runs as a table of the columns of some groups.
class TableBuilder {
 public:
  explicit TableBuilder(const std::function<bool(Group)>& wanted);
  void add(const Run& run);
  [[nodiscard]] Table take() { return std::move(table_); }

 private:
  std::vector<RunColumn> columns_;
  Table table_;
};

// docs/reference/dataset-reference.md.
[[nodiscard]] std::string column_reference();

// What a file of rows holds beside the columns of a run: which row it is, and why it has no result.
[[nodiscard]] std::vector<Column> row_columns();  // before the columns of a run: gpu_copy, label

// The same with row_id and error, which are the file's own; for the reference page.
[[nodiscard]] std::vector<Column> all_row_columns();

}  // namespace noteg::dataset
