#include "sim/learn/measured_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "sim/dataset/columns.hpp"
#include "sim/learn/training.hpp"
#include "sim/support/text.hpp"
#include "sim/support/work_sharing.hpp"
#include "sim/validate/operator_case.hpp"
#include "sim/validate/quantisation/quantisation.hpp"

namespace noteg::learn {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

struct Field {
  const char *name, *unit, *meaning;
  double (*get)(const MeasuredRun&);
  void (*set)(MeasuredRun&, double);
};

constexpr std::array<Field, 7> fields{{
    {"measured.time_us", "us", "measured run time; absent where there is none",
     [](const MeasuredRun& r) { return r.measured_us > 0 ? r.measured_us : absent; },
     [](MeasuredRun& r, double v) { r.measured_us = v; }},
    {"measured.power_w", "W", "measured board power; absent where there is none",
     [](const MeasuredRun& r) { return r.measured_w > 0 ? r.measured_w : absent; },
     [](MeasuredRun& r, double v) { r.measured_w = v; }},
    {"measured.other_us", "us", "part of the measured time that other kernels take",
     [](const MeasuredRun& r) { return r.other_us; }, [](MeasuredRun& r, double v) { r.other_us = v; }},
    {"measured.kernels", "count", "kernels that the host launches",
     [](const MeasuredRun& r) { return static_cast<double>(r.kernels); },
     [](MeasuredRun& r, double v) { r.kernels = static_cast<int>(v); }},
    {"measured.host_floor_us", "us", "the host's own time for one operator",
     [](const MeasuredRun& r) { return r.host.floor_us; }, [](MeasuredRun& r, double v) { r.host.floor_us = v; }},
    {"measured.host_lead_us", "us", "start event to kernel start where the GPU is the slower side",
     [](const MeasuredRun& r) { return r.host.lead_us; }, [](MeasuredRun& r, double v) { r.host.lead_us = v; }},
    {"measured.host_second_us", "us", "what the host's time grows by for a second kernel",
     [](const MeasuredRun& r) { return r.host.second_launch_us; },
     [](MeasuredRun& r, double v) { r.host.second_launch_us = v; }},
}};

double time_ratio_of(const MeasuredRun& run) {
  const bool hidden = run.time_for(1) > run.host.lead_us + run.simulated_us + run.other_us;  // the host was slower
  const double own = run.measured_us - run.host.lead_us - run.other_us;
  return hidden || own <= 0 || run.simulated_us <= 0 ? absent : own / run.simulated_us;
}

double power_ratio_of(const MeasuredRun& run) {
  return run.measured_w > 0 && run.simulated_w > 0 ? run.measured_w / run.simulated_w : absent;
}

dataset::Values column(const char* name, const char* unit, const char* meaning, dataset::Group group) {
  return {{name, unit, meaning, group}, false, {}, {}, {}};
}

// A column of numbers; one without a single value may have been read as texts.
Result<std::vector<double>> numbers_of(const dataset::Table& table, const char* name) {
  const dataset::Values* values = table.find(name);
  if (values == nullptr)
    return Diagnostic{table.file, 0, 0, name, "a column of this name, as noteg train --table writes it", "none"};
  if (!values->is_text) return values->numbers;
  for (std::size_t row = 0; row < table.rows; ++row)
    if (!values->text(row).empty())
      return Diagnostic{table.file, table.line(row), 0, name, "a number or nothing", "\"" + values->text(row) + "\""};
  return std::vector<double>(table.rows, absent);
}

}  // namespace

std::vector<dataset::Values> columns_of(const std::vector<MeasuredRun>& runs) {
  using dataset::Group;
  std::vector<dataset::Values> columns;
  for (const Field& part : fields) {
    columns.push_back(column(part.name, part.unit, part.meaning, Group::other));
    for (const MeasuredRun& run : runs) columns.back().numbers.push_back(part.get(run));
  }
  columns.push_back(column(time_ratio, "", "measured over simulated time of the GPU", Group::target));
  for (const MeasuredRun& run : runs) columns.back().numbers.push_back(time_ratio_of(run));
  columns.push_back(column(power_ratio, "", "measured over simulated board power", Group::target));
  for (const MeasuredRun& run : runs) columns.back().numbers.push_back(power_ratio_of(run));
  return columns;
}

