// noteg kernel show: the instruction list of a kernel with control bits, registers, static counts, critical path.
#include "sim/cli/command.hpp"
#include "sim/cli/completion.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/kernel_view.hpp"
#include "sim/sm/instruction_timing.hpp"

namespace noteg::cli {
namespace {

constexpr kernels::GemmShape usual_shape{4096, 4096, 4096, 1};

std::vector<Option> options() {
  std::vector<Option> all = kernel_options();
  all.push_back({"arch", "ARCH", "GPU whose latencies the control bits follow; generic ones if absent", false,
                 FileUse::gpu, arch_values});
  all.push_back({"format", "F", "text (default), json or csv", false, FileUse::none, format_values});
  all.push_back({"quiet", "", "nothing on standard error but mistakes", false});
  return all;
}

Result<kernels::LatencyModel> latencies(const Arguments& arguments, const kernels::KernelConfig& config) {
  const std::optional<std::string> name = arguments.text("arch");
  if (!name) return kernels::LatencyModel{};
  const Result<arch::GpuSpec> gpu = arch::load_gpu(*name, arch_overrides(arguments));
  if (!gpu) return gpu.errors();
  const Result<kernels::KernelConfig> resolved = kernels::resolve(config, usual_shape);
  if (!resolved || !kernels::on_tensor_cores(*resolved)) return sm::latency_model(gpu->sm);
  return sm::latency_model(gpu->sm, kernels::tensor_form_of(*resolved));
}

int show(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, options(), {});
  if (!arguments) return refuse("kernel", arguments.errors());
  Diagnostics errors = set_errors(*arguments);
  refuse_switches(*arguments, errors);
  const Format format = format_option(*arguments, errors);
  const Result<KernelRequest> kernel = kernel_request(*arguments, usual_shape);
  if (!kernel) add(errors, kernel.errors());
  const Result<kernels::LatencyModel> latency =
      latencies(*arguments, kernel ? kernel->config : kernels::KernelConfig{});
  if (!latency) add(errors, latency.errors());
  if (!errors.empty()) return refuse("kernel", errors);

  const Result<KernelView> view = view_of(*kernel, *latency);
  if (!view) return refuse("kernel", view.errors());
  switch (format) {
    case Format::text: return print(view_text(*view));
    case Format::json: return print(view_json(*view));
    case Format::csv: return print(view_csv(*view));
  }
  return failed;
}

}  // namespace

std::vector<Option> kernel_command_options() { return options(); }

std::string kernel_help() {
  return "usage: noteg kernel show (--kernel FILE | --kernel-name NAME | --family F --tile MxNxK) [options]\n\n"
         "The instruction list with control bits, registers, static counts and the critical path.\n"
         "--shape is 4096x4096x4096 if absent: it decides vector widths, not the list's length.\n\n" +
         help_of(options());
}

int run_kernel(const std::vector<std::string>& words) {
  const std::string word = words.empty() ? "" : words.front();
  if (word != "show")
    return refuse("kernel", {{"", 0, 0, "kernel", "show", word.empty() ? "nothing" : "\"" + word + "\""}});
  return show({words.begin() + 1, words.end()});
}

}  // namespace noteg::cli
