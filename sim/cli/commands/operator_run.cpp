#include "sim/cli/commands/runs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/operators/expert_layer.hpp"
#include "sim/operators/memory_kernel.hpp"

namespace noteg::cli {
namespace {

using operators::Step;

Result<std::vector<Step>> steps_of(const Arguments& arguments, const arch::GpuSpec& gpu,
                                   const gpu::SimOptions& options) {
  gpu::SmCache cache;
  if (const std::optional<std::string> line = arguments.text("experts")) {
    const Result<operators::ExpertLayer> layer = operators::expert_layer_from(*line);
    if (!layer) return layer.errors();
    return operators::simulate_experts(gpu, *layer, options, cache);
  }
  const Result<operators::MemoryKernel> kernel = operators::memory_kernel_from(*arguments.text("memory"));
  if (!kernel) return kernel.errors();
  Result<gpu::SimReport> report = operators::simulate_memory(gpu, *kernel, options, cache);
  if (!report) return report.errors();
  return std::vector<Step>{{"memory kernel", std::move(*report)}};
}

struct Sum {
  double time_us = 0, energy_mj = 0;
};

Sum sum_of(const std::vector<Step>& steps) {
  Sum sum;
  for (const Step& step : steps) sum.time_us += step.report.time_us, sum.energy_mj += step.report.energy_mj;
  return sum;
}

std::string text_of(const arch::GpuSpec& gpu, const std::vector<Step>& steps) {
  const Sum sum = sum_of(steps);
  std::string out = fmt::format("{}: {:.4g} us, {:.4g} mJ\n\n{:<26}{:>12}{:>10}{:>12}{:>12}  {}\n", gpu.name,
                                sum.time_us, sum.energy_mj, "kernel", "time", "CTAs", "DRAM", "TFLOP/s", "limited by");
  for (const Step& step : steps)
    out += fmt::format("{:<26}{:>9.2f} us{:>10}{:>7.0f} GB/s{:>12.3g}  {}\n", step.name, step.report.time_us,
                       step.report.grid_ctas, step.report.memory.dram_bytes_per_second * 1e-9, step.report.tflops,
                       step.report.bottleneck.name);
  return out;
}

std::string json_of(const arch::GpuSpec& gpu, const std::vector<Step>& steps) {
  const Sum sum = sum_of(steps);
  nlohmann::ordered_json out{{"arch", gpu.id},
                             {"time_us", sum.time_us},
                             {"energy_mj", sum.energy_mj},
                             {"steps", nlohmann::ordered_json::array()}};
  for (const Step& step : steps)
    out["steps"].push_back({{"name", step.name},
                            {"time_us", step.report.time_us},
                            {"cycles", step.report.cycles},
                            {"ctas", step.report.grid_ctas},
                            {"tflops", step.report.tflops},
                            {"power_w", step.report.power_w},
                            {"energy_mj", step.report.energy_mj},
                            {"dram_read_bytes", step.report.memory.dram_read_bytes},
                            {"dram_write_bytes", step.report.memory.dram_write_bytes},
                            {"bottleneck", step.report.bottleneck.name}});
  return out.dump(1) + "\n";
}

std::string csv_of(const std::vector<Step>& steps) {
  std::string out = "name,time_us,cycles,ctas,tflops,energy_mj,dram_read_bytes,dram_write_bytes,bottleneck\n";
  for (const Step& step : steps)
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", step.name, step.report.time_us, step.report.cycles,
                       step.report.grid_ctas, step.report.tflops, step.report.energy_mj,
                       step.report.memory.dram_read_bytes, step.report.memory.dram_write_bytes,
                       step.report.bottleneck.name);
  return out;
}

}  // namespace

std::vector<Option> operator_options() {
  return {
      {"memory", "LINE", "a kernel that moves bytes: \"softmax rows=8192 columns=4096 in=bf16\"", false},
      {"experts", "LINE",
       "a layer of experts: \"tokens=512 experts=128 topk=8 hidden=4096 intermediate=768 routing=balanced\"", false}};
}

bool names_operator(const Arguments& arguments) { return arguments.has("memory") || arguments.has("experts"); }

int run_operator(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::SimOptions& options, Format format) {
  if (arguments.has("memory") && arguments.has("experts"))
    return refuse("simulate", {{"", 0, 0, "--memory", "no --experts beside it", "both"}});
  const Result<std::vector<Step>> steps = steps_of(arguments, gpu, options);
  if (!steps) return refuse("simulate", steps.errors());
  switch (format) {
    case Format::text: return print(text_of(gpu, *steps));
    case Format::json: return print(json_of(gpu, *steps));
    case Format::csv: return print(csv_of(*steps));
  }
  return failed;
}

}  // namespace noteg::cli
