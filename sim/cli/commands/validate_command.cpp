// noteg validate: the simulator against a measured file.
#include <fmt/format.h>

#include <memory>

#include "sim/cli/command.hpp"
#include "sim/cli/commands/runs.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/learn/measured_table.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/learn/model_runs.hpp"
#include "sim/pages/reports.hpp"
#include "sim/support/text.hpp"
#include "sim/validate/columns.hpp"
#include "sim/validate/measured_set.hpp"
#include "sim/validate/validate.hpp"
#include "sim/validate/write.hpp"

namespace noteg::cli {
namespace {

validate::ValidateOptions validate_options(const Arguments& arguments, Diagnostics& errors) {
  validate::ValidateOptions options;
  if (const std::optional<std::string> by = arguments.text("by")) options.by = comma_list(*by);
  options.gpus = arguments.texts("gpu");
  options.exact = arguments.has("exact");
  options.leave_one_out = arguments.has("leave-one-out");
  if (arguments.has("cold")) options.time = validate::TimeColumn::cold;
  options.l2 = l2_option(arguments, errors);
  options.arch_overrides = arch_overrides(arguments);
  options.jobs = jobs_option(arguments, errors);
  if (const std::optional<std::string> text = arguments.text("min-time-ms")) {
    options.min_time_ms = parse_number(*text);
    if (!options.min_time_ms || *options.min_time_ms < 0)
      errors.push_back({"", 0, 0, "--min-time-ms", "a number of milliseconds", "\"" + *text + "\""});
  }
  if (arguments.has("sample"))
    options.sample = static_cast<std::size_t>(count_option(arguments, "sample", 1, 1000000000, errors));
  if (const std::string kernel = arguments.text("kernel").value_or("auto"); kernel != "auto" && kernel != "recorded")
    errors.push_back({"", 0, 0, "--kernel", "auto or recorded", "\"" + kernel + "\""});
  check_report(arguments, errors);
  if (!arguments.has("data")) errors.push_back({"", 0, 0, "--data", "a measured file", "nothing"});
  for (const std::string& setting : arguments.texts("set"))
    if (!setting.starts_with("arch."))
      errors.push_back({"", 0, 0, "--set", "arch.KEY=VALUE: rows bring their kernels", "\"" + setting + "\""});
  return options;
}

int write(const validate::Validation& validation, const Arguments& arguments, Format format,
          const std::vector<std::string>& by) {
  int status = done;
  if (const std::optional<std::string> path = arguments.text("predictions"))
    status = std::max(status, write_file(*path, validate::predictions_csv(validation)));
  if (const std::optional<std::string> path = arguments.text("markdown"))
    status = std::max(status, write_file(*path, validate::to_markdown(validation)));
  if (const std::optional<std::string> path = arguments.text("confidence"))
    status =
        std::max(status, write_file(*path, gpu::to_text(validate::error_table(validate::counted_rows(validation)))));
  status =
      std::max(status, write_report("validate", arguments, [&] { return pages::validate_report(validation, by); }));
  switch (format) {
    case Format::text: return std::max(status, print(validate::to_text(validation, by)));
    case Format::json: return std::max(status, print(validate::to_json(validation, by)));
    case Format::csv: return std::max(status, print(validate::to_csv(validation, by)));
  }
  return failed;
}

struct ReadyModel {
  std::unique_ptr<learn::Model> model;
  std::unique_ptr<learn::Estimator> estimator;
};

Result<std::optional<ReadyModel>> ready_model(const Arguments& arguments) {
  const std::optional<std::string> path = arguments.text("model");
  if (!path) return std::optional<ReadyModel>{};
  Result<learn::Model> model = learn::read_model(*path);
  if (!model) return model.errors();
  ReadyModel ready;
  ready.model = std::make_unique<learn::Model>(std::move(*model));
  ready.estimator = std::make_unique<learn::Estimator>(*ready.model);
  return std::optional<ReadyModel>(std::move(ready));
}

// Every row that can be simulated, as a row of a data set; its own targets are what was simulated.
int write_table(const validate::MeasuredData& data, const std::string& path, const validate::ValidateOptions& request,
                gpu::SmCache& cache) {
  const auto simulator = [&cache](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                  const kernels::GemmShape& shape,
                                  const gpu::SimOptions& sim) { return gpu::simulate(gpu, kernel, shape, sim, cache); };
  const Result<learn::MeasuredTable> table =
      learn::measured_table(data, {request.jobs, request.gpus, request.chooser, {}}, simulator);
  if (!table) return refuse("validate", table.errors());
  return write_file(path, dataset::to_csv(table->table));
}

}  // namespace

std::vector<Option> validate_options() {
  return {
      {"data", "FILE", "measured rows: .csv, .csv.gz, or a folder of them", true, FileUse::input},
      {"by", "COLUMNS",
       "group by these, with commas: columns of the file, or family, half, kernel, waves, time_decade (default "
       "gpu,family)",
       false},
      {"gpu", "NAME", "only rows of this GPU", true, FileUse::gpu, arch_values},
      {"model", "FILE", "judge a model of noteg train instead of the simulator (residual: behind it)", false,
       FileUse::input},
      {"table", "FILE", "writes what was simulated as a data set for noteg train (CSV)", false, FileUse::output},
      {"min-time-ms", "T", "set rows with a shorter measured time aside, and count them", false},
      {"predictions", "FILE", "writes every input row with what was predicted for it", false, FileUse::output},
      {"markdown", "FILE", "writes the page of documentation", false, FileUse::output},
      {"confidence", "FILE", "writes the table of errors that intervals are made of (docs/validation.md)", false,
       FileUse::output},
      {"sample", "N", "of each source, GPU, operation, type and family only N rows, spread evenly by a hash", false},
      report_option(),
      {"cold", "", "judge the column time_cold_ms, from a cold L2, instead of time_ms", false},
      {"l2", "STATE",
       "what L2 held before each row, instead of what its collection's way of measuring left: empty, cold, warm, "
       "steady or overwritten",
       false, FileUse::none, l2_values},
      {"kernel", "WHICH",
       "of rows that record none: auto (default), the fastest of the GPU's catalogue of library kernels; "
       "recorded: skip them",
       false, FileUse::none,
       [] {
         return std::vector<std::string>{"auto", "recorded"};
       }},
      {"leave-one-out", "", "every GPU without the constants that were fitted on its own rows (on: in arch files)",
       false},
      {"exact", "", "step through everything, extrapolate nothing", false},
      {"set", "KEY=VALUE", "overrides a key of every GPU: arch.l2.size=48MiB", true, FileUse::none, arch_set_values},
      {"format", "F", "text (default), json or csv", false, FileUse::none, format_values},
      {"jobs", "N", "threads, as many as there are cores if absent", false},
      {"quiet", "", "no progress bar, no remarks", false},
  };
}

std::string validate_help() {
  return "usage: noteg validate --data FILE [--data FILE ...] [options]\n\n"
         "Predicts every measured row and says how far off the predictions are. A row that the model cannot\n"
         "express is listed with the reason.\n\n" +
         help_of(validate_options()) + "\n" + validate::columns_help();
}

int run_validate(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, validate_options(), {});
  if (!arguments) return refuse("validate", arguments.errors());
  Diagnostics errors = set_errors(*arguments);
  const Format format = format_option(*arguments, errors);
  validate::ValidateOptions request = validate_options(*arguments, errors);
  if (!errors.empty()) return refuse("validate", errors);

