// noteg train: a forest from a data set, or from measured rows beside their simulations.
#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/command.hpp"
#include "sim/cli/commands/runs.hpp"
#include "sim/cli/commands/train_report.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/dataset/table.hpp"
#include "sim/learn/measured_table.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/learn/onnx.hpp"
#include "sim/learn/training.hpp"
#include "sim/pages/reports.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

using dataset::Group;

void take_validation(const Arguments& arguments, learn::TrainingRequest& request, Diagnostics& errors) {
  const std::optional<std::string> which = arguments.text("validate");
  if (!which) return;
  request.by_shape = request.by_gpu = request.ablation = false;
  for (const std::string& name : comma_list(*which)) {
    if (name == "shape")
      request.by_shape = true;
    else if (name == "gpu")
      request.by_gpu = true;
    else if (name == "ablation")
      request.ablation = true;
    else if (name != "none")
      errors.push_back({"", 0, 0, "--validate", "shape, gpu, ablation or none", "\"" + name + "\""});
  }
}

void take_forest(const Arguments& arguments, forest::ForestOptions& forest, Diagnostics& errors) {
  const auto count = [&](const char* name, std::size_t otherwise, long long most) {
    return static_cast<std::size_t>(count_option(arguments, name, static_cast<long long>(otherwise), most, errors));
  };
  if (arguments.has("random-forest") && arguments.has("extra-trees"))
    errors.push_back({"", 0, 0, "--random-forest", "one kind of forest", "--extra-trees beside it"});
  if (arguments.has("random-forest")) forest = forest::random_forest();
  forest.trees = count("trees", forest.trees, 10000);
  forest.min_split_rows = count("min-split-rows", forest.min_split_rows, 1 << 30);
  if (forest.min_split_rows < 2) forest.min_split_rows = 2;
  if (arguments.has("features-per-split")) forest.features_per_split = count("features-per-split", 1, 4096);
  forest.seed = count("seed", 1, 1LL << 62);
  forest.threads = jobs_option(arguments, errors);
}

learn::TrainingRequest training_request(const Arguments& arguments, Diagnostics& errors) {
  learn::TrainingRequest request;
  const bool residual = arguments.has("residual");
  request.kind = residual ? learn::ModelKind::residual : learn::ModelKind::direct;
  if (residual) request.problem.groups.push_back(Group::counter);
  if (const std::optional<std::string> groups = arguments.text("features"))
    request.problem.groups = group_list(*groups, errors);
  if (!residual && std::ranges::find(request.problem.groups, Group::counter) != request.problem.groups.end())
    errors.push_back({"", 0, 0, "--features", "groups that are known before a run: config, arch, physics",
                      "\"counter\", which only a simulation tells (with --residual it may)"});
  request.problem.targets = {{"time_us", "power_w", "energy_mj", "tflops"}};
  if (const std::optional<std::string> targets = arguments.text("targets"))
    request.problem.targets = {comma_list(*targets)};
  request.problem.anchors = {{"time_us", "physics.roofline_us"},
                             {"power_w", "physics.power_w"},
                             {"energy_mj", "physics.energy_mj"},
                             {"tflops", "physics.tflops"}};
  request.problem.leave_out = {learn::gpu_column};
  request.problem.weights = arguments.text("weights").value_or("");
  take_forest(arguments, request.forest, errors);
  take_validation(arguments, request, errors);
  request.folds = static_cast<std::size_t>(count_option(arguments, "folds", 5, 1000, errors));
  if (request.folds < 2) errors.push_back({"", 0, 0, "--folds", "at least 2", "1"});
  for (const std::string& text : arguments.texts("monotone"))
    if (const std::optional<RuleText> rule = rule_text(text, errors))
      request.monotone.push_back({rule->target, rule->feature, rule->direction});
  if (!arguments.has("quiet")) request.tell = [](const std::string& what) { tell(what); };
  return request;
}

struct Data {
  dataset::Table table;
  std::vector<learn::MeasuredRun> runs;  // residual
};

