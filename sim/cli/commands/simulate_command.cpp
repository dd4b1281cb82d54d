// noteg simulate: one kernel on one GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "sim/cli/command.hpp"
#include "sim/cli/commands/runs.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/limits/explain.hpp"
#include "sim/gpu/limits/switches.hpp"
#include "sim/gpu/operating_point.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/pages/reports.hpp"
#include "sim/power/clock.hpp"
#include "sim/report/write.hpp"
#include "sim/serve/session.hpp"
#include "sim/support/quantity_text.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

std::string as_text() {
  std::string text = "--set NAME=VALUE takes a limit away; the first value is the default.\n";
  for (const gpu::SwitchInfo& row : gpu::switch_table()) {
    text += fmt::format("\n{} = {}\n  {}\n  {}\n", row.name, fmt::join(row.values, " | "), row.sentence, row.removes);
  }
  return text;
}

std::string as_json() {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const gpu::SwitchInfo& row : gpu::switch_table()) {
    json.push_back({{"name", row.name},
                    {"values", row.values},
                    {"default", row.values.front()},
                    {"models", row.sentence},
                    {"removes", row.removes}});
  }
  return json.dump(2) + "\n";
}

std::string as_csv() {
  std::string text = "name,values,default,models,removes\n";
  for (const gpu::SwitchInfo& row : gpu::switch_table()) {
    text += fmt::format("{},{},{},\"{}\",\"{}\"\n", row.name, fmt::join(row.values, " "), row.values.front(),
                        row.sentence, row.removes);
  }
  return text;
}

}  // namespace

int list_switches(Format format) {
  switch (format) {
    case Format::text: return print(as_text());
    case Format::json: return print(as_json());
    case Format::csv: return print(as_csv());
  }
  return failed;
}

namespace {

gpu::SimOptions simulate_sim_options(const Arguments& arguments, Diagnostics& errors) {
  gpu::SimOptions options;
  options.exact = arguments.has("exact");
  options.switches = switch_options(arguments, errors);
  apply_clock_options(arguments, options, errors);
  options.jobs = jobs_option(arguments, errors);
  return options;
}

Result<std::shared_ptr<const arch::GpuSpec>> gpu_of(const Arguments& arguments, serve::Session& session) {
  const std::optional<std::string> name = arguments.text("arch");
  if (!name) return Diagnostic{"", 0, 0, "--arch", "a GPU", "nothing"};
  return session.gpu(*name, arch_overrides(arguments));
}

// The run, and what limits it as closely as was asked.
Result<gpu::Explanation> run_of(const Arguments& arguments, const arch::GpuSpec& gpu,
                                const kernels::KernelConfig& config, const kernels::GemmShape& shape,
                                const gpu::SimOptions& sim, gpu::SmCache& cache) {
  if (!arguments.has("estimate"))
    return gpu::explain(gpu, config, shape, sim, cache,
                        arguments.has("explain") ? gpu::Experiments::all : gpu::Experiments::decisive);
  Result<gpu::SimReport> report = gpu::simulate(gpu, config, shape, sim, cache);
  if (!report) return report.errors();
  return gpu::Explanation{std::move(*report), {}, {}};
}

int write(const gpu::SimReport& report, const std::string& timeline, Format format) {
  switch (format) {
    case Format::text: {  // a timeline may hold colours, and nothing that a file wrote
      const int status = print(report::to_text(report));
      return timeline.empty() ? status : std::max(status, write_file("-", timeline));
    }
    case Format::json: return print(report::to_json(report));
    case Format::csv: return print(report::to_csv({report}));
  }
  return failed;
}

}  // namespace

