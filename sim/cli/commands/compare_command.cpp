// noteg compare: one kernel on several GPUs, or on one GPU under several power limits.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "sim/cli/command.hpp"
#include "sim/cli/commands/runs.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/compare/compare.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/pages/reports.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/quantity_text.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

constexpr std::size_t least_gpus = 2, most_gpus = 12;

// What a comparison of compiled kernels does not have and would ignore.
void refuse_beside_compiled(const Arguments& arguments, Diagnostics& errors) {
  std::vector<std::string> absent{"report"};
  for (const Option& option : kernel_options())
    if (option.name != "set") absent.push_back(option.name);
  for (const std::string& option : absent)
    if (arguments.has(option))
      errors.push_back({"", 0, 0, "--" + option, "a GEMM or attention kernel with it", "a compiled kernel"});
  refuse_kernel_settings(arguments, "a compiled kernel has no such key", errors);
}

int compare_gpus(const Arguments& arguments) {
  Diagnostics errors = set_errors(arguments);
  const Format format = format_option(arguments, errors);
  compare::CompareOptions request;
  apply_clock_options(arguments, request.sim, errors);
  request.sim.switches = switch_options(arguments, errors);
  request.waterfalls = !arguments.has("no-waterfall");
  request.jobs = jobs_option(arguments, errors);
  check_report(arguments, errors);
  const std::vector<std::string> names = arguments.texts("arch");
  const bool two_listings = arguments.texts("sass").size() > 1;
  if (names.size() < (two_listings ? 1 : least_gpus) || names.size() > most_gpus)
    errors.push_back({"", 0, 0, "--arch", "2 to 12 GPUs (or --power-limits with one)", std::to_string(names.size())});
  Result<std::vector<compare::Variant>> gpus = compare::load_variants(names, arch_overrides(arguments));
  if (!gpus) add(errors, gpus.errors());
  if (names_compiled(arguments)) {
    refuse_beside_compiled(arguments, errors);
    if (!errors.empty()) return refuse("compare", errors);
    std::vector<arch::GpuSpec> specs;
    for (const compare::Variant& each : *gpus) specs.push_back(each.gpu);
    return compare_compiled_kernel(arguments, specs, request.sim, format);
  }
  const Result<KernelRequest> kernel = kernel_request(arguments, {}, true);
  if (!kernel) add(errors, kernel.errors());
  if (!errors.empty()) return refuse("compare", errors);

  request.sim.kernel_chosen = kernel->choose;
  gpu::SmCache cache;
  tune::KernelChooser chooser;
  const compare::KernelFor given = [&](const arch::GpuSpec& gpu) {
    return kernel_for(*kernel, gpu, request.sim, chooser);
  };
  const Result<compare::Comparison> comparison =
      compare::compare(std::move(*gpus), given, kernel->shape, request, cache);
  if (!comparison) return refuse("compare", comparison.errors());
  const int status = write_report("compare", arguments, [&] { return pages::compare_report(*comparison); });
  switch (format) {
    case Format::text: return std::max(status, print(compare::to_text(*comparison)));
    case Format::json: return std::max(status, print(compare::to_json(*comparison)));
    case Format::csv: return std::max(status, print(compare::to_csv(*comparison)));
  }
  return failed;
}

}  // namespace

std::vector<Option> compare_options() {
  std::vector<Option> all{
      {"arch", "ARCH",
       "GPU, or a what-if copy of one: l4:l2.size=24MiB:clock.boost=1.5GHz; the first is the one that "
       "others are compared with",
       true, FileUse::gpu, arch_values},
      {"power-limits", "LIST", "one GPU under these board power limits, with commas: 40W,50W,72W", true}};
  for (Option& option : kernel_options()) all.push_back(std::move(option));
  for (Option& option : compiled_options(true)) all.push_back(std::move(option));
  for (Option& option : clock_options()) all.push_back(std::move(option));
  all.push_back({"no-waterfall", "", "only the tables, not what each difference did", false});
  all.push_back(report_option());
  all.push_back({"jobs", "N", "threads, all cores if absent", false});
  all.push_back({"format", "F", "text (default), json or csv", false, FileUse::none, format_values});
  all.push_back({"quiet", "", "nothing on standard error but mistakes", false});
  return all;
}

