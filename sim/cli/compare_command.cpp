// noteg compare: one kernel on several GPUs, or on one GPU under several power limits.
#include <algorithm>

#include "sim/cli/auto_kernel.hpp"
#include "sim/cli/clock_options.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/compare_power.hpp"
#include "sim/cli/compiled_run.hpp"
#include "sim/cli/completion.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/report_file.hpp"
#include "sim/compare/compare.hpp"
#include "sim/compare/write.hpp"
#include "sim/pages/reports.hpp"

namespace noteg::cli {
namespace {

constexpr std::size_t least_gpus = 2, most_gpus = 12;

std::vector<Option> options() {
  std::vector<Option> all{
      {"arch", "ARCH",
       "GPU, or a what-if copy of one: l4:l2.size=24MiB:clock.boost=1.5GHz; the first is the one that "
       "others are compared with",
       true, FileUse::gpu, arch_values},
      {"power-limits", "LIST", "one GPU under these board power limits, with commas: 40W,50W,72W", false}};
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
  Result<std::vector<compare::Contestant>> gpus = compare::load_contestants(names, arch_overrides(arguments));
  if (!gpus) add(errors, gpus.errors());
  if (names_compiled(arguments)) {
    if (!errors.empty()) return refuse("compare", errors);
    std::vector<arch::GpuSpec> specs;
    for (const compare::Contestant& each : *gpus) specs.push_back(each.gpu);
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
  const int status = write_report(arguments, [&] { return pages::compare_report(*comparison); });
  switch (format) {
    case Format::text: return std::max(status, print(compare::to_text(*comparison)));
    case Format::json: return std::max(status, print(compare::to_json(*comparison)));
    case Format::csv: return std::max(status, print(compare::to_csv(*comparison)));
  }
  return failed;
}

}  // namespace

std::vector<Option> compare_options() { return options(); }

std::string compare_help() {
  return "usage: noteg compare --arch A --arch B [--arch ...] KERNEL --shape MxNxK [options]\n"
         "       noteg compare --arch A --power-limits 40W,50W,72W KERNEL --shape MxNxK [options]\n\n"
         "One kernel on 2 to 12 GPUs: what comes out, what differs in their files, and what each group of\n"
         "differences did to the first of them. Or on one GPU under several power limits, with the clock\n"
         "of least energy.\n\n" +
         help_of(options());
}

int run_compare(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, options(), {});
  if (!arguments) return refuse("compare", arguments.errors());
  return arguments->has("power-limits") ? compare_power(*arguments) : compare_gpus(*arguments);
}

}  // namespace noteg::cli
