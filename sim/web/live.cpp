#include "sim/web/live.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

#include "arch/load.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/compare/compare.hpp"
#include "sim/compiled/write_json.hpp"
#include "sim/report/write.hpp"
#include "sim/trace/recording.hpp"

namespace noteg::web {

namespace {

using Json = nlohmann::ordered_json;

constexpr int runs_kept = 3000;  // then the cache starts anew: a page may stay open for days

// What charts need beside the report: roofs, and the limits of the GPU.
Json facts_of(const arch::GpuSpec& gpu, const gpu::SimReport& r) {
  const double cycles_per_second = r.sm_clock_mhz * 1e6, sms = gpu.sms;
  const double shared = gpu.sm.memory.data_width.value * sms;
  return {{"name", gpu.name},
          {"sms", gpu.sms},
          {"sub_cores", gpu.sm.sub_cores},
          {"max_warps", gpu.sm.occupancy.max_warps},
          {"grid_ctas", r.grid_ctas},
          {"registers_per_thread", r.registers_per_thread},
          {"shared_bytes_per_cta", r.shared_bytes_per_cta},
          {"tile", {r.kernel.tile.m, r.kernel.tile.n, r.kernel.tile.k}},
          {"peak_tflops", r.pct_of_peak > 0 ? 100 * r.tflops / r.pct_of_peak : r.tflops},
          {"dram_gb_per_s", gpu.dram.bandwidth.value * 1e-9},
          {"dram_read_gb_per_s", gpu.dram.bandwidth.value * gpu.dram.read_efficiency * 1e-9},
          {"l2_gb_per_s", gpu.l2.read_bandwidth.value * cycles_per_second * 1e-9},
          {"shared_gb_per_s", shared * cycles_per_second * 1e-9},
          {"l2_mib", gpu.l2.size.value / 1048576},
          {"boost_mhz", gpu.clock.boost.value * 1e-6},
          {"power_limit_w", gpu.power.limit.value}};
}

std::vector<std::string> strings(const Json& list) {
  std::vector<std::string> out;
  for (const Json& each : list) out.push_back(each.get<std::string>());
  return out;
}

}  // namespace

std::string errors_json(const Diagnostics& errors) {
  Json lines = Json::array();
  for (const Diagnostic& error : errors) lines.push_back(error.to_string());
  return Json{{"errors", lines}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<arch::GpuSpec> Live::gpu_of(const cli::Arguments& arguments) {
  const std::vector<std::string> names = arguments.texts("arch");
  if (names.size() != 1) return Diagnostic{"", 0, 0, "--arch", "a GPU", names.empty() ? "nothing" : "several"};
  const arch::Overrides overrides = cli::arch_overrides(arguments);
  std::string key = names.front();
  for (const auto& [name, value] : overrides) key += "\n" + name + "=" + value;
  if (const auto known = gpus_.find(key); known != gpus_.end()) return known->second;
  Result<arch::GpuSpec> gpu = arch::load_gpu(names.front(), overrides);
  if (!gpu) return gpu;
  if (gpus_.size() > 200) gpus_.clear();
  return gpus_.emplace(key, std::move(*gpu)).first->second;
}

Result<Job> Live::job_of(const std::vector<std::string>& words) {
  const Result<cli::Arguments> arguments = cli::parse_arguments(words, known_options(), {});
  if (!arguments) return arguments.errors();
  Diagnostics errors = cli::set_errors(*arguments);
  gpu::SimOptions options;
  options.exact = arguments->has("exact");
  options.switches = cli::switch_options(*arguments, errors);
  cli::apply_clock_options(*arguments, options, errors);
  const Result<arch::GpuSpec> gpu = gpu_of(*arguments);
  if (!gpu) cli::add(errors, gpu.errors());
  const Result<cli::KernelRequest> request = cli::kernel_request(*arguments);
  if (!request) cli::add(errors, request.errors());
  if (!errors.empty()) return errors;
  return Job{*gpu, request->config, request->shape, options};
}

gpu::SmCache& Live::cache() {
  if (!cache_ || ++runs_ > runs_kept) {
    cache_ = std::make_unique<gpu::SmCache>();
    runs_ = 0;
  }
  return *cache_;
}

std::string Live::run(const Job& job, const std::string& depth) {
  if (depth == "fast") {
    gpu::SimOptions options = job.options;
    options.many_shapes = true;
    const Result<gpu::SimReport> report = gpu::simulate(job.gpu, job.kernel, job.shape, options, cache());
    if (!report) return errors_json(report.errors());
    return facts_of(job.gpu, *report).dump() + "\n" + report::to_json(*report);
  }
  const bool whole_table = depth == "explain";
  const Result<gpu::Explanation> explained =
      gpu::explain(job.gpu, job.kernel, job.shape, job.options, cache(),
                   whole_table ? gpu::Experiments::all : gpu::Experiments::decisive);
  if (!explained) return errors_json(explained.errors());
  return facts_of(job.gpu, explained->report).dump() + "\n" +
         (whole_table ? report::explanation_json(*explained) : report::to_json(explained->report));
}

std::string Live::points(const Job& job, const std::string& axis, const std::vector<std::int64_t>& values) {
  Json rows = Json::array();
  for (const std::int64_t value : values) {
    kernels::GemmShape shape = job.shape;
    (axis == "m" ? shape.m : axis == "n" ? shape.n : shape.k) = value;
    const Result<gpu::SimReport> r = gpu::simulate(job.gpu, job.kernel, shape, job.options, cache());
    if (!r) {
      rows.push_back({{"at", value}, {"tflops", nullptr}});
      continue;
    }
    rows.push_back({{"at", value},
                    {"tflops", r->tflops},
                    {"time_us", r->time_us},
                    {"waves", r->occupancy.waves},
                    {"power_w", r->power_w}});
  }
  return Json{{"points", rows}}.dump();
}

std::string Live::watch(const Job& job, std::int64_t first, std::int64_t last) {
  const Result<gpu::SimReport> report = gpu::simulate(job.gpu, job.kernel, job.shape, job.options, cache());
  if (!report) return errors_json(report.errors());
  Result<gpu::Recording> recording = gpu::record(*report, {first, last});
  if (!recording) recording = gpu::record(*report, {0, 1});  // a loop shorter than the window is shown whole
  if (!recording) return errors_json(recording.errors());
  return watched(*recording, job.gpu);
}

std::string Live::compare(const std::vector<std::string>& words) {
  const Result<cli::Arguments> arguments = cli::parse_arguments(words, known_options(), {});
  if (!arguments) return errors_json(arguments.errors());
  Diagnostics errors = cli::set_errors(*arguments);
  compare::CompareOptions options;
  cli::apply_clock_options(*arguments, options.sim, errors);
  options.sim.switches = cli::switch_options(*arguments, errors);
  Result<std::vector<compare::Variant>> gpus =
      compare::load_variants(arguments->texts("arch"), cli::arch_overrides(*arguments));
  if (!gpus) cli::add(errors, gpus.errors());
  const Result<cli::KernelRequest> kernel = cli::kernel_request(*arguments);
  if (!kernel) cli::add(errors, kernel.errors());
  if (!errors.empty()) return errors_json(errors);
  const compare::KernelFor given = [&](const arch::GpuSpec&) { return kernel->config; };
  const Result<compare::Comparison> comparison =
      compare::compare(std::move(*gpus), given, kernel->shape, options, cache());
  return comparison ? compare::to_json(*comparison) : errors_json(comparison.errors());
}

std::string Live::compiled(const std::string& ask, const std::vector<std::string>& words,
                           const cli::Arguments& arguments) {
  Diagnostics errors = cli::set_errors(arguments);
  gpu::SimOptions options;
  options.exact = arguments.has("exact");
  options.switches = cli::switch_options(arguments, errors);
  cli::apply_clock_options(arguments, options, errors);
  const Result<arch::GpuSpec> gpu = gpu_of(arguments);
  if (!gpu) cli::add(errors, gpu.errors());
  if (!arguments.has("launch")) errors.push_back({"", 0, 0, "--launch", "how the kernel is launched", "nothing"});
  if (!errors.empty()) return errors_json(errors);
  const auto job = compiled_.job(words, *arguments.text("sass"), *arguments.text("launch"), *gpu, options);
  if (!job) return errors_json(job.errors());
  if (ask == "run")
    return facts_of(*gpu, (*job)->run.report).dump() + "\n" + noteg::compiled::to_json((*job)->run, (*job)->launch);
  if (ask == "watch") return watched(**job);
  if (ask == "occupancy") return occupancy_curves(*gpu, (*job)->run.report);
  return errors_json({{"", 0, 0, "ask", "run, watch or occupancy for compiled code", "\"" + ask + "\""}});
}

std::string Live::answer(const std::string& question) {
  try {
    const Json asked = Json::parse(question);
    const std::string ask = asked.at("ask");
    if (ask == "about") return about();
    const std::vector<std::string> words = strings(asked.at("words"));
    if (ask == "compare") return compare(words);
    if (std::ranges::find(words, "--sass") != words.end()) {
      const Result<cli::Arguments> arguments = cli::parse_arguments(words, known_options(), {});
      return arguments ? compiled(ask, words, *arguments) : errors_json(arguments.errors());
    }
    const Result<Job> job = job_of(words);
    if (!job) return errors_json(job.errors());
    if (ask == "run") return run(*job, asked.value("depth", "full"));
    if (ask == "points") return points(*job, asked.at("axis"), asked.at("values"));
    if (ask == "watch") return watch(*job, asked.at("first"), asked.at("last"));
    if (ask == "occupancy") {
      const Result<gpu::SimReport> report = gpu::simulate(job->gpu, job->kernel, job->shape, job->options, cache());
      return report ? occupancy_curves(job->gpu, *report) : errors_json(report.errors());
    }
    return errors_json({{"", 0, 0, "ask", "a known question", "\"" + ask + "\""}});
  } catch (const std::exception& error) {
    return errors_json({{"", 0, 0, "question", "JSON as sim/web/live.hpp says", error.what()}});
  }
}

}  // namespace noteg::web

// The one function that JavaScript calls: a question in, an answer out, both JSON texts in UTF-8 (sim/web/live.hpp).
// The answer stays valid until the next question.

extern "C" const char* noteg_answer(const char* question) {
  static noteg::web::Live live;  // of this instance, which belongs to one worker
  static std::string answer;
  answer = live.answer(question);
  return answer.c_str();
}
