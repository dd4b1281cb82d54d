// noteg tune: the best kernel configurations for a problem, or for every line of a file of problems.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "kernels/config/config_file.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/triton/triton.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/pages/reports.hpp"
#include "sim/tune/problem.hpp"
#include "sim/tune/tune.hpp"

namespace noteg::cli {
namespace {

struct TuneRequest {
  std::vector<tune::CountedProblem> problems;
  tune::TuneOptions options;
  Format format = Format::text;
};

template <class Value, class From>
void choose(const Arguments& arguments, const char* name, const char* expected, From from, Value& value,
            Diagnostics& errors) {
  const std::optional<std::string> text = arguments.text(name);
  if (!text) return;
  if (const auto chosen = from(*text))
    value = *chosen;
  else
    errors.push_back({"", 0, 0, std::string("--") + name, expected, "\"" + *text + "\""});
}

kernels::KernelConfig frame_of(const Arguments& arguments, Diagnostics& errors) {
  kernels::KernelConfig frame;
  kernels::DataType type = kernels::DataType::f32;
  choose(arguments, "dtype", "f32, tf32, f16, bf16, f8e4m3, f8e5m2, s8 or s4", kernels::data_type_from, type, errors);
  tune::set_types(frame, type);
  choose(arguments, "layout", "nn, nt, tn or tt", kernels::layout_from, frame.layout, errors);
  return frame;
}

std::vector<tune::CountedProblem> problems_of(const Arguments& arguments, Diagnostics& errors) {
  const kernels::KernelConfig frame = frame_of(arguments, errors);
  if (arguments.has("shape") == arguments.has("shapes")) {
    errors.push_back({"", 0, 0, "--shape, --shapes", "exactly one of them", arguments.has("shape") ? "both" : "none"});
    return {};
  }
  if (arguments.has("shapes")) {
    const Result<std::vector<tune::CountedProblem>> read = tune::read_shapes(*arguments.text("shapes"), frame);
    if (read) return *read;
    add(errors, read.errors());
    return {};
  }
  tune::CountedProblem one{{{1, 1, 1, 1}, frame}, 1};
  choose(arguments, "shape", "MxNxK such as 4096x4096x4096", kernels::shape_from, one.problem.shape, errors);
  one.problem.shape.batch = count_option(arguments, "batch", 1, 2147483647, errors);
  add(errors, kernels::check_shape(one.problem.shape));
  return {one};
}

// Triton's configurations: Inductor's list, or those of a file.
void read_space(const Arguments& arguments, tune::SpaceOptions& space, Diagnostics& errors) {
  const std::optional<std::string> name = arguments.text("space");
  if (!name) return;
  if (space.families.size() != 1 || kernels::family_of(space.families.front()).from_text == nullptr)
    return errors.push_back({"", 0, 0, "--space", "--family triton beside it", "another family or none"});
  if (*name == "inductor") return;
  std::ifstream file(*name);
  if (!file) return errors.push_back({"", 0, 0, "--space", "inductor, or a JSON file", "\"" + *name + "\""});
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<std::vector<kernels::KernelConfig>> given = kernels::triton_from_json(text);
  if (given)
    space.given = std::move(*given);
  else
    add(errors, given.errors());
}

TuneRequest tune_request(const Arguments& arguments, Diagnostics& errors) {
  TuneRequest out;
  out.format = format_option(arguments, errors);
  check_report(arguments, errors);
  out.problems = problems_of(arguments, errors);
  apply_clock_options(arguments, out.options.sim, errors);
  out.options.sim.kernel_chosen = true;
  choose(arguments, "objective", "time, energy or edp", tune::objective_from, out.options.objective, errors);
  for (const std::string& text : arguments.texts("family")) {
    if (const std::optional<kernels::Family> family = kernels::family_from(text))
      out.options.space.families.push_back(*family);
    else
      errors.push_back({"", 0, 0, "--family", "simt, mma, wgmma, tcgen05 or triton", "\"" + text + "\""});
  }
  read_space(arguments, out.options.space, errors);
  out.options.space.most = static_cast<std::size_t>(
      arguments.has("max-configs") ? count_option(arguments, "max-configs", 1, 100000000, errors) : 0);
  out.options.top = static_cast<std::size_t>(count_option(arguments, "top", 10, 10000, errors));
  if (arguments.has("quick"))
    out.options.quick = static_cast<std::size_t>(count_option(arguments, "quick", 20, 10000, errors));
  out.options.jobs = jobs_option(arguments, errors);
  for (const std::string& setting : arguments.texts("set"))
    if (!setting.starts_with("arch."))
      errors.push_back({"", 0, 0, "--set", "arch.KEY=VALUE: kernels are what is sought", "\"" + setting + "\""});
  return out;
}

// problem 1 of several: 2048x2048x512_01.yaml, and the command lines of all in cutlass_profiler.sh.
int write_kernels(const std::string& directory, const arch::GpuSpec& gpu, const tune::Results& results) {
  std::string lines = "#!/bin/sh\n";
  for (const tune::Tuned& tuned : results.tuned) {
    const kernels::GemmShape& s = tuned.problem.shape;
    std::size_t place = 0;
    for (const gpu::SimReport& r : tuned.top) {
      const std::string stem =
          fmt::format("{}_{}x{}x{}_{}_{:02}", gpu.id, s.m, s.n, s.k, name_of(r.kernel.dtype_in), ++place);
      const std::string comment = fmt::format("noteg tune, place {} for {}x{}x{} on {}: {:.4g} us predicted", place,
                                              s.m, s.n, s.k, gpu.id, r.time_us);
      if (const int status = write_file(directory + "/" + stem + ".yaml", kernels::to_yaml(r.kernel, comment));
          status != done)
        return status;
      lines += tune::cutlass_profiler_line(gpu, r.kernel, s) + "\n";
    }
  }
  return write_file(directory + "/cutlass_profiler.sh", lines);
}

Result<tune::Results> tune_all(const arch::GpuSpec& gpu, TuneRequest& request, bool quiet) {
  tune::Results results{gpu.id, gpu.name, request.options.objective, {}, request.problems.size() > 1};
  ProgressBar bar(!quiet);
  for (std::size_t i = 0; i < request.problems.size() && !request.options.stop->load(); ++i) {
    request.options.progress = [&](std::size_t some, std::size_t all) {
      bar.update(i * 1000 + some * 1000 / std::max<std::size_t>(1, all), request.problems.size() * 1000);
    };
    Result<tune::Tuned> tuned = tune::tune(gpu, request.problems[i].problem, request.options);
    if (!tuned) return tuned.errors();
    tuned->count = request.problems[i].count;
    results.tuned.push_back(std::move(*tuned));
  }
  return results;
}

}  // namespace

std::vector<Option> tune_options() {
  std::vector<Option> all{
      {"arch", "ARCH", "GPU: a name (`noteg arch list`) or a file", false, FileUse::gpu, arch_values},
      {"shape", "MxNxK", "C (M x N) = A (M x K) x B (K x N), row-major reading", false},
      {"shapes", "FILE", "one GEMM per line: MxNxK [batch=B] [times=N] [dtype=T] [layout=L]", false, FileUse::input},
      {"batch", "B", "independent products in one launch, 1 if absent", false},
      {"dtype", "T", "type of A and B, f32 if absent", false, FileUse::none, dtype_values},
      {"layout", "L", "nn, nt, tn or tt: A then B, n is not transposed", false, FileUse::none, layout_values},
      {"family", "F", "only this family", true, FileUse::none, family_values},
      {"space", "S", "with --family triton: inductor (default), or a JSON file of configurations", false,
       FileUse::input},
      {"max-configs", "N", "an even choice of N combinations, all if absent", false},
      {"top", "N", "how many to show, 10 if absent", false},
      {"quick", "K", "simulates the K that an estimate without a simulation takes for the fastest, no more", false},
      {"objective", "O", "time (default), energy or edp (energy times time)", false, FileUse::none,
       [] {
         return std::vector<std::string>{"time", "energy", "edp"};
       }},
      {"out-dir", "DIR", "writes a kernel file and a CUTLASS profiler command line for each of the top", false,
       FileUse::folder}};
  all.push_back(report_option());
  for (Option& option : clock_options()) all.push_back(std::move(option));
  all.push_back({"set", "KEY=VALUE", "overrides a key of the GPU: arch.KEY", true, FileUse::none, arch_set_values});
  all.push_back({"jobs", "N", "threads, all cores if absent", false});
  all.push_back({"format", "F", "text (default), json or csv", false, FileUse::none, format_values});
  all.push_back({"quiet", "", "no progress bar, no remarks", false});
  return all;
}

std::string tune_help() {
  return "usage: noteg tune --arch ARCH --shape MxNxK --dtype T [--top 10] [--objective time|energy|edp]\n"
         "       noteg tune --arch ARCH --shapes FILE [options]\n\n"
         "Ranks kernel configurations for a problem: a bound rules out those that cannot win, pilot runs\n"
         "rank the others, and the best are timed as noteg simulate times them. Ctrl-C shows the best so far.\n\n" +
         help_of(tune_options());
}

int run_tune(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, tune_options(), {});
  if (!arguments) return refuse("tune", arguments.errors());
  Diagnostics errors = set_errors(*arguments);
  TuneRequest request = tune_request(*arguments, errors);
  const std::optional<std::string> name = arguments->text("arch");
  if (!name) errors.push_back({"", 0, 0, "--arch", "a GPU", "nothing"});
  const Result<arch::GpuSpec> gpu = name ? arch::load_gpu(*name, arch_overrides(*arguments)) : arch::GpuSpec{};
  if (!gpu) add(errors, gpu.errors());
  if (!errors.empty()) return refuse("tune", errors);

  const std::optional<std::string> directory = arguments->text("out-dir");
  std::error_code error;  // made before the work, so that a failure is told then
  if (directory) std::filesystem::create_directories(*directory, error);
  if (error) return refuse("tune", {{"", 0, 0, "--out-dir", "a folder to write into", error.message()}});
  const std::atomic<bool>& interrupted = stop_on_signal();
  request.options.stop = &interrupted;
  const Result<tune::Results> results = tune_all(*gpu, request, arguments->has("quiet"));
  if (!results) return refuse("tune", results.errors());
  int status = interrupted ? failed : done;
  if (interrupted) tell("stopped before all configurations were ranked; what follows is the best so far");
  if (directory) status = std::max(status, write_kernels(*directory, *gpu, *results));
  status = std::max(status, write_report("tune", *arguments, [&] { return pages::tune_report(*results, *gpu); }));
  switch (request.format) {
    case Format::text: return std::max(status, print(tune::to_text(*results)));
    case Format::json: return std::max(status, print(tune::to_json(*results, *gpu)));
    case Format::csv: return std::max(status, print(tune::to_csv(*results)));
  }
  return failed;
}

}  // namespace noteg::cli
