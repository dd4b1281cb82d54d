// noteg workload: a whole model, or a list of operations, on one or several GPUs.
#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/compare/compare.hpp"
#include "sim/pages/reports.hpp"
#include "sim/serve/session.hpp"
#include "sim/support/quantity_text.hpp"
#include "sim/support/text.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/power_trace.hpp"
#include "sim/workload/workload.hpp"

namespace noteg::cli {
namespace {

constexpr std::int64_t most_tokens = 100000000;
constexpr std::size_t most_cases = 1000;

std::vector<std::string> phase_values() { return {"prefill", "decode", "training"}; }

const Positional file_argument{"FILE", 1, 1, FileUse::input};

template <class Q>
Q quantity(const Arguments& arguments, const char* name, Q otherwise, Diagnostics& errors) {
  const std::optional<std::string> text = arguments.text(name);
  if (!text) return otherwise;
  const Result<Q> value = parse_quantity_as<Q>(*text);
  if (value && value->value > 0) return *value;
  errors.push_back({"", 0, 0, std::string("--") + name, std::string(describe(unit_of<Q>)), "\"" + *text + "\""});
  return otherwise;
}

template <class Q>
std::vector<Q> quantities(const Arguments& arguments, const char* name, double low, double high, Diagnostics& errors) {
  std::vector<Q> out;
  for (const std::string& text : listed(arguments, name)) {
    const Result<Q> value = parse_quantity_as<Q>(text);
    if (value && value->value >= low && value->value <= high)
      out.push_back(*value);
    else
      errors.push_back({"", 0, 0, std::string("--") + name,
                        fmt::format("{}, from {} to {}", describe(unit_of<Q>), format_quantity(low, unit_of<Q>),
                                    format_quantity(high, unit_of<Q>)),
                        "\"" + text + "\""});
  }
  if (arguments.has(name) && out.empty() && errors.empty())
    errors.push_back({"", 0, 0, std::string("--") + name, std::string(describe(unit_of<Q>)), "nothing"});
  return out;
}

std::vector<std::int64_t> token_counts(const Arguments& arguments, Diagnostics& errors) {
  std::vector<std::int64_t> out;
  const std::vector<std::string> texts = listed(arguments, "tokens");
  for (const std::string& text : arguments.has("tokens") ? texts : std::vector<std::string>{"1"}) {
    const std::optional<long long> count = parse_integer(text);
    if (count && *count >= 1 && *count <= most_tokens)
      out.push_back(*count);
    else
      errors.push_back(
          {"", 0, 0, "--tokens", fmt::format("integers from 1 to {} with commas", most_tokens), "\"" + text + "\""});
  }
  return out;
}

// What the options say of a step, the tokens left open.
workload::StepRequest step_request(const Arguments& arguments, Diagnostics& errors) {
  workload::StepRequest out;
  const std::string phase = arguments.text("phase").value_or("prefill");
  if (const auto known = workload::phase_from(phase))
    out.phase = *known;
  else
    errors.push_back({"", 0, 0, "--phase", "prefill, decode or training", "\"" + phase + "\""});
  out.sequences = count_option(arguments, "sequences", 0, most_tokens, errors);
  out.context = arguments.text("context") == "0" ? 0 : count_option(arguments, "context", 0, most_tokens, errors);
  out.tensor_parallel = static_cast<int>(count_option(arguments, "tensor-parallel", 1, 4096, errors));
  return out;
}

// The work: its steps, and how the output is headed.
struct Work {
  std::vector<workload::Step> steps;
  workload::Heading heading;
};

void apply_dtype(const Arguments& arguments, workload::ModelSpec& model, Diagnostics& errors) {
  const std::optional<std::string> text = arguments.text("dtype");
  if (!text) return;
  if (const auto type = kernels::data_type_from(*text))
    model.dtype = *type;
  else
    errors.push_back({"", 0, 0, "--dtype", "f16, bf16, f8e4m3 or another type of operands", "\"" + *text + "\""});
}

Work model_work(const Arguments& arguments, workload::ModelSpec model, Diagnostics& errors) {
  Work work;
  apply_dtype(arguments, model, errors);
  const workload::StepRequest open = step_request(arguments, errors);
  for (const std::int64_t tokens : token_counts(arguments, errors)) {
    workload::StepRequest request = open;
    request.tokens = tokens;
    if (request.sequences == 0) request.sequences = request.phase == workload::Phase::decode ? tokens : 1;
    if (!errors.empty()) break;
    Result<std::vector<workload::Block>> blocks = workload::unfold(model, request);
    if (!blocks) {
      add(errors, blocks.errors());
      continue;
    }
    work.steps.push_back({fmt::format("{} tokens", tokens), std::move(*blocks), static_cast<double>(tokens),
                          workload::resident_bytes(model, request), request.tensor_parallel});
  }
  work.heading.title = fmt::format(
      "{}, {} ({}{}{}), {}", model.name, workload::name_of(open.phase),
      open.sequences > 0 ? fmt::format("{} sequences, ", open.sequences) : "", fmt::format("context {}", open.context),
      open.tensor_parallel > 1 ? fmt::format(", {} GPUs", open.tensor_parallel) : "", kernels::name_of(model.dtype));
  work.heading.notes.push_back(
      fmt::format("{:.4g} billion parameters in matrices; figures are of one GPU, J/token of all that share the step",
                  model.parameters() * 1e-9));
  return work;
}

Work list_work(const Arguments& arguments, const std::string& file, Diagnostics& errors) {
  for (const char* option : {"phase", "tokens", "sequences", "context", "tensor-parallel", "dtype"})
    if (arguments.has(option))
      errors.push_back({"", 0, 0, std::string("--") + option, "a model file with it", "a list of operations"});
  Work work;
  work.heading.title = file;
  return work;
}

Work work_of(const Arguments& arguments, Diagnostics& errors) {
  const Result<std::filesystem::path> found = workload::find_workload_file(arguments.positional().front());
  if (!found) {
    add(errors, found.errors());
    return {};
  }
  const std::string file = found->string();
  if (!file.ends_with(".csv") && !file.ends_with(".csv.gz")) {
    const Result<YamlDocument> document = read_yaml_file(file);
    if (!document) {
      add(errors, document.errors());
      return {};
    }
    if (workload::is_model(*document)) {
      const Result<workload::ModelSpec> model = workload::model_of(*document);
      if (model) return model_work(arguments, *model, errors);
      add(errors, model.errors());
      return {};
    }
    Work work = list_work(arguments, file, errors);
    Result<std::vector<workload::Operation>> list = workload::operations_of(*document);
    if (!list)
      add(errors, list.errors());
    else
      work.steps.push_back({"", {{"", 1, std::move(*list)}}, 0, 0, 1});
    return work;
  }
  Work work = list_work(arguments, file, errors);
  Result<std::vector<workload::Operation>> list = workload::read_operations_csv(file);
  if (!list)
    add(errors, list.errors());
  else
    work.steps.push_back({"", {{"", 1, std::move(*list)}}, 0, 0, 1});
  return work;
}

// Every GPU under every limit and clock, for every step.
void add_cases(const Arguments& arguments, const gpu::SimOptions& sim, workload::Request& request,
               Diagnostics& errors) {
  const auto limits = quantities<Watts>(arguments, "power-limit", 1, 100000, errors);
  const auto clocks = quantities<Hertz>(arguments, "clock-cap", 1e8, 1e10, errors);
  workload::Links links;
  links.bandwidth = quantity(arguments, "link-bandwidth", links.bandwidth, errors);
  links.latency = quantity(arguments, "link-latency", links.latency, errors);
  const std::vector<std::string> names = arguments.texts("arch");
  if (names.empty()) errors.push_back({"", 0, 0, "--arch", "at least one GPU", "nothing"});
  Result<std::vector<compare::Variant>> gpus = compare::load_variants(names, arch_overrides(arguments));
  if (!gpus) return add(errors, gpus.errors());
  for (const compare::Variant& one : *gpus) {
    const std::string label = one.what_if.empty() ? one.label : one.gpu.id + " with " + one.what_if;
    for (std::size_t l = 0; l < std::max<std::size_t>(1, limits.size()); ++l)
      for (std::size_t c = 0; c < std::max<std::size_t>(1, clocks.size()); ++c)
        for (std::size_t s = 0; s < request.steps.size(); ++s) {
          workload::Case each{label, {one.gpu, sim, links}, "", s};
          if (!limits.empty()) {
            if (limits[l] <= one.gpu.power.idle)
              errors.push_back({"", 0, 0, "--power-limit",
                                "more than " + one.gpu.id + " draws idle, " + format_quantity(one.gpu.power.idle),
                                format_quantity(limits[l])});
            each.machine.board_limit = each.machine.gpu.power.limit;
            each.machine.gpu.power.limit = limits[l];
            each.condition = format_quantity(limits[l]);
          }
          if (!clocks.empty()) {
            each.machine.gpu = workload::with_clock_cap(std::move(each.machine.gpu), clocks[c]);
            each.condition += (each.condition.empty() ? "" : ", ") + format_quantity(clocks[c]);
          }
          request.cases.push_back(std::move(each));
        }
  }
  if (request.cases.size() > most_cases)
    errors.push_back({"", 0, 0, "--arch, --tokens, --power-limit, --clock-cap",
                      fmt::format("at most {} cases", most_cases), std::to_string(request.cases.size())});
}

// One of two words; the first is the default.
bool is_second(const Arguments& arguments, const char* name, const std::string& first, const std::string& second,
               Diagnostics& errors) {
  const std::string text = arguments.text(name).value_or(first);
  if (text != first && text != second)
    errors.push_back({"", 0, 0, std::string("--") + name, first + " or " + second, "\"" + text + "\""});
  return text == second;
}

workload::Request workload_request(const Arguments& arguments, workload::Heading& heading, Diagnostics& errors) {
  workload::Request request;
  Work work = work_of(arguments, errors);
  request.steps = std::move(work.steps);
  heading = std::move(work.heading);
  if (is_second(arguments, "launch", "graph", "stream", errors)) request.launch = workload::LaunchMode::stream;
  if (is_second(arguments, "clocks", "each", "shared", errors)) request.clocks = workload::Clocks::shared;
  request.dispatch = quantity(arguments, "dispatch", request.dispatch, errors);
  request.jobs = jobs_option(arguments, errors);
  gpu::SimOptions sim;
  sim.kernel_chosen = true;
  sim.l2 = l2_option(arguments, errors).value_or(gpu::L2State::steady);
  add_cases(arguments, sim, request, errors);
  for (const std::string& setting : arguments.texts("set"))
    if (!setting.starts_with("arch."))
      errors.push_back({"", 0, 0, "--set", "arch.KEY=VALUE: kernels are the library's", "\"" + setting + "\""});
  return request;
}

void add_notes(const workload::Request& request, workload::Heading& heading) {
  heading.notes.push_back(fmt::format("library kernels; L2 before each: {}; kernels by {}",
                                      request.cases.empty() ? "" : gpu::name_of(request.cases.front().machine.sim.l2),
                                      request.launch == workload::LaunchMode::graph
                                          ? "CUDA graph"
                                          : "stream, " + format_quantity(request.dispatch) + " of the host each"));
  for (const workload::Step& step : request.steps)
    if (step.gpus > 1) {
      const workload::Links& links = request.cases.front().machine.links;
      heading.notes.push_back(fmt::format("all-reduce: {} and {} of bus bandwidth (assumed), not hidden",
                                          format_quantity(links.latency), format_quantity(links.bandwidth)));
      return;
    }
}

}  // namespace

std::vector<Option> workload_options() {
  return {
      {"arch", "ARCH", "GPU, or a what-if copy of one: l4:l2.size=24MiB; the first is the one that speeds are of", true,
       FileUse::gpu, arch_values},
      {"phase", "P", "of a model: prefill (default), decode or training", false, FileUse::none, phase_values},
      {"tokens", "LIST", "tokens that a step takes in, over all sequences, with commas: 1,16,256; 1 if absent", true},
      {"sequences", "N", "that these are of: 1 if absent; decode: one for each token", false},
      {"context", "N", "tokens of each sequence that lie in the cache already, 0 if absent", false},
      {"tensor-parallel", "N", "GPUs that share each matrix, 1 if absent", false},
      {"dtype", "T", "of a model's weights and activations, as its file says if absent", false, FileUse::none,
       dtype_values},
      {"power-limit", "LIST", "board power limits with commas, 300W,400W; that of the file if absent", true},
      {"clock-cap", "LIST", "highest SM clocks with commas, 1.2GHz,1.41GHz; the power limit acts below them", true},
      {"clocks", "WHOSE", "each (default): an operation has the clock that it would have alone; shared: one for all",
       false, FileUse::none,
       [] {
         return std::vector<std::string>{"each", "shared"};
       }},
      {"l2", "STATE", "what L2 holds before a kernel: steady (default), weights come from DRAM; warm, cold, empty",
       false, FileUse::none, l2_values},
      {"launch", "HOW", "graph (default): kernels are there in time; stream: the host sends one after the other", false,
       FileUse::none,
       [] {
         return std::vector<std::string>{"graph", "stream"};
       }},
      {"dispatch", "TIME", "of the host for one kernel, with --launch stream: 5us if absent", false},
      {"link-bandwidth", "RATE", "bus bandwidth of an all-reduce: 366GB/s if absent (NVSwitch of H100s)", false},
      {"link-latency", "TIME", "of an all-reduce: 10us if absent", false},
      {"power-trace", "FILE", "writes watts over time of the first case: the step, after a second without work", false,
       FileUse::output},
      report_option(),
      {"set", "KEY=VALUE", "overrides a key of all GPUs: arch.KEY", true, FileUse::none, arch_set_values},
      {"jobs", "N", "threads, all cores if absent", false},
      {"format", "F", "text (default), json or csv", false, FileUse::none, format_values},
      {"quiet", "", "no progress bar, no remarks", false},
  };
}

std::string workload_help() {
  return "usage: noteg workload --arch ARCH [--arch ...] FILE [options]\n\n"
         "What a list of operations (CSV, YAML) or a step of a model (a file, or one of " +
         [] {
           std::string names;
           for (const std::string& name : workload::shipped_models()) names += (names.empty() ? "" : ", ") + name;
           return names;
         }() +
         ")\ncosts: time, energy, share and limiter of every operation and in all (docs/workloads.md).\n\n" +
         help_of(workload_options());
}

int run_workload(const std::vector<std::string>& words) {
  serve::Session session;
  return run_workload(words, session);
}

int run_workload(const std::vector<std::string>& words, serve::Session& session) {
  const Result<Arguments> arguments = parse_arguments(words, workload_options(), file_argument);
  if (!arguments) return refuse("workload", arguments.errors());
  Diagnostics errors = set_errors(*arguments);
  const Format format = format_option(*arguments, errors);
  check_report(*arguments, errors);
  workload::Heading heading;
  workload::Request request = workload_request(*arguments, heading, errors);
  if (!errors.empty()) return refuse("workload", errors);
  add_notes(request, heading);
  ProgressBar bar(!arguments->has("quiet"));
  request.progress = [&bar](std::size_t some, std::size_t all) { bar.update(some, all); };
  const std::shared_ptr<serve::Caches> caches = session.caches();
  const Result<workload::Results> results = workload::run(std::move(request), caches->bench);
  if (!results) return refuse("workload", results.errors());
  int status = write_report("workload", *arguments, [&] { return pages::workload_report(*results, heading); });
  if (const std::optional<std::string> path = arguments->text("power-trace"))
    status = std::max(status, write_file(*path, workload::to_csv(workload::power_trace(results->cases.front()))));
  switch (format) {
    case Format::text: return std::max(status, print(workload::to_text(*results, heading)));
    case Format::json: return std::max(status, print(workload::to_json(*results, heading)));
    case Format::csv: return std::max(status, print(workload::to_csv(*results)));
  }
  return failed;
}

}  // namespace noteg::cli