Result<learn::MeasuredTable> simulated_now(const Arguments& arguments, unsigned threads) {
  const Result<validate::MeasuredData> data = validate::read_measured(arguments.texts("data"));
  if (!data) return data.errors();
  gpu::SmCache cache;
  const auto simulator = [&cache](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                  const kernels::GemmShape& shape,
                                  const gpu::SimOptions& sim) { return gpu::simulate(gpu, kernel, shape, sim, cache); };
  tune::KernelChooser chooser;
  ProgressBar bar(!arguments.has("quiet"));
  learn::MeasuredOptions options{threads, arguments.texts("gpu"), library_kernels(chooser),
                                 [&bar](std::size_t rows, std::size_t total) { bar.update(rows, total); }};
  return learn::measured_table(*data, options, simulator);
}

// Is every file a table that --table wrote? Files that cannot be read are left to the reader of measured rows.
Result<bool> were_simulated(const std::vector<std::string>& files) {
  std::size_t tables = 0;
  for (const std::string& file : files) {
    const Result<CsvTable> csv = read_csv(file);
    tables += csv && learn::is_measured_table(csv->columns) ? 1 : 0;
  }
  if (tables > 0 && tables < files.size())
    return Diagnostic{"", 0, 0, "--data", "measured rows, or tables of --table, not both", "both"};
  return tables > 0;
}

Result<dataset::Table> read_all(const std::vector<std::string>& files) {
  std::vector<dataset::Table> tables;
  for (const std::string& file : files) {
    Result<dataset::Table> table = dataset::read_table(file, dataset::known_column);
    if (!table) return table.errors();
    tables.push_back(std::move(*table));
  }
  return dataset::join(tables);
}

Result<learn::MeasuredTable> read_simulated(const Arguments& arguments) {
  Result<dataset::Table> table = read_all(arguments.texts("data"));
  if (!table) return table.errors();
  return learn::simulated_before(std::move(*table), arguments.texts("gpu"));
}

Result<Data> measured_data(const Arguments& arguments, learn::TrainingRequest& request) {
  const Result<bool> again = were_simulated(arguments.texts("data"));
  if (!again) return again.errors();
  Result<learn::MeasuredTable> measured =
      *again ? read_simulated(arguments) : simulated_now(arguments, request.forest.threads);
  if (!measured) return measured.errors();
  if (!arguments.has("quiet"))
    for (const auto& [reason, rows] : measured->reasons) tell(fmt::format("{} rows left out: {}", rows, reason));
  request.problem.targets = {{learn::time_ratio}};
  std::size_t powers = 0;
  for (const learn::MeasuredRun& run : measured->runs) powers += run.measured_w > 0 ? 1 : 0;
  if (powers >= 20) request.problem.targets.push_back({learn::power_ratio});
  return Data{std::move(measured->table), std::move(measured->runs)};
}

Result<Data> training_data(const Arguments& arguments, learn::TrainingRequest& request) {
  if (request.kind == learn::ModelKind::residual) return measured_data(arguments, request);
  Result<dataset::Table> all = read_all(arguments.texts("data"));
  if (!all) return all.errors();
  return Data{std::move(*all), {}};
}

Diagnostics check(const Arguments& arguments) {
  Diagnostics errors;
  if (!arguments.has("data")) errors.push_back({"", 0, 0, "--data", "a data set", "nothing"});
  if (!arguments.has("out")) errors.push_back({"", 0, 0, "--out", "the file to write", "nothing"});
  check_report(arguments, errors);
  const bool residual = arguments.has("residual");
  if (!residual && arguments.has("table")) errors.push_back({"", 0, 0, "--table", "--residual with it", "none"});
  if (!residual && arguments.has("gpu")) errors.push_back({"", 0, 0, "--gpu", "--residual with it", "none"});
  if (residual && arguments.has("targets"))
    errors.push_back({"", 0, 0, "--targets", "nothing with --residual, whose targets are fixed", "names"});
  return errors;
}

}  // namespace

