// noteg adapt: few measured rows of a card into an architecture file and a model; and which rows to measure next.
#include <fmt/format.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "arch/field.hpp"
#include "arch/print.hpp"
#include "sim/adapt/adapt.hpp"
#include "sim/adapt/mixture.hpp"
#include "sim/adapt/suggest.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/commands/runs.hpp"
#include "sim/cli/commands/train_report.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/learn/measured_table.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "sim/validate/columns.hpp"

namespace noteg::cli {
namespace {

using adapt::Adaptation;

struct AdaptSettings {
  Format format = Format::text;
  std::size_t suggest = 0;
  adapt::Request request;
  adapt::Candidates candidates;
};

AdaptSettings adapt_settings(const Arguments& arguments, Diagnostics& errors) {
  AdaptSettings out;
  out.format = format_option(arguments, errors);
  if (out.format == Format::csv) errors.push_back({"", 0, 0, "--format", "text or json", "\"csv\""});
  out.request.jobs = jobs_option(arguments, errors);
  out.request.rows = static_cast<std::size_t>(count_option(arguments, "rows", 0, 1 << 30, errors));
  out.request.seed = static_cast<std::uint64_t>(count_option(arguments, "seed", 1, 1LL << 62, errors));
  out.request.constants = !arguments.has("no-constants");
  if (!arguments.has("quiet")) out.request.tell = [](const std::string& what) { tell(what); };
  out.suggest = static_cast<std::size_t>(count_option(arguments, "suggest", 0, 1000, errors));
  out.candidates.seed = out.request.seed;
  if (!arguments.has("arch")) errors.push_back({"", 0, 0, "--arch", "a GPU", "nothing"});
  if (!arguments.has("data") && out.suggest == 0)
    errors.push_back({"", 0, 0, "--data", "a measured file (or --suggest N)", "nothing"});
  if (!arguments.has("out") && out.suggest == 0 && !arguments.has("curve"))
    errors.push_back({"", 0, 0, "--out", "the name of the files to write", "nothing"});
  if (const std::optional<std::string> types = arguments.text("dtype"))
    out.candidates.types = data_types(*types, errors);
  if (out.request.tell == nullptr) out.request.tell = [](const std::string&) {};
  return out;
}

std::string constant_line(const adapt::Constant& c, bool helped) {
  const arch::Field& field = arch::fields()[*arch::find_field(c.key)];
  const auto value = [&](double v) { return arch::format_value(field, arch::Value{v}); };
  if (!c.moved) return fmt::format("{:<24}{:>12}  the rows say nothing of it\n", c.key, value(c.before));
  return fmt::format("{:<24}{:>12} -> {}, +- {:.1f} % (beforehand {:.1f} %){}\n", c.key, value(c.before),
                     value(c.after), 100 * c.deviation, 100 * c.prior,
                     helped ? "" : "; not taken: shapes held out are no better");
}

std::string to_text(const Adaptation& a) {
  std::string text = fmt::format("{} rows of {} shapes", a.rows, a.shapes);
  if (a.hidden > 0) text += fmt::format(", {} more behind the host's dispatch", a.hidden);
  if (a.other_gpus > 0) text += fmt::format(", {} of other GPUs or not taken", a.other_gpus);
  text += "\n";
  for (const auto& [reason, rows] : a.skipped) text += fmt::format("{} rows skipped: {}\n", rows, reason);
  if (!a.constants.empty()) text += "\nconstants\n";
  for (const adapt::Constant& c : a.constants) text += constant_line(c, a.constants_helped);
  text += fmt::format(
      "\nerror of the run time, whole shapes held out: simulator {:.1f} %, adapted {:.1f} %\n"
      "of the measured over simulated times, the Gaussian process is believed {:.0f} %, the forest {:.0f} %",
      100 * a.simulator, 100 * a.adapted, 100 * a.process_share, 100 * a.forest_share);
  text += a.others ? ",\nand the process holds what other GPUs have in common\n" : "\n";
  if (a.process_share == 0 && a.forest_share == 0)
    text += "the rows confirm no correction: the model leaves the simulator as it is\n";
  return text;
}

std::string to_json(const Adaptation& a) {
  nlohmann::ordered_json constants = nlohmann::ordered_json::array();
  for (const adapt::Constant& c : a.constants)
    constants.push_back({{"key", c.key},
                         {"before", c.before},
                         {"after", a.constants_helped ? c.after : c.before},
                         {"prior_deviation", c.prior},
                         {"deviation", c.deviation},
                         {"known", c.moved}});
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
  for (const auto& [reason, rows] : a.skipped) skipped.push_back({{"reason", reason}, {"rows", rows}});
  return nlohmann::ordered_json{{"rows", a.rows},
                                {"shapes", a.shapes},
                                {"hidden", a.hidden},
                                {"rows_left_out", a.other_gpus},
                                {"skipped", skipped},
                                {"constants", constants},
                                {"held_out", {{"simulator_mape", a.simulator}, {"adapted_mape", a.adapted}}},
                                {"process_share", a.process_share},
                                {"forest_share", a.forest_share},
                                {"others", a.others}}
             .dump(2) +
         "\n";
}

// What rows of other GPUs are taken from: the file named, or the one that comes with the program.
Result<std::optional<dataset::Table>> other_gpus(const Arguments& arguments) {
  const std::string name = arguments.text("prior").value_or("");
  if (name == "none") return std::optional<dataset::Table>();
  const std::optional<std::filesystem::path> shipped =
      name.empty() ? adapt::shipped_rows() : std::optional<std::filesystem::path>(name);
  if (!shipped) return std::optional<dataset::Table>();
  Result<dataset::Table> table = dataset::read_table(shipped->string(), dataset::known_column);
  if (!table) return table.errors();
  return std::optional(std::move(*table));
}

// Measured rows of the GPU beside their simulations: simulated now, or what noteg train --table kept.
Result<learn::MeasuredTable> table_of(const arch::SourcedGpu& gpu, const Arguments& arguments,
                                      const adapt::Request& request, const validate::Simulator& simulator) {
  const std::vector<std::string> files = arguments.texts("data");
  const Result<CsvTable> csv = read_csv(files.front());
  if (csv && files.size() == 1 && learn::is_measured_table(csv->columns)) {
    Result<dataset::Table> table = dataset::read_table(files.front(), dataset::known_column);
    if (!table) return table.errors();
    return learn::simulated_before(std::move(*table), {gpu.gpu.id});
  }
  const Result<validate::MeasuredData> data = validate::read_measured(files);
  if (!data) return data.errors();
  learn::MeasuredOptions options;
  options.jobs = request.jobs;
  options.gpus = {gpu.gpu.id};
  options.chooser = request.chooser;
  return learn::measured_table(*data, options, simulator);
}

int run_curve(const arch::SourcedGpu& gpu, const Arguments& arguments, const AdaptSettings& wanted,
              const validate::Simulator& simulator) {
  const Result<learn::MeasuredTable> measured = table_of(gpu, arguments, wanted.request, simulator);
  if (!measured) return refuse("adapt", measured.errors());
  adapt::CurveOptions options;
  if (wanted.request.others) {
    Result<std::optional<learn::GaussianProcess>> others = adapt::process_of(*wanted.request.others, gpu.gpu.id);
    if (!others) return refuse("adapt", others.errors());
    options.others = std::move(*others);
  }
  options.seed = wanted.request.seed;
  options.jobs = wanted.request.jobs;
  const Result<std::vector<adapt::CurvePoint>> curve = adapt::few_shot_curve(*measured, options);
  if (!curve) return refuse("adapt", curve.errors());
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text = fmt::format("{:>6}{:>9}{:>12}{:>10}{:>8}{:>8}   {}\n", "rows", "judged", "simulator", "adapted",
                                 "worst", "plain", "inside 80, 90, 95 %");
  for (const adapt::CurvePoint& p : *curve) {
    json.push_back({{"rows", p.rows},
                    {"judged", p.judged},
                    {"simulator_mape", p.simulator},
                    {"adapted_mape", p.adapted},
                    {"worst_ratio", p.worst},
                    {"plain_mape", p.plain},
                    {"inside", p.inside}});
    text += fmt::format("{:>6}{:>9}{:>10.1f} %{:>8.1f} %{:>8.2f}{:>6.0f} %   {:.0f}, {:.0f}, {:.0f} %\n", p.rows,
                        p.judged, 100 * p.simulator, 100 * p.adapted, p.worst, 100 * p.plain, 100 * p.inside[0],
                        100 * p.inside[1], 100 * p.inside[2]);
  }
  text += "\nworst: adapted over simulator in the worst draw; plain: extra-trees on the time, without a simulator\n";
  return print(wanted.format == Format::json ? json.dump(2) + "\n" : text);
}

// What is known already, for --suggest: where its rows lie, and their types.
struct KnownRows {
  learn::Places places;
  std::vector<kernels::DataType> types;
};

Result<KnownRows> known_rows(const arch::SourcedGpu& gpu, const Arguments& arguments, const adapt::Request& request,
                             const validate::Simulator& simulator) {
  KnownRows known;
  if (!arguments.has("data")) return known;
  const Result<learn::MeasuredTable> measured = table_of(gpu, arguments, request, simulator);
  if (!measured) return measured.errors();
  Result<learn::Places> places = learn::places_of(measured->table, learn::coordinates());
  if (!places) return places.errors();
  known.places = std::move(*places);
  std::set<kernels::DataType> types;
  const dataset::Values& names = *measured->table.find("kernel.dtype_in");
  for (const std::string& name : names.words)
    if (const std::optional<kernels::DataType> type = kernels::data_type_from(name)) types.insert(*type);
  known.types.assign(types.begin(), types.end());
  return known;
}

int run_suggest(const arch::SourcedGpu& gpu, const Arguments& arguments, AdaptSettings& wanted,
                const validate::Simulator& simulator) {
  const Result<KnownRows> known = known_rows(gpu, arguments, wanted.request, simulator);
  if (!known) return refuse("adapt", known.errors());
  if (!arguments.has("dtype") && !known->types.empty()) wanted.candidates.types = known->types;
  const Result<std::vector<adapt::Launch>> launches =
      adapt::suggest(gpu.gpu, known->places, wanted.suggest, wanted.candidates, wanted.request.chooser, simulator);
  if (!launches) return refuse("adapt", launches.errors());
  const std::string name = arguments.text("out").value_or("");
  const std::string csv = adapt::to_csv(*launches, gpu.gpu);
  int status = done;
  if (!name.empty()) {
    status = write_file(name + ".csv", csv);
    const std::string file = std::filesystem::path(name + ".csv").filename().string();
    status = std::max(status, write_file(name + ".py", adapt::torch_script(*launches, gpu.gpu, file)));
  }
  if (wanted.format == Format::json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const adapt::Launch& launch : *launches)
      list.push_back({{"dtype", kernels::name_of(launch.kernel.dtype_in)},
                      {"M", launch.shape.m},
                      {"N", launch.shape.n},
                      {"K", launch.shape.k},
                      {"simulated_us", launch.simulated_us}});
    return std::max(status, print(list.dump(2) + "\n"));
  }
  std::string text = name.empty() ? csv + "\n" : fmt::format("{0}.csv to fill in, {0}.py fills it in\n\n", name);
  for (const std::string& line : adapt::profiler_lines(*launches)) text += line + "\n";
  return std::max(status, print(text));
}

int run_adaptation(const arch::SourcedGpu& gpu, const Arguments& arguments, AdaptSettings& wanted,
                   const validate::Simulator& simulator) {
  const Result<validate::MeasuredData> data = validate::read_measured(arguments.texts("data"));
  if (!data) return refuse("adapt", data.errors());
  const std::string name = *arguments.text("out");
  wanted.request.name = std::filesystem::path(name).filename().string();
  const Result<Adaptation> adapted = adapt::adapt(gpu, *data, wanted.request, simulator);
  if (!adapted) return refuse("adapt", adapted.errors());
  const std::string comment = fmt::format("{}, adapted to {} measured rows: the numbers marked as fitted are new.",
                                          gpu.gpu.name, adapted->rows);
  int status = write_file(name + ".yaml", arch::to_yaml(adapted->gpu, comment));
  status = std::max(status, write_file(name + ".json", learn::to_json(adapted->model)));
  const std::string text =
      to_text(*adapted) + fmt::format("\nnoteg predict --model {0}.json --arch {0}.yaml KERNEL\n", name);
  return std::max(status, print(wanted.format == Format::json ? to_json(*adapted) : text));
}

}  // namespace