std::vector<Option> simulate_options() {
  std::vector<Option> all{
      {"arch", "ARCH", "GPU: a name (`noteg arch list`) or a file", false, FileUse::gpu, arch_values}};
  for (Option& option : kernel_options()) all.push_back(std::move(option));
  for (Option& option : assembly_options()) all.push_back(std::move(option));
  for (Option& option : compiled_options()) all.push_back(std::move(option));
  for (Option& option : operator_options()) all.push_back(std::move(option));
  all.push_back({"accelsim-trace", "DIR",
                 "with --sass: writes kernelslist.g and kernel-1.traceg, which Accel-Sim reads", false,
                 FileUse::output});
  all.push_back({"stalls", "FILE",
                 "of compiled code: what each instruction costs and its warps wait for, as CSV (- prints it)", false,
                 FileUse::output});
  all.push_back({"exact", "", "step through everything, extrapolate nothing", false});
  for (Option& option : clock_options()) all.push_back(std::move(option));
  all.push_back({"power-trace", "FILE",
                 "writes power, clock and temperature over time of the kernel repeated from idle", false,
                 FileUse::output});
  all.push_back(report_option());
  for (Option& option : trace_options()) all.push_back(std::move(option));
  all.push_back({"list-switches", "", "the limits that --set can take away, and nothing else", false});
  all.push_back({"explain", "", "take limits away one by one and say what each of them costs", false});
  all.push_back({"estimate", "", "the limit by an estimate and not by experiments: several times faster", false});
  all.push_back({"format", "F", "text (default), json or csv", false, FileUse::none, format_values});
  all.push_back({"jobs", "N", "threads, all cores if absent; one kernel has work for a few", false});
  all.push_back({"quiet", "", "nothing on standard error but mistakes", false});
  return all;
}

std::string simulate_help() {
  return "usage: noteg simulate --arch ARCH (--kernel FILE | --kernel-name NAME | --family F --tile MxNxK)\n"
         "                      --shape MxNxK [options]\n"
         "       noteg simulate --list-switches\n"
         "       noteg simulate --arch ARCH --sass FILE --launch FILE [--stalls FILE]\n"
         "       noteg simulate --arch ARCH (--memory LINE | --experts LINE)\n"
         "       noteg simulate --arch ARCH --asm FILE [--warps N] [--ctas N]\n\nHow one kernel runs on one GPU, and "
         "what limits it.\n\n" +
         help_of(simulate_options());
}

int run_simulate(const std::vector<std::string>& words) {
  serve::Session session;
  return run_simulate(words, session);
}

namespace {

// What a command line can run, and the options that each of them heeds beside those of all.
struct Runnable {
  std::string text;
  std::vector<std::string> named_by;  // the options that ask for it; of a GEMM any other
  std::vector<std::string> heeds;
};

constexpr std::string_view of_all[] = {"arch", "set", "exact", "list-switches", "format", "jobs", "quiet"};

std::vector<std::string> names_of(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.name);
  return names;
}

std::vector<std::string> operator+(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

std::vector<Runnable> runnables() {
  const std::vector<std::string> clocks = names_of(clock_options());
  const std::vector<std::string> watched = names_of(trace_options()) + std::vector<std::string>{"report", "estimate"};
  using Names = std::vector<std::string>;
  return {
      {"a GEMM or attention kernel",
       {},
       names_of(kernel_options()) + clocks + watched + Names{"explain", "power-trace"}},
      {"assembly", {"asm"}, names_of(assembly_options())},
      {"a compiled kernel",
       {"sass", "cubin", "launch"},
       names_of(compiled_options()) + clocks + watched + Names{"accelsim-trace", "stalls"}},
      {"a memory kernel or experts", {"memory", "experts"}, names_of(operator_options()) + clocks + Names{"estimate"}}};
}

// What is run does not have it and would ignore it.
void check_beside(const Arguments& arguments, Diagnostics& errors) {
  const std::vector<Runnable> all = runnables();
  const auto named = std::ranges::find_if(all, [&](const Runnable& one) {
    return std::ranges::any_of(one.named_by, [&](const std::string& name) { return arguments.has(name); });
  });
  const Runnable& run = named == all.end() ? all.front() : *named;
  const auto heeds = [](const Runnable& one, const std::string& option) {
    return std::ranges::find(one.heeds, option) != one.heeds.end();
  };
  for (const auto& [option, value] : arguments.given()) {
    if (std::ranges::find(of_all, option) != std::end(of_all) || heeds(run, option)) continue;
    std::vector<std::string> others;
    for (const Runnable& other : all)
      if (heeds(other, option)) others.push_back(other.text);
    errors.push_back({"", 0, 0, "--" + option, join_or(others) + " with it", run.text});
  }
  if (!run.named_by.empty()) refuse_kernel_settings(arguments, run.text + " has no such key", errors);
  if (arguments.has("explain") && arguments.has("power-trace"))
    errors.push_back({"", 0, 0, "--power-trace", "no --explain beside it", "both"});
}

}  // namespace

