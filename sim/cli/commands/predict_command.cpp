// noteg predict: what a model says of one kernel, or of every row of a data set.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/cli/command.hpp"
#include "sim/cli/commands/train_report.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/dataset/table.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/learn/model_runs.hpp"
#include "sim/serve/session.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

using Json = nlohmann::ordered_json;
using learn::Estimator;
using learn::RowEstimate;

std::vector<const learn::Target*> targets_of(const learn::Model& model) {
  std::vector<const learn::Target*> all;
  for (const learn::Part& part : model.parts)
    for (const learn::Target& target : part.targets) all.push_back(&target);
  return all;
}

Json estimate_json(const learn::Model& model, const RowEstimate& row) {
  Json json = Json::object();
  const std::vector<const learn::Target*> targets = targets_of(model);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const learn::Estimate& e = row.targets[t];
    json[targets[t]->name] = {{"value", e.value},
                              {"low_80", e.intervals[0].low},
                              {"high_80", e.intervals[0].high},
                              {"low_95", e.intervals[2].low},
                              {"high_95", e.intervals[2].high}};
  }
  json["out_of_domain"] = !row.out_of_domain.empty();
  json["reason"] = row.out_of_domain;
  json["distance"] = row.distance;
  return json;
}

std::vector<std::string> header(const learn::Model& model) {
  std::vector<std::string> names;
  for (const learn::Target* target : targets_of(model))
    for (const char* suffix : {"", "_low_80", "_high_80", "_low_95", "_high_95"})
      names.push_back("predicted_" + target->name + suffix);
  names.emplace_back("out_of_domain");
  names.emplace_back("reason");
  return names;
}

std::vector<std::string> fields(const RowEstimate& row) {
  std::vector<std::string> out;
  for (const learn::Estimate& e : row.targets)
    for (const double value :
         {e.value, e.intervals[0].low, e.intervals[0].high, e.intervals[2].low, e.intervals[2].high})
      out.push_back(std::isfinite(value) ? format_number(value) : "");
  out.emplace_back(row.out_of_domain.empty() ? "false" : "true");
  out.push_back(row.out_of_domain);
  return out;
}

std::string one_text(const learn::Model& model, const learn::ModelRun& run) {
  std::string text = fmt::format("{:<14}{:>14}{:>30}{:>30}\n", "", "predicted", "80 %", "95 %");
  const std::vector<const learn::Target*> targets = targets_of(model);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const learn::Estimate& e = run.estimate.targets[t];
    const auto range = [&](std::size_t level) {
      return fmt::format("{:.5g} to {:.5g}", e.intervals[level].low, e.intervals[level].high);
    };
    text += fmt::format("{:<14}{:>14.5g}{:>30}{:>30}  {}\n", targets[t]->name, e.value, range(0), range(2),
                        targets[t]->unit);
  }
  if (model.kind == learn::ModelKind::residual)
    text += fmt::format("corrected: {:.5g} us, {:.5g} W, {:.5g} mJ\n", run.report.time_us, run.report.power_w,
                        run.report.energy_mj);
  return text + (run.estimate.out_of_domain.empty()
                     ? "inside what the model was trained on\n"
                     : "OUTSIDE what the model was trained on: " + run.estimate.out_of_domain + "\n");
}

// Factors where the model adds logarithms, amounts where it adds numbers.
std::string why_text(const std::vector<learn::Why>& all) {
  std::string text = fmt::format("\n{:<14}{:>14}", "why", "base");
  for (const std::string_view group : learn::physics_groups) text += fmt::format("{:>17}", group);
  for (const learn::Why& why : all) {
    text += fmt::format("\n{:<14}{:>14.5g}", why.target, why.log ? std::exp(why.base) : why.base);
    for (const double part : why.parts)
      text += fmt::format("{:>17}", why.log ? fmt::format("x {:.3f}", std::exp(part)) : fmt::format("{:+.4g}", part));
  }
  text += "\n";
  for (const learn::Why& why : all)
    text += fmt::format("base of {}: {}\n", why.target,
                        why.anchor.empty() ? "the mean of the training rows"
                                           : why.anchor + " of this run x the mean ratio of the training rows");
  return text;
}