Result<std::vector<MeasuredRun>> runs_of(const dataset::Table& table) {
  std::vector<MeasuredRun> runs(table.rows);
  Diagnostics errors;
  const auto take = [&](const char* name, const auto& set) {
    const Result<std::vector<double>> numbers = numbers_of(table, name);
    if (!numbers) {
      errors.insert(errors.end(), numbers.errors().begin(), numbers.errors().end());
      return;
    }
    for (std::size_t row = 0; row < runs.size(); ++row)
      set(runs[row], std::isnan((*numbers)[row]) ? 0 : (*numbers)[row]);
  };
  for (const Field& part : fields) take(part.name, part.set);
  take("time_us", [](MeasuredRun& run, double value) { run.simulated_us = value; });
  take("power_w", [](MeasuredRun& run, double value) { run.simulated_w = value; });
  for (std::size_t row = 0; errors.empty() && row < runs.size(); ++row)
    if (!(runs[row].simulated_us > 0))
      errors.push_back({table.file, table.line(row), 0, "time_us", "a simulated time above 0", "none"});
  if (!errors.empty()) return errors;
  return runs;
}

namespace {

using Gpus = std::map<std::string, Result<arch::GpuSpec>, std::less<>>;

struct Simulated {
  validate::MeasuredCase measured;
  const arch::GpuSpec* gpu = nullptr;
  std::optional<gpu::SimReport> report;
  double other_us = 0;
  std::string reason;  // where there is no report
};

std::string one_line(const Diagnostics& errors) {
  std::string text = errors.front().key.empty() ? errors.front().to_string()
                                                : errors.front().key + ": expected " + errors.front().expected;
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Gpus load_gpus(const validate::MeasuredData& data, const std::optional<arch::GpuSpec>& given) {
  Gpus gpus;
  const std::size_t column = *data.column("gpu");
  for (const validate::MeasuredRow& row : data.rows)
    if (!gpus.contains(row.fields[column]))
      gpus.emplace(row.fields[column], given ? Result<arch::GpuSpec>(*given) : arch::load_gpu(row.fields[column]));
  return gpus;
}

bool is_wanted(const std::string& name, const Result<arch::GpuSpec>& gpu, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& one) {
           return to_lower(one) == to_lower(name) || (gpu && to_lower(one) == to_lower(gpu->id));
         });
}

Simulated simulate(const validate::MeasuredData& data, const validate::MeasuredRow& row, const Gpus& gpus,
                   const MeasuredOptions& options, const validate::Simulator& simulator) {
  Simulated out;
  validate::CaseOrReason built =
      validate::case_of(data, row, validate::TimeColumn::as_taken, validate::unknown_kernels(options.chooser));
  if (auto* reason = std::get_if<std::string>(&built)) {
    out.reason = *reason;
    return out;
  }
  out.measured = std::move(std::get<validate::MeasuredCase>(built));
  const Result<arch::GpuSpec>& gpu = gpus.at(out.measured.gpu);
  if (!gpu || !is_wanted(out.measured.gpu, gpu, options.gpus)) {
    out.reason = gpu ? "another GPU was asked for" : "no usable architecture file for " + out.measured.gpu;
    return out;
  }
  out.gpu = &*gpu;
  validate::settle_l2(out.measured, *gpu);
  if (const Diagnostics errors = validate::settle_kernel(out.measured, *gpu, options.chooser); !errors.empty()) {
    out.reason = one_line(errors);
    return out;
  }
  if (out.measured.quantises)
    out.other_us = validate::quantisation_time(*gpu, out.measured.shape, out.measured.config.dtype_in,
                                               out.measured.options.library)
                       .value *
                   1e6;
  Result<gpu::SimReport> report = simulator(*gpu, out.measured.config, out.measured.shape, out.measured.options);
  if (report)
    out.report = std::move(*report);
  else
    out.reason = one_line(report.errors());
  return out;
}