std::vector<Option> adapt_options() {
  return {
      {"arch", "ARCH", "GPU: a name (`noteg arch list`) or a file", false, FileUse::gpu, arch_values},
      {"data", "FILE", "measured rows: .csv, .csv.gz, or a folder of them; other GPUs' rows are left out", true,
       FileUse::input},
      {"rows", "N", "as many of them, taken at random; all if absent", false},
      {"out", "NAME", "writes NAME.yaml (the GPU) and NAME.json (the model); with --suggest NAME.csv and NAME.py",
       false, FileUse::output},
      {"suggest", "N", "names N launches to measure next, those that tell most; --data is then what is known already",
       false},
      {"dtype", "TYPES", "with --suggest: types of the operands, with commas; if absent those of --data, or f16",
       false},
      {"curve", "", "what more rows would bring: the error on other shapes after 10, 50, 200 and 1000 rows of --data",
       false},
      {"prior", "FILE",
       "rows of other GPUs beside their simulations, as noteg train --residual --table writes them; none: nothing is "
       "taken from other GPUs (default: those that come with the program)",
       false, FileUse::input},
      {"no-constants", "", "leaves the numbers of the GPU as they are", false},
      {"seed", "N", "of all random choices, 1 if absent", false},
      {"format", "F", "text (default) or json", false, FileUse::none, page_values},
      {"jobs", "N", "threads, as many as there are cores if absent", false},
      {"quiet", "", "nothing on standard error but mistakes", false},
  };
}

