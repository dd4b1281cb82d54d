#include "sim/learn/measured_columns.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace noteg::learn {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

struct Part {
  const char *name, *unit, *meaning;
  double (*get)(const MeasuredRun&);
  void (*set)(MeasuredRun&, double);
};

constexpr std::array<Part, 7> parts{{
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
  for (const Part& part : parts) {
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
  for (const Part& part : parts) take(part.name, part.set);
  take("time_us", [](MeasuredRun& run, double value) { run.simulated_us = value; });
  take("power_w", [](MeasuredRun& run, double value) { run.simulated_w = value; });
  for (std::size_t row = 0; errors.empty() && row < runs.size(); ++row)
    if (!(runs[row].simulated_us > 0))
      errors.push_back({table.file, table.line(row), 0, "time_us", "a simulated time above 0", "none"});
  if (!errors.empty()) return errors;
  return runs;
}

}  // namespace noteg::learn