Json why_json(const std::vector<learn::Why>& all) {
  Json json = Json::object();
  for (const learn::Why& why : all) {
    Json& one = json[why.target] = {{why.log ? "log_base" : "base", why.base}, {"anchor", why.anchor}};
    Json& parts = one[why.log ? "log_factors" : "parts"] = Json::object();
    for (std::size_t g = 0; g < why.parts.size(); ++g) parts[std::string(learn::physics_groups[g])] = why.parts[g];
  }
  return json;
}

bool has_numbers(const RowEstimate& row) { return std::ranges::all_of(row.targets, learn::is_finite); }

int predict_rows(const Estimator& estimator, const Arguments& arguments, Format format, unsigned jobs) {
  const Result<dataset::Table> table = dataset::read_table(*arguments.text("data"), dataset::known_column);
  if (!table) return refuse("predict", table.errors());
  const Result<std::vector<RowEstimate>> rows = estimator.estimate(*table, !arguments.has("no-intervals"), jobs);
  if (!rows) return refuse("predict", rows.errors());
  const auto without = std::ranges::count_if(*rows, [](const RowEstimate& row) { return !has_numbers(row); });
  if (without > 0 && !arguments.has("quiet"))
    tell(fmt::format("{} of {} rows have no number for a target; their column reason says why", without, rows->size()));
  if (format == Format::json) {
    Json all = Json::array();
    for (const RowEstimate& row : *rows) all.push_back(estimate_json(estimator.model(), row));
    return print(all.dump(1) + "\n");
  }
  std::string text = csv_line(header(estimator.model()));
  for (const RowEstimate& row : *rows) text += csv_line(fields(row));
  return print(text);
}

gpu::SimOptions predict_sim_options(const Arguments& arguments, Diagnostics& errors) {
  gpu::SimOptions sim;
  apply_clock_options(arguments, sim, errors);
  return sim;
}

// One kernel by a model that is loaded, or by what one question needs of a file.
template <class Source>
int predict_one(const Source& source, const learn::Model& model, const Arguments& arguments, Format format,
                Diagnostics errors, serve::Session& session) {
  const gpu::SimOptions sim = predict_sim_options(arguments, errors);
  const Result<std::shared_ptr<const arch::GpuSpec>> gpu =
      session.gpu(*arguments.text("arch"), arch_overrides(arguments));
  if (!gpu) add(errors, gpu.errors());
  refuse_switches(arguments, errors);
  const Result<KernelRequest> kernel = kernel_request(arguments);
  if (!kernel) add(errors, kernel.errors());
  if (!errors.empty()) return refuse("predict", errors);
  const Result<learn::ModelRun> run = [&] {
    gpu::SmCache& cache = session.caches()->runs;
    if constexpr (std::is_same_v<Source, Estimator>)
      return learn::run_model(source, **gpu, kernel->config, kernel->shape, sim, true, cache);
    else
      return learn::run_model(source, **gpu, kernel->config, kernel->shape, sim, cache);
  }();
  if (!run) return refuse("predict", run.errors());
  if (!has_numbers(run->estimate)) {
    tell("the model has no number for this run: " + run->estimate.out_of_domain);
    return failed;
  }
  std::vector<learn::Why> reasons;
  if (arguments.has("why")) {
    Result<std::vector<learn::Why>> found =
        learn::why_of_run(model, **gpu, kernel->config, kernel->shape, sim, session.caches()->runs);
    if (!found) return refuse("predict", found.errors());
    reasons = std::move(*found);
  }
  if (format == Format::text) return print(one_text(model, *run) + (reasons.empty() ? "" : why_text(reasons)));
  if (format == Format::csv) return print(csv_line(header(model)) + csv_line(fields(run->estimate)));
  Json json = estimate_json(model, run->estimate);
  if (model.kind == learn::ModelKind::residual)
    json["corrected"] = {
        {"time_us", run->report.time_us}, {"power_w", run->report.power_w}, {"energy_mj", run->report.energy_mj}};
  if (!reasons.empty()) json["why"] = why_json(reasons);
  return print(json.dump(2) + "\n");
}

}  // namespace