  if (const std::optional<int> status = validate_compiled_launches(*arguments, format)) return *status;
  gpu::SmCache cache;
  const Result<std::optional<ReadyModel>> ready = ready_model(*arguments);
  if (!ready) return refuse("validate", ready.errors());
  const auto simulated = [&cache](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                  const kernels::GemmShape& shape,
                                  const gpu::SimOptions& sim) { return gpu::simulate(gpu, kernel, shape, sim, cache); };
  tune::KernelChooser chooser;
  if (arguments->text("kernel").value_or("auto") == "auto") request.chooser = library_kernels(chooser);
  learn::OutsideRuns outside;
  const Result<validate::Validation> validation = [&] {
    ProgressBar bar(!arguments->has("quiet"));
    request.progress = [&bar](std::size_t rows, std::size_t total) { bar.update(rows, total); };
    return validate::validate(arguments->texts("data"), request,
                              *ready ? learn::model_simulator(*(*ready)->estimator, cache, &outside) : simulated);
  }();
  if (!validation) return refuse("validate", validation.errors());
  if (!arguments->has("quiet")) {
    for (const std::string& source : validate::unknown_sources(validation->data))
      tell(fmt::format("source \"{}\" is not known: {} (docs/reference/measured-files.md)", source,
                       validate::measured_set_of(source).note));
  }
  if (const std::string text = outside.sentence(); !text.empty() && !arguments->has("quiet")) tell("warning: " + text);
  if (validation->predicted == 0) tell("no row could be predicted; see the reasons");
  int status = validation->predicted == 0 ? failed : done;
  if (const std::optional<std::string> path = arguments->text("table"))
    status = std::max(status, write_table(validation->data, *path, request, cache));
  return std::max(status, write(*validation, *arguments, format, request.by));
}

}  // namespace noteg::cli