std::string compare_help() {
  return "usage: noteg compare --arch A --arch B [--arch ...] KERNEL --shape MxNxK [options]\n"
         "       noteg compare --arch A --power-limits 40W,50W,72W KERNEL --shape MxNxK [options]\n\n"
         "One kernel on 2 to 12 GPUs: what comes out, what differs in their files, and what each group of\n"
         "differences did to the first of them. Or on one GPU under several power limits, with the clock\n"
         "of least energy.\n\n" +
         help_of(compare_options());
}

int run_compare(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, compare_options(), {});
  if (!arguments) return refuse("compare", arguments.errors());
  return arguments->has("power-limits") ? compare_power(*arguments) : compare_gpus(*arguments);
}

// --power-limits: one kernel on one GPU under several power limits, and the clock at which it takes the least energy.

namespace {

struct Column {
  std::string name;  // of the case: "50 W", "energy-optimal clock"
  gpu::SimReport report;
};

// The cases as if each were a GPU of its own, for the report.
compare::Comparison side_by_side(const arch::GpuSpec& gpu, const std::vector<Watts>& limits,
                                 const std::vector<Column>& columns) {
  compare::Comparison out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    compare::Variant one{columns[i].name, "", gpu};
    one.gpu.power.limit = i < limits.size() ? limits[i] : *std::ranges::max_element(limits);
    out.variants.push_back(std::move(one));
    out.reports.push_back(columns[i].report);
  }
  return out;
}

std::vector<Watts> power_limits(const Arguments& arguments, Diagnostics& errors) {
  std::vector<Watts> limits;
  const std::vector<std::string> texts = listed(arguments, "power-limits");
  if (texts.empty()) errors.push_back({"", 0, 0, "--power-limits", "watts such as 40W,50W,72W", "nothing"});
  for (const std::string& text : texts) {
    const Result<Watts> limit = parse_quantity_as<Watts>(text);
    if (!limit)
      errors.push_back({"", 0, 0, "--power-limits", limit.errors().front().expected, limit.errors().front().found});
    else
      limits.push_back(*limit);
  }
  return limits;
}

using Run = std::function<Result<gpu::SimReport>(const arch::GpuSpec&, const gpu::SimOptions&)>;

// Energy over the clock falls while idle power is shared out over fewer seconds and rises with the voltage: one valley.
Result<Column> least_energy(const arch::GpuSpec& gpu, const gpu::SimOptions& options, const Run& run) {
  constexpr int steps = 24;
  constexpr double lowest_mhz = 210;
  std::optional<Column> best;
  for (int i = 0; i <= steps; ++i) {
    gpu::SimOptions at_clock = options;
    at_clock.sm_clock_mhz = lowest_mhz + (gpu.clock.sustained.value * 1e-6 - lowest_mhz) * i / steps;
    Result<gpu::SimReport> report = run(gpu, at_clock);
    if (!report) return report.errors();
    if (report->power_w > gpu.power.limit.value) break;
    if (!best || report->energy_mj < best->report.energy_mj) best = Column{"least energy", *report};
  }
  if (!best) return Diagnostic{"", 0, 0, "power.limit", "enough for the lowest clock", "less"};
  return *best;
}

std::string to_text(const std::vector<Column>& columns) {
  std::string text = fmt::format("{:<14}{:>12}{:>11}{:>10}{:>12}{:>13}  {}\n", "limit", "time us", "clock MHz",
                                 "power W", "energy mJ", "GFLOP/s/W", "held down by");
  for (const auto& [name, r] : columns)
    text += fmt::format("{:<14}{:>12.5g}{:>11.0f}{:>10.1f}{:>12.5g}{:>13.1f}  {}\n", name, r.time_us, r.sm_clock_mhz,
                        r.power_w, r.energy_mj, 1e3 * r.tflops_per_w, r.throttle_reason);
  return text;
}