MeasuredRun run_of(const Simulated& s) {
  MeasuredRun run;
  run.host = s.measured.host;
  const kernels::KernelConfig& kernel = s.report->kernel;
  run.kernels = kernel.split_k > 1 && kernel.split_k_mode == kernels::SplitKMode::parallel ? 2 : 1;
  run.simulated_us = s.report->time_us;
  run.other_us = s.other_us;
  run.measured_us = s.measured.time_ms.value_or(0) * 1e3;
  run.simulated_w = s.report->power_w;
  run.measured_w = s.measured.power_w.value_or(0);
  return run;
}

// What was simulated is known before what was measured.
void simulated_is_known(dataset::Table& table) {
  for (dataset::Values& values : table.columns)
    if (values.column.group == dataset::Group::target) values.column.group = dataset::Group::counter;
}

}  // namespace

Result<MeasuredTable> measured_table(const validate::MeasuredData& data, const MeasuredOptions& options,
                                     const validate::Simulator& simulator) {
  const Gpus gpus = load_gpus(data, options.gpu);
  std::vector<Simulated> rows(data.rows.size());
  share_work(rows.size(), options.jobs, options.progress,
             [&](std::size_t i) { rows[i] = simulate(data, data.rows[i], gpus, options, simulator); });
  MeasuredTable out;
  std::map<std::string, std::size_t> reasons;
  dataset::TableBuilder builder([](dataset::Group) { return true; });
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const Simulated& row = rows[place];
    if (!row.report) {
      ++out.skipped;
      ++reasons[row.reason];
      continue;
    }
    builder.add({row.gpu, &row.measured.options, &*row.report});
    out.runs.push_back(run_of(row));
    out.source.push_back(place);
  }
  out.reasons.assign(reasons.begin(), reasons.end());
  if (out.runs.empty())
    return Diagnostic{"",
                      0,
                      0,
                      "--data",
                      "at least one measured row that can be simulated",
                      out.reasons.empty() ? "none" : out.reasons.front().first};
  out.table = builder.take();
  simulated_is_known(out.table);
  for (dataset::Values& values : columns_of(out.runs)) out.table.columns.push_back(std::move(values));
  for (const std::string& file : data.files) out.table.file += (out.table.file.empty() ? "" : ", ") + file;
  return out;
}

bool is_measured_table(const std::vector<std::string>& columns) {
  return std::ranges::find(columns, time_ratio) != columns.end();
}

Result<MeasuredTable> simulated_before(dataset::Table table, const std::vector<std::string>& gpus) {
  const dataset::Values* names = table.find(gpu_column);
  if (names == nullptr) return Diagnostic{table.file, 0, 0, gpu_column, "a column of this name", "none"};
  std::vector<std::string> wanted;
  for (const std::string& gpu : gpus) {
    const Result<arch::GpuSpec> spec = arch::load_gpu(gpu);
    if (!spec) return spec.errors();
    wanted.push_back(spec->id);
  }
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows; ++row)
    if (wanted.empty() || std::ranges::find(wanted, names->text(row)) != wanted.end()) rows.push_back(row);
  if (rows.empty())
    return Diagnostic{
        table.file, 0, 0, "--gpu", "a GPU that the table has rows of", wanted.empty() ? "no rows" : wanted.front()};
  MeasuredTable out;
  out.table = rows.size() == table.rows ? std::move(table) : dataset::select(table, rows);
  Result<std::vector<MeasuredRun>> runs = runs_of(out.table);
  if (!runs) return runs.errors();
  out.runs = std::move(*runs);
  simulated_is_known(out.table);
  return out;
}

}  // namespace noteg::learn
