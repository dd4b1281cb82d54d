#include "sim/validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "arch/derive.hpp"
#include "sim/gpu/operating_point.hpp"
#include "sim/support/text.hpp"
#include "sim/support/work_sharing.hpp"
#include "sim/validate/operator_case.hpp"
#include "sim/validate/outcome.hpp"
#include "sim/validate/quantisation/quantisation.hpp"

namespace noteg::validate {
namespace {

using Gpus = std::map<std::string, Result<arch::GpuSpec>, std::less<>>;

// Each GPU that the file names is loaded once, before the threads start.
Gpus load_gpus(const MeasuredData& data, const ValidateOptions& options) {
  Gpus gpus;
  const std::optional<std::size_t> column = data.column("gpu");
  for (const MeasuredRow& row : data.rows) {
    const std::string& name = row.fields[*column];
    if (name.empty() || gpus.contains(name)) continue;
    arch::Overrides overrides = options.arch_overrides;
    if (options.leave_one_out)
      if (Result<arch::Overrides> without = arch::without_own_fits(name))
        overrides.insert(overrides.begin(), without->begin(), without->end());
    gpus.emplace(name, arch::load_gpu(name, overrides));
  }
  return gpus;
}

bool is_wanted(const std::string& gpu, const Gpus& gpus, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return true;
  const auto found = gpus.find(gpu);
  for (const std::string& name : wanted) {
    if (to_lower(name) == to_lower(gpu)) return true;
    if (found != gpus.end() && found->second && to_lower(found->second->id) == to_lower(name)) return true;
  }
  return false;
}

std::string one_line(const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& error : errors) text += (text.empty() ? "" : "; ") + error.to_string();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Outcome skipped(std::string reason) {
  Outcome outcome;
  outcome.reason = std::move(reason);
  return outcome;
}

Outcome filtered(std::string reason) {
  Outcome outcome = skipped(std::move(reason));
  outcome.status = Status::filtered;
  return outcome;
}

// Of a time that holds a kernel beside the one that is named. In a loop the clock settles for both; a burst is over
// before the limiter has taken the mean of them.
void add_quantisation(const MeasuredCase& measured, const arch::GpuSpec& gpu, gpu::SimReport& report) {
  const auto beside_at = [&gpu, &measured](std::optional<Hertz> clock) {
    return quantisation_activity(gpu, measured.shape, measured.config.dtype_in, measured.options.library,
                                 measured.known_scale, clock);
  };
  if (!report.activity_at || measured.options.clock_mode != power::ClockMode::sustained) {
    report.time_us += beside_at(std::nullopt).time.value * 1e6;
    return;
  }
  report.activity_at = [alone = report.activity_at, beside_at](Hertz clock) {
    power::Activity both = alone(clock);
    const power::Activity beside = beside_at(clock);
    both.time += beside.time;
    both.dram_read_bytes += beside.dram_read_bytes;
    both.dram_write_bytes += beside.dram_write_bytes;
    both.l2_bytes += beside.l2_bytes;
    return both;
  };
  const power::OperatingPoint point = gpu::operating_point(gpu, measured.options, report.activity_at);
  report.time_us = report.activity_at(point.clock).time.value * 1e6;
  report.sm_clock_mhz = point.clock.value * 1e-6;
  report.power_w = point.board.power.value;
  report.energy_mj = report.power_w * report.time_us * 1e-3;
}

// Kernels that the measured time holds beside the one that is named.
Diagnostics add_other_kernels(const MeasuredCase& measured, const arch::GpuSpec& gpu, gpu::SimReport& report) {
  const double alone_us = report.time_us;
  if (measured.quantises) add_quantisation(measured, gpu, report);
  gpu::SmCache cache;
  for (const operators::MemoryKernel& before : measured.before) {
    const Result<gpu::SimReport> other = operators::simulate_memory(gpu, before, measured.options, cache);
    if (!other) return other.errors();
    report.time_us += other->time_us;
  }
  const double with = report.time_us / alone_us;
  for (gpu::TimeRange& range : report.confidence.intervals) range = {range.low_us * with, range.high_us * with};
  return {};
}

Outcome judge(const MeasuredData& data, const MeasuredRow& row, const Gpus& gpus, const ValidateOptions& options,
              const Simulator& simulator) {
  const std::string& gpu_name = row.fields[*data.column("gpu")];
  if (!is_wanted(gpu_name, gpus, options.gpus)) return filtered("another GPU was asked for");
  const auto found = gpus.find(gpu_name);
  if (found != gpus.end() && !found->second) {
    const Diagnostics& errors = found->second.errors();
    const bool of_the_name = errors.size() == 1 && errors.front().file.empty();
    return skipped(fmt::format("gpu \"{}\" has no usable architecture file: {}", gpu_name,
                               of_the_name ? errors.front().found : one_line(errors)));
  }
  CaseOrReason built = case_of(data, row, options.time, unknown_kernels(options.chooser));
  if (const auto* reason = std::get_if<std::string>(&built)) return skipped(*reason);
  MeasuredCase& measured = std::get<MeasuredCase>(built);
  if (options.min_time_ms && measured.time_ms < options.min_time_ms)
    return filtered(fmt::format("measured time below {:g} ms", *options.min_time_ms));
  Result<arch::GpuSpec> gpu = found->second;
  settle_l2(measured, *gpu);
  settle_key_slices(measured, *gpu);
  measured.options.l2 = options.l2.value_or(measured.options.l2);
  measured.options.exact = options.exact;
  if (const Diagnostics errors = settle_kernel(measured, *gpu, options.chooser); !errors.empty())
    return skipped(one_line(errors));
  Result<gpu::SimReport> report = measured.experts ? expert_report(measured, *gpu)
                                                   : simulator(*gpu, measured.config, measured.shape, measured.options);
  if (!report) return skipped(one_line(report.errors()));
  if (const Diagnostics errors = add_other_kernels(measured, *gpu, *report); !errors.empty())
    return skipped(one_line(errors));
  return outcome_of(measured, *gpu, *report);
}

// Rows beyond the sample: of each group, of those that are long enough to be judged, those with the lowest hashes of
// their own text stay, so that more rows in the file leave most of the choice as it was.
std::vector<bool> beyond_sample(const MeasuredData& data, const ValidateOptions& options) {
  std::vector<bool> beyond(data.rows.size(), false);
  const std::optional<std::size_t> most = options.sample;
  if (!most) return beyond;
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::size_t>>> groups;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const RowView row(data, data.rows[i]);
    const std::optional<double> time = parse_number(row.text("time_ms"));
    if (options.time == TimeColumn::as_taken && time && *time < options.min_time_ms.value_or(0)) continue;
    std::string group;
    for (const char* column : {"source", "gpu", "op", "dtype_in", "family"})
      group += std::string(row.text(column)) + ",";
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    for (const std::string& field : data.rows[i].fields)
      for (const char c : field) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    groups[group].emplace_back(hash, i);
  }
  for (auto& [group, rows] : groups) {
    std::ranges::sort(rows);
    for (std::size_t place = *most; place < rows.size(); ++place) beyond[rows[place].second] = true;
  }
  return beyond;
}

Diagnostics check_request(const MeasuredData& data, const Gpus& gpus, const ValidateOptions& options) {
  Diagnostics errors;
  std::vector<std::string> names = derived_columns();
  names.insert(names.end(), data.columns.begin(), data.columns.end());
  for (const std::string& name : unknown_columns(data, options.by)) {
    const std::vector<std::string> near = nearest_names(name, names, 3);
    errors.push_back({"", 0, 0, "--by " + name, "a column of the file, or " + join_or(derived_columns()),
                      near.empty() ? "none of that name" : "none of that name (did you mean " + join_or(near) + "?)"});
  }
  for (const std::string& wanted : options.gpus) {
    const bool found = std::ranges::any_of(gpus, [&](const auto& gpu) { return is_wanted(gpu.first, gpus, {wanted}); });
    std::vector<std::string> known;
    for (const auto& [name, spec] : gpus) known.push_back(name);
    if (!found)
      errors.push_back(
          {"", 0, 0, "--gpu " + wanted, "a GPU of the data (" + join_or(known) + ")", "none of that name"});
  }
  return errors;
}

void count(Validation& result) {
  for (const Outcome& outcome : result.outcomes) {
    switch (outcome.status) {
      case Status::predicted: ++result.predicted; break;
      case Status::skipped: ++result.skipped; break;
      case Status::filtered: ++result.filtered; break;
    }
  }
}

}  // namespace

Result<Validation> validate(const std::vector<std::string>& paths, const ValidateOptions& options,
                            const Simulator& simulator) {
  const auto start = std::chrono::steady_clock::now();
  Result<MeasuredData> data = read_measured(paths);
  if (!data) return data.errors();
  Validation result;
  result.data = std::move(*data);
  const Gpus gpus = load_gpus(result.data, options);
  if (Diagnostics errors = check_request(result.data, gpus, options); !errors.empty()) return errors;

  const std::vector<bool> beyond = beyond_sample(result.data, options);
  result.outcomes.resize(result.data.rows.size());
  share_work(result.outcomes.size(), options.jobs, options.progress, [&](std::size_t i) {
    result.outcomes[i] =
        beyond[i] ? filtered("beyond the sample") : judge(result.data, result.data.rows[i], gpus, options, simulator);
  });
  count(result);
  result.groups = group_rows(result.data, result.outcomes, options.by);
  const std::vector<Group> all = group_rows(result.data, result.outcomes, {});
  if (!all.empty()) result.all = all.front();
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace noteg::validate