std::string adapt_help() {
  return "usage: noteg adapt --arch ARCH --data FILE [--rows N] --out NAME [options]\n"
         "       noteg adapt --arch ARCH [--data FILE] --suggest N [--out NAME] [options]\n"
         "       noteg adapt --arch ARCH --data FILE --curve [options]\n\n"
         "From few measured rows of a card to a better model of it: NAME.yaml, the GPU with those constants moved "
         "that\n"
         "the rows can tell, and NAME.json, a model of what is left over, for `noteg predict --model NAME.json --arch\n"
         "NAME.yaml` and `noteg validate --model`. Whole shapes held out decide how far the rows are believed; where\n"
         "they confirm nothing, the model leaves the simulator as it is. Four rows are the least, 10 to 200 are "
         "usual.\n\n" +
         help_of(adapt_options()) + "\n" + validate::columns_help();
}

int run_adapt(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, adapt_options(), {});
  if (!arguments) return refuse("adapt", arguments.errors());
  Diagnostics errors;
  AdaptSettings wanted = adapt_settings(*arguments, errors);
  const Result<arch::SourcedGpu> gpu =
      arguments->has("arch") ? arch::load_sourced_gpu(*arguments->text("arch")) : arch::SourcedGpu{};
  if (!gpu) add(errors, gpu.errors());
  if (!errors.empty()) return refuse("adapt", errors);
  gpu::SmCache cache;
  const validate::Simulator simulator = [&cache](const arch::GpuSpec& spec, const kernels::KernelConfig& kernel,
                                                 const kernels::GemmShape& shape, const gpu::SimOptions& sim) {
    return gpu::simulate(spec, kernel, shape, sim, cache);
  };
  tune::KernelChooser chooser;
  wanted.request.chooser = library_kernels(chooser);
  Result<std::optional<dataset::Table>> others = other_gpus(*arguments);
  if (!others) return refuse("adapt", others.errors());
  wanted.request.others = std::move(*others);
  if (arguments->has("curve")) return run_curve(*gpu, *arguments, wanted, simulator);
  return wanted.suggest > 0 ? run_suggest(*gpu, *arguments, wanted, simulator)
                            : run_adaptation(*gpu, *arguments, wanted, simulator);
}

}  // namespace noteg::cli