int run_simulate(const std::vector<std::string>& words, serve::Session& session) {
  const Result<Arguments> arguments = parse_arguments(words, simulate_options(), {});
  if (!arguments) return refuse("simulate", arguments.errors());
  Diagnostics errors = set_errors(*arguments);
  const Format format = format_option(*arguments, errors);
  if (arguments->has("list-switches")) return errors.empty() ? list_switches(format) : refuse("simulate", errors);
  const bool whole_table = arguments->has("explain");
  gpu::SimOptions sim = simulate_sim_options(*arguments, errors);
  check_report(*arguments, errors);
  check_trace(*arguments, format, errors);
  check_beside(*arguments, errors);
  if (arguments->has("estimate") && whole_table)
    errors.push_back({"", 0, 0, "--estimate", "no --explain beside it", "both"});
  const Result<std::shared_ptr<const arch::GpuSpec>> found = gpu_of(*arguments, session);
  if (!found) add(errors, found.errors());
  const arch::GpuSpec* gpu = found ? found->get() : nullptr;
  if (arguments->has("asm"))
    return errors.empty() ? run_assembly(*arguments, *gpu, sim.switches, format) : refuse("simulate", errors);
  if (names_compiled(*arguments))
    return errors.empty() ? simulate_compiled_kernel(*arguments, *gpu, sim, format) : refuse("simulate", errors);
  if (names_operator(*arguments))
    return errors.empty() ? run_operator(*arguments, *gpu, sim, format) : refuse("simulate", errors);
  const Result<KernelRequest> request = kernel_request(*arguments, {}, true);
  if (!request) add(errors, request.errors());
  if (!errors.empty()) return refuse("simulate", errors);

  sim.kernel_chosen = request->choose;
  const std::shared_ptr<serve::Caches> caches = session.caches();
  const Result<kernels::KernelConfig> config = kernel_for(*request, *gpu, sim, caches->chooser);
  if (!config) return refuse("simulate", config.errors());
  const Result<gpu::Explanation> explained = run_of(*arguments, *gpu, *config, request->shape, sim, caches->runs);
  if (!explained) return refuse("simulate", explained.errors());
  if (whole_table) {
    const int status = write_report("simulate", *arguments,
                                    [&] { return pages::simulate_report(*gpu, explained->report, *explained); });
    return std::max(status, print(format == Format::json  ? report::explanation_json(*explained)
                                  : format == Format::csv ? report::explanation_csv(*explained)
                                                          : report::explanation_text(*explained)));
  }
  const gpu::SimReport* report = &explained->report;
  if (const std::optional<std::string> path = arguments->text("power-trace")) {
    const power::ClockRequest at = gpu::clock_request(*gpu, sim);
    if (const int status = write_file(*path, power::to_csv(power::power_trace(at, report->activity_at)));
        status != done)
      return status;
  }
  std::string timeline;
  int status = trace_run(
      *arguments, *report, *gpu, [&](const gpu::IterationWindow& window) { return gpu::record(*report, window); },
      timeline);
  if (status == wrong_input) return status;
  status =
      std::max(status, write_report("simulate", *arguments, [&] { return pages::simulate_report(*gpu, *report); }));
  return std::max(status, write(*report, timeline, format));
}

}  // namespace noteg::cli
