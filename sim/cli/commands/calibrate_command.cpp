// noteg calibrate: constants of a GPU fitted to measured rows, as a new architecture file.
#include "sim/calibrate/calibrate.hpp"

#include <fmt/format.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "arch/field.hpp"
#include "arch/print.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/commands/runs.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/support/text.hpp"
#include "sim/validate/columns.hpp"

namespace noteg::cli {
namespace {

using calibrate::Calibration;
using calibrate::Constant;

std::vector<std::string> names_in(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    for (std::string& name : comma_list(text)) names.push_back(std::move(name));
  }
  return names;
}

std::string with_unit(const Constant& constant, double value) {
  const arch::Field& field = arch::fields()[*arch::find_field(constant.key)];
  return arch::format_value(field, arch::Value{value});
}

std::string error_row(std::string_view what, const std::optional<validate::Metrics>& before,
                      const std::optional<validate::Metrics>& after) {
  if (!before || !after) return "";
  return fmt::format("{:<8}{:>9.1f} %{:>9.1f} %{:>11.1f} %{:>9.1f} %\n", what, 100 * before->mape, 100 * after->mape,
                     100 * before->median_ape, 100 * after->median_ape);
}

std::string error_table(const std::string& title, const calibrate::Errors& before, const calibrate::Errors& after) {
  return fmt::format("\n{} ({} rows)\n{:<8}{:>11}{:>11}{:>13}{:>11}\n", title, before.rows, "", "MAPE", "after",
                     "median", "after") +
         error_row("time", before.time, after.time) + error_row("power", before.power, after.power) +
         error_row("energy", before.energy, after.energy);
}

std::string to_text(const Calibration& c) {
  std::string text;
  for (const Constant& constant : c.constants)
    text += fmt::format("{:<28}{:>14} -> {}\n", constant.key, with_unit(constant, constant.before),
                        constant.moved ? with_unit(constant, constant.after) : "unchanged: no row depends on it");
  text += error_table("held out: every fifth shape", c.before, c.after);
  text += error_table("fitted on", c.fitted_before, c.fitted_after);
  if (c.other_rows > 0) text += fmt::format("\n{} rows left out: of other GPUs\n", c.other_rows);
  for (const auto& [reason, rows] : c.skipped) text += fmt::format("\n{} rows skipped: {}\n", rows, reason);
  return text;
}

nlohmann::ordered_json json_of(const calibrate::Errors& errors) {
  nlohmann::ordered_json json{{"rows", errors.rows}};
  const auto put = [&](const char* what, const std::optional<validate::Metrics>& metrics) {
    if (metrics) json[what] = {{"mape", metrics->mape}, {"median_ape", metrics->median_ape}, {"bias", metrics->bias}};
  };
  put("time", errors.time), put("power", errors.power), put("energy", errors.energy);
  return json;
}

std::string to_json(const Calibration& c) {
  nlohmann::ordered_json constants = nlohmann::ordered_json::array();
  for (const Constant& constant : c.constants)
    constants.push_back(
        {{"key", constant.key}, {"before", constant.before}, {"after", constant.after}, {"fitted", constant.moved}});
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
  for (const auto& [reason, rows] : c.skipped) skipped.push_back({{"reason", reason}, {"rows", rows}});
  return nlohmann::ordered_json{
             {"constants", constants},
             {"held_out", {{"before", json_of(c.before)}, {"after", json_of(c.after)}}},
             {"fitted_on", {{"before", json_of(c.fitted_before)}, {"after", json_of(c.fitted_after)}}},
             {"rows_left_out", c.other_rows},
             {"skipped", skipped}}
             .dump(2) +
         "\n";
}

Result<Calibration> calibration(const arch::SourcedGpu& gpu, const Arguments& arguments, unsigned jobs) {
  const Result<validate::MeasuredData> data = validate::read_measured(arguments.texts("data"));
  if (!data) return data.errors();
  gpu::SmCache cache;
  const auto simulator = [&cache](const arch::GpuSpec& spec, const kernels::KernelConfig& kernel,
                                  const kernels::GemmShape& shape, const gpu::SimOptions& sim) {
    return gpu::simulate(spec, kernel, shape, sim, cache);
  };
  tune::KernelChooser chooser;
  return calibrate::calibrate(gpu, *data, {names_in(arguments.texts("set")), jobs, library_kernels(chooser)},
                              simulator);
}

// Everything that is wrong with the words themselves; the format and the number of threads come back too.
struct CalibrateSettings {
  Format format = Format::text;
  unsigned jobs = 1;
};

CalibrateSettings calibrate_settings(const Arguments& arguments, Diagnostics& errors) {
  CalibrateSettings out;
  out.format = format_option(arguments, errors);
  if (out.format == Format::csv) errors.push_back({"", 0, 0, "--format", "text or json", "\"csv\""});
  out.jobs = jobs_option(arguments, errors);
  for (const auto& [name, expected] :
       {std::pair{"arch", "a GPU"}, std::pair{"data", "a measured file"}, std::pair{"out", "the file to write"}})
    if (!arguments.has(name)) errors.push_back({"", 0, 0, std::string("--") + name, expected, "nothing"});
  return out;
}

}  // namespace