std::vector<Option> train_options() {
  return {
      {"data", "FILE",
       "a data set (CSV or SQLite), or several with the same columns; with --residual measured rows, as noteg validate "
       "reads them, or what --table kept of them",
       true, FileUse::input},
      {"out", "FILE", "the model, as JSON, or binary where FILE ends in .ngm", false, FileUse::output},
      {"onnx", "FILE", "the model once more, for ONNX runtimes", false, FileUse::output},
      {"residual", "", "learn measured over simulated time and power instead of the run itself", false},
      {"targets", "NAMES", "columns to predict (default time_us,power_w,energy_mj,tflops)", false},
      {"features", "GROUPS", "groups of columns to learn from (default config,arch,physics; residual: counter too)",
       false},
      {"trees", "N", "trees of the forest, 100 if absent", false},
      {"extra-trees", "", "the default: random cuts, on nine tenths of the rows", false},
      {"random-forest", "", "best cuts on bootstrap samples instead of random ones on nine tenths of the rows", false},
      {"features-per-split", "N", "features tried at each split, half of them if absent (random forest: a third)",
       false},
      {"min-split-rows", "N", "nodes with fewer rows are not split, 3 if absent (random forest: 6)", false},
      {"monotone", "RULE", "TARGET:FEATURE:+ never falls, :- never rises, where the feature grows", true},
      {"weights", "COLUMN", "weights of rows", false},
      {"seed", "N", "of all random choices, 1 if absent", false},
      {"folds", "N", "parts of the validation by shape, 5 if absent", false},
      {"validate", "WHICH", "shape, gpu, ablation, with commas, or none (default all three)", false, FileUse::none,
       [] {
         return std::vector<std::string>{"shape", "gpu", "ablation", "none"};
       }},
      {"test", "FILE", "measured rows that judge the model, as noteg validate reads them", true, FileUse::input},
      {"table", "FILE",
       "with --residual: the rows learnt from, with what was simulated, as a data set (CSV) that --data takes again",
       false, FileUse::output},
      report_option(),
      {"gpu", "NAME", "with --residual: only rows of this GPU", true, FileUse::gpu, arch_values},
      {"format", "F", "text (default) or json", false, FileUse::none, page_values},
      {"jobs", "N", "threads, as many as there are cores if absent; the model does not depend on it", false},
      {"quiet", "", "nothing on standard error but mistakes", false},
  };
}

std::string train_help() {
  return "usage: noteg train --data FILE --out MODEL.json [options]\n\n"
         "Trains a forest on a data set and says how well it predicts what it has not seen: whole shapes held out,\n"
         "then one GPU left out in turn, each with and without the analytic features (physics).\n\n" +
         help_of(train_options());
}

int run_train(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, train_options(), {});
  if (!arguments) return refuse("train", arguments.errors());
  Diagnostics errors = check(*arguments);
  const Format format = format_option(*arguments, errors);
  if (format == Format::csv) errors.push_back({"", 0, 0, "--format", "text or json", "\"csv\""});
  learn::TrainingRequest request = training_request(*arguments, errors);
  if (!errors.empty()) return refuse("train", errors);
  const Result<Data> data = training_data(*arguments, request);
  if (!data) return refuse("train", data.errors());
  if (request.tell && !request.by_shape)
    request.tell("not validated by shape: the intervals are those of the leaves, and hold fewer rows than they say");
  int status = done;
  if (const std::optional<std::string> path = arguments->text("table"))
    status = write_file(*path, dataset::to_csv(data->table));
  Result<learn::Training> training = learn::train(data->table, request);
  if (!training) return refuse("train", training.errors());
  const Result<std::vector<TestResult>> tests = test_model(training->model, *arguments, request.forest.threads);
  if (!tests) return refuse("train", tests.errors());
  const TrainReport report = report_of(*training, data->table, data->runs, *tests);
  training->model.metrics = report.metrics;
  const Result<std::string> model = learn::write_model(training->model, *arguments->text("out"));
  if (!model) {
    tell(model.errors().front().to_string() + "; fewer --trees or rows make it smaller");
    return failed;
  }
  status = std::max(status, write_file(*arguments->text("out"), *model));
  if (arguments->has("report")) {
    if (request.tell) request.tell("learning curve for the report");
    const Result<std::vector<learn::CurvePoint>> curve = learn::learning_curve(data->table, request);
    if (!curve) return refuse("train", curve.errors());
    status = std::max(
        status, write_report("train", *arguments, [&] { return pages::train_report(*training, data->table, *curve); }));
  }
  if (const std::optional<std::string> path = arguments->text("onnx")) {
    const Result<std::string> onnx = learn::to_onnx(training->model);
    if (!onnx) return refuse("train", onnx.errors());
    status = std::max(status, write_file(*path, *onnx));
  }
  return std::max(status, print(format == Format::json ? report.json : report.text));
}

}  // namespace noteg::cli