std::string to_json(const std::vector<Column>& columns) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [name, r] : columns)
    rows.push_back({{"case", name},
                    {"arch", r.arch_id},
                    {"time_us", r.time_us},
                    {"sm_clock_mhz", r.sm_clock_mhz},
                    {"power_w", r.power_w},
                    {"energy_mj", r.energy_mj},
                    {"tflops_per_w", r.tflops_per_w},
                    {"throttled", r.throttled},
                    {"throttle_reason", r.throttle_reason}});
  return nlohmann::ordered_json{{"cases", rows}}.dump(2) + "\n";
}

std::string to_csv(const std::vector<Column>& columns) {
  std::string text = "case,arch,time_us,sm_clock_mhz,power_w,energy_mj,tflops_per_w,throttled\n";
  for (const auto& [name, r] : columns)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(name), csv_field(r.arch_id), r.time_us, r.sm_clock_mhz,
                        r.power_w, r.energy_mj, r.tflops_per_w, r.throttled);
  return text;
}

Result<std::vector<Column>> compare(const arch::GpuSpec& gpu, const std::vector<Watts>& limits,
                                    const gpu::SimOptions& options, const Run& run) {
  std::vector<Column> columns;
  for (const Watts limit : limits) {
    arch::GpuSpec limited = gpu;
    limited.power.limit = limit;
    Result<gpu::SimReport> report = run(limited, options);
    if (!report) return report.errors();
    columns.push_back({format_quantity(limit), std::move(*report)});
  }
  arch::GpuSpec widest = gpu;
  widest.power.limit = *std::max_element(limits.begin(), limits.end());
  Result<Column> best = least_energy(widest, options, run);
  if (!best) return best.errors();
  // The clocks that the limits allow lie between the steps.
  for (const Column& column : columns) {
    if (column.report.energy_mj < best->report.energy_mj) best->report = column.report;
  }
  columns.push_back(std::move(*best));
  return columns;
}

}  // namespace

int compare_power(const Arguments& arguments) {
  Diagnostics errors = set_errors(arguments);
  const Format format = format_option(arguments, errors);
  const std::vector<Watts> limits = power_limits(arguments, errors);
  gpu::SimOptions sim;
  apply_clock_options(arguments, sim, errors);
  sim.switches = switch_options(arguments, errors);
  for (const char* option : {"clock", "clock-mode"})
    if (arguments.has(option))
      errors.push_back({"", 0, 0, std::string("--") + option, "nothing beside --power-limits, which decide it", "it"});
  for (const char* option : {"sass", "cubin", "launch", "strict"})
    if (arguments.has(option))
      errors.push_back({"", 0, 0, std::string("--") + option, "no --power-limits beside it", "both"});
  const std::vector<std::string> names = arguments.texts("arch");
  if (names.size() != 1)
    errors.push_back({"", 0, 0, "--arch", "one GPU with --power-limits", names.empty() ? "none" : "several"});
  const Result<arch::GpuSpec> gpu =
      names.size() == 1 ? arch::load_gpu(names.front(), arch_overrides(arguments)) : arch::GpuSpec{};
  if (!gpu) add(errors, gpu.errors());
  for (const Watts limit : limits)
    if (gpu && limit <= gpu->power.idle)
      errors.push_back({"", 0, 0, "--power-limits", "more than the idle power of " + format_quantity(gpu->power.idle),
                        format_quantity(limit)});
  const Result<KernelRequest> kernel = kernel_request(arguments);
  if (!kernel) add(errors, kernel.errors());
  check_report(arguments, errors);
  if (!errors.empty()) return refuse("compare", errors);
  gpu::SmCache cache;
  const Result<std::vector<Column>> columns =
      compare(*gpu, limits, sim, [&](const arch::GpuSpec& limited, const gpu::SimOptions& at) {
        return gpu::simulate(limited, kernel->config, kernel->shape, at, cache);
      });
  if (!columns) return refuse("compare", columns.errors());
  const int status =
      write_report("compare", arguments, [&] { return pages::compare_report(side_by_side(*gpu, limits, *columns)); });
  switch (format) {
    case Format::text: return std::max(status, print(to_text(*columns)));
    case Format::json: return std::max(status, print(to_json(*columns)));
    case Format::csv: return std::max(status, print(to_csv(*columns)));
  }
  return failed;
}

}  // namespace noteg::cli