std::vector<Option> calibrate_options() {
  return {
      {"arch", "ARCH", "GPU: a name (`noteg arch list`) or a file", false, FileUse::gpu, arch_values},
      {"data", "FILE", "measured rows: .csv, .csv.gz, or a folder of them; other GPUs' rows are left out", true,
       FileUse::input},
      {"out", "FILE", "the new architecture file", false, FileUse::output},
      {"set", "NAMES",
       "the constants to fit, with commas; if absent those that the file has fitted already, then clock.sustained, "
       "power.idle and sm.energy.fma, four in all",
       true, FileUse::none, calibrate::fittable_keys},
      {"format", "F", "text (default) or json", false, FileUse::none, page_values},
      {"jobs", "N", "threads, as many as there are cores if absent", false},
      {"quiet", "", "nothing on standard error but mistakes", false},
  };
}

std::string calibrate_help() {
  std::string all;
  for (const std::string& key : calibrate::fittable_keys()) all += "  " + key + "\n";
  return "usage: noteg calibrate --arch ARCH --data FILE [--data FILE ...] --out FILE [options]\n\n"
         "Fits constants of a GPU to measured times, powers and energies by least squares within bounds, and writes\n"
         "the GPU as a new architecture file in which they are marked as fitted. Every fifth shape is held out and\n"
         "judges the fit. At most four numbers of a file may be fitted: naming one that is replaces its fit. Rows\n"
         "that record no kernel are library calls: the best of the GPU's catalogue, chosen before the fit.\n\n" +
         help_of(calibrate_options()) + "\nconstants that may be fitted\n" + all + "\n" + validate::columns_help();
}

int run_calibrate(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, calibrate_options(), {});
  if (!arguments) return refuse("calibrate", arguments.errors());
  Diagnostics errors;
  const CalibrateSettings wanted = calibrate_settings(*arguments, errors);
  const Result<arch::SourcedGpu> gpu =
      arguments->has("arch") ? arch::load_sourced_gpu(*arguments->text("arch")) : arch::SourcedGpu{};
  if (!gpu) add(errors, gpu.errors());
  if (!errors.empty()) return refuse("calibrate", errors);
  const Result<Calibration> done_fit = calibration(*gpu, *arguments, wanted.jobs);
  if (!done_fit) return refuse("calibrate", done_fit.errors());
  const std::string comment = fmt::format("{}, calibrated from {}: the numbers marked as fitted are new.",
                                          gpu->gpu.name, std::filesystem::path(gpu->gpu.file).filename().string());
  const int status = write_file(*arguments->text("out"), arch::to_yaml(done_fit->gpu, comment));
  return std::max(status, print(wanted.format == Format::json ? to_json(*done_fit) : to_text(*done_fit)));
}

}  // namespace noteg::cli
