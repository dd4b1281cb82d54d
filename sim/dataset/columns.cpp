#include "sim/dataset/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/dataset/arch_columns.hpp"
#include "sim/dataset/physics_columns.hpp"
#include "sim/dataset/row_columns.hpp"
#include "sim/dataset/run_columns.hpp"
#include "sim/support/ceil_div.hpp"

namespace noteg::dataset {
namespace {

void append(Values& to, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    to.is_text = true;
    const auto known = std::ranges::find(to.words, *text);
    if (!text->empty() && known == to.words.end()) to.words.push_back(*text);
    to.codes.push_back(
        text->empty() ? -1 : static_cast<std::int32_t>(std::ranges::find(to.words, *text) - to.words.begin()));
    return;
  }
  double number = std::numeric_limits<double>::quiet_NaN();
  if (const auto* real = std::get_if<double>(&value); real != nullptr && std::isfinite(*real)) number = *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*whole);
  if (const auto* claim = std::get_if<bool>(&value)) number = *claim ? 1 : 0;
  to.numbers.push_back(number);
}

}  // namespace

std::vector<RunColumn> run_columns() {
  std::vector<RunColumn> all;
  for (std::vector<RunColumn>& part :
       std::vector{run_report_columns(Group::config), arch_columns(), physics_columns(),
                   run_report_columns(Group::counter), run_report_columns(Group::target)})
    for (RunColumn& column : part) all.push_back(std::move(column));
  return all;
}

std::optional<Column> known_column(std::string_view name) {
  for (const RunColumn& column : run_columns())
    if (column.column.name == name) return column.column;
  return std::nullopt;
}

Result<gpu::SimReport> unsimulated(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                   const kernels::GemmShape& shape, const gpu::SimOptions& options) {
  Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, shape);
  if (!resolved) return resolved.errors();
  gpu::SimReport report;
  report.arch_id = gpu.id;
  report.arch_name = gpu.name;
  report.kernel = std::move(*resolved);
  report.shape = shape;
  const kernels::KernelConfig& k = report.kernel;
  report.grid_ctas = ceil_div(shape.m, k.tile.m) * ceil_div(shape.n, k.tile.n) * shape.batch * std::max(1, k.split_k);
  report.registers_per_thread = k.registers.value_or(0);
  report.shared_bytes_per_cta = k.shared_bytes.value_or(0);
  const bool burst = options.clock_mode == power::ClockMode::burst;
  const bool cool = options.clock_mode == power::ClockMode::cool;
  report.clock_mode = options.sm_clock_mhz ? "given" : burst ? "burst" : cool ? "cool" : "sustained";
  return report;
}

TableBuilder::TableBuilder(const std::function<bool(Group)>& wanted) {
  for (RunColumn& column : run_columns()) {
    if (!wanted(column.column.group)) continue;
    table_.columns.push_back({column.column, false, {}, {}, {}});
    columns_.push_back(std::move(column));
  }
}

void TableBuilder::add(const Run& run) {
  Run once = run;
  const Physics physics = physics_of(*run.gpu, *run.report, *run.options);
  once.physics = &physics;
  for (std::size_t i = 0; i < columns_.size(); ++i) append(table_.columns[i], columns_[i].get(once));
  ++table_.rows;
}

std::string column_reference() {
  std::string text =
      "# What a data set holds\n\nMade from the table of columns (`sim/dataset/columns.cpp`), as are the headers of "
      "the "
      "files; a test fails where it is\nout of date. Do not edit it by hand: run `NOTEG_UPDATE_GENERATED=1 "
      "test_dataset`. The groups config, arch and physics are known before\na simulation, counters and targets after "
      "it.\n\n| name | group | unit | what it says |\n| --- | --- | --- | --- |\n";
  std::vector<Column> all = all_row_columns();
  for (RunColumn& c : run_columns()) all.push_back(std::move(c.column));
  for (const Column& c : all)
    text += fmt::format("| `{}` | {} | {} | {} |\n", c.name, name_of(c.group), c.unit, c.meaning);
  return text;
}

}  // namespace noteg::dataset
