// noteg simulate: one kernel on one GPU.
#include "sim/chip/simulate.hpp"
#include "sim/cli/assembly_run.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/report/write.hpp"
#include "sim/support/quantity_text.hpp"

namespace noteg::cli {
namespace {

std::vector<Option> options() {
  std::vector<Option> all{{"arch", "ARCH", "GPU: a name (`noteg arch list`) or a file", false}};
  for (Option& option : kernel_options()) all.push_back(std::move(option));
  for (Option& option : assembly_options()) all.push_back(std::move(option));
  all.push_back({"exact", "", "step through everything, extrapolate nothing", false});
  all.push_back({"l2", "STATE", "cold or warm (default): A and B lie in L2 at the start, as far as they fit", false});
  all.push_back({"clock", "HZ", "SM clock such as 1.4GHz instead of the GPU file's", false});
  all.push_back({"format", "F", "text (default), json or csv", false});
  all.push_back({"jobs", "N", "threads; one kernel needs one", false});
  all.push_back({"quiet", "", "nothing on standard error but mistakes", false});
  return all;
}

chip::SimOptions sim_options(const Arguments& arguments, Diagnostics& errors) {
  chip::SimOptions options;
  options.exact = arguments.has("exact");
  if (const std::optional<std::string> l2 = arguments.text("l2")) {
    if (*l2 == "cold")
      options.l2 = chip::L2State::cold;
    else if (*l2 != "warm")
      errors.push_back({"", 0, 0, "--l2", "cold or warm", "\"" + *l2 + "\""});
  }
  if (const std::optional<std::string> clock = arguments.text("clock")) {
    const Result<Hertz> value = parse_quantity_as<Hertz>(*clock);
    constexpr double least = 1e6, most = 1e10;
    if (!value)
      errors.push_back({"", 0, 0, "--clock", value.errors().front().expected, value.errors().front().found});
    else if (value->value < least || value->value > most)
      errors.push_back({"", 0, 0, "--clock", "1 MHz to 10 GHz", "\"" + *clock + "\""});
    else
      options.sm_clock_mhz = value->value * 1e-6;
  }
  return options;
}

Result<arch::GpuSpec> gpu_of(const Arguments& arguments) {
  const std::optional<std::string> name = arguments.text("arch");
  if (!name) return Diagnostic{"", 0, 0, "--arch", "a GPU", "nothing"};
  return arch::load_gpu(*name, arch_overrides(arguments));
}

int write(const chip::SimReport& report, Format format) {
  switch (format) {
    case Format::text: return print(report::to_text(report));
    case Format::json: return print(report::to_json(report));
    case Format::csv: return print(report::to_csv({report}));
  }
  return failed;
}

}  // namespace

std::string simulate_help() {
  return "usage: noteg simulate --arch ARCH (--kernel FILE | --kernel-name NAME | --family F --tile MxNxK)\n"
         "                      --shape MxNxK [options]\n"
         "       noteg simulate --arch ARCH --asm FILE [--warps N] [--ctas N]\n\nHow one kernel runs on one GPU, and "
         "what limits it.\n\n" +
         help_of(options());
}

int run_simulate(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, options(), {});
  if (!arguments) return refuse("simulate", arguments.errors());
  Diagnostics errors = set_errors(*arguments);
  const Format format = format_option(*arguments, errors);
  const chip::SimOptions sim = sim_options(*arguments, errors);
  (void)count_option(*arguments, "jobs", 1, 4096, errors);
  const Result<arch::GpuSpec> gpu = gpu_of(*arguments);
  if (!gpu) add(errors, gpu.errors());
  if (arguments->has("asm"))
    return errors.empty() ? run_assembly(*arguments, *gpu, format) : refuse("simulate", errors);
  const Result<KernelRequest> kernel = kernel_request(*arguments);
  if (!kernel) add(errors, kernel.errors());
  if (!errors.empty()) return refuse("simulate", errors);

  chip::SmCache cache;
  const Result<chip::SimReport> report = chip::simulate(*gpu, kernel->config, kernel->shape, sim, cache);
  return report ? write(*report, format) : refuse("simulate", report.errors());
}

}  // namespace noteg::cli