std::vector<Option> predict_options() {
  std::vector<Option> all{
      {"model", "FILE", "a model that noteg train wrote", false, FileUse::input},
      {"data", "FILE", "a data set: every row is predicted", false, FileUse::input},
      {"no-intervals", "", "with --data: values alone, many times faster", false},
      {"why", "", "of one kernel: what problem, tile, waves, DRAM and clock make of the base", false},
      {"arch", "ARCH", "GPU of one kernel: a name (`noteg arch list`) or a file", false, FileUse::gpu, arch_values}};
  for (Option& option : kernel_options()) all.push_back(std::move(option));
  for (Option& option : clock_options()) all.push_back(std::move(option));
  all.push_back({"format", "F", "text (default), json or csv; with --data csv (default) or json", false, FileUse::none,
                 format_values});
  all.push_back({"jobs", "N", "threads, as many as there are cores if absent", false});
  all.push_back({"quiet", "", "nothing on standard error but mistakes", false});
  return all;
}

std::string predict_help() {
  return "usage: noteg predict --model MODEL.json --data FILE\n"
         "       noteg predict --model MODEL.json --arch ARCH (--kernel FILE | --kernel-name NAME | --family F --tile "
         "MxNxK)\n                     --shape MxNxK [options]\n\n"
         "What a model says, with the intervals that hold 80 % and 95 % of the true values, and whether the row lies\n"
         "where the model learned.\n\n" +
         help_of(predict_options());
}

namespace {

// once: the process ends with this question, so that it reads of a binary model what that needs.
int run(const std::vector<std::string>& words, serve::Session& session, bool once) {
  const Result<Arguments> arguments = parse_arguments(words, predict_options(), {});
  if (!arguments) return refuse("predict", arguments.errors());
  Diagnostics errors = set_errors(*arguments);
  const Format format = format_option(*arguments, errors);
  const unsigned jobs = jobs_option(*arguments, errors);
  if (!arguments->has("model")) errors.push_back({"", 0, 0, "--model", "a model file", "nothing"});
  if (arguments->has("data") == arguments->has("arch"))
    errors.push_back({"", 0, 0, "--data, --arch", "exactly one of them", arguments->has("data") ? "both" : "none"});
  if (arguments->has("why") && arguments->has("data"))
    errors.push_back({"", 0, 0, "--why", "--arch and one kernel", "--data"});
  if (!errors.empty()) return refuse("predict", errors);
  if (once && arguments->has("arch") && !arguments->has("why")) {
    const Result<std::optional<learn::ModelFile>> file = learn::ModelFile::open(*arguments->text("model"));
    if (!file) return refuse("predict", file.errors());
    if (*file) return predict_one(**file, (*file)->head(), *arguments, format, errors, session);
  }
  const Result<std::shared_ptr<const serve::LoadedModel>> model = session.model(*arguments->text("model"));
  if (!model) return refuse("predict", model.errors());
  const Estimator& estimator = (*model)->estimator;
  return arguments->has("data") ? predict_rows(estimator, *arguments, format, jobs)
                                : predict_one(estimator, (*model)->model, *arguments, format, errors, session);
}

}  // namespace

int run_predict(const std::vector<std::string>& words) {
  serve::Session session;
  return run(words, session, true);
}

int run_predict(const std::vector<std::string>& words, serve::Session& session) { return run(words, session, false); }

}  // namespace noteg::cli
