// noteg dataset info|export|merge: what one does with a data set.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/dataset/export.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

using dataset::DataSetInfo;

std::string as_text(const std::string& path, const DataSetInfo& info) {
  std::string text =
      fmt::format("data set    {}\nrows        {} of {}{}\nsweep       {}\n", path, info.rows, info.expected,
                  info.shard == "1/1" ? "" : fmt::format(", shard {}", info.shard), info.sweep_hash);
  const auto list = [&](std::string_view title, const std::map<std::string, std::size_t>& counts) {
    std::string line;
    for (const auto& [name, count] : counts) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, count);
    text += fmt::format("{:<12}{}\n", title, line);
  };
  list("columns", info.columns_by_group);
  list("GPUs", info.rows_by_gpu);
  list("families", info.rows_by_family);
  text += fmt::format("impossible  {}\n", info.failed);
  for (const auto& [error, count] : info.errors) text += fmt::format("  {:>8}  {}\n", count, error);
  if (!info.targets.empty()) text += fmt::format("\n{:<14} {:>12} {:>12} {:>12}\n", "target", "least", "mean", "most");
  for (const DataSetInfo::Range& range : info.targets)
    text += fmt::format("{:<14} {:>12.6g} {:>12.6g} {:>12.6g}  {}\n", range.name, range.low, range.mean, range.high,
                        range.unit);
  return text;
}

std::string as_json(const std::string& path, const DataSetInfo& info) {
  nlohmann::ordered_json json{{"file", path},
                              {"rows", info.rows},
                              {"expected", info.expected},
                              {"impossible", info.failed},
                              {"shard", info.shard},
                              {"sweep_hash", info.sweep_hash},
                              {"columns_by_group", info.columns_by_group},
                              {"rows_by_gpu", info.rows_by_gpu},
                              {"rows_by_family", info.rows_by_family}};
  json["targets"] = nlohmann::ordered_json::array();
  for (const DataSetInfo::Range& range : info.targets)
    json["targets"].push_back(
        {{"name", range.name}, {"unit", range.unit}, {"least", range.low}, {"mean", range.mean}, {"most", range.high}});
  json["errors"] = nlohmann::ordered_json::array();
  for (const auto& [error, count] : info.errors) json["errors"].push_back({{"error", error}, {"rows", count}});
  return json.dump(2) + "\n";
}

int run_info(const Arguments& arguments, const std::string& path) {
  Diagnostics errors;
  const Format format = format_option(arguments, errors);
  for (const char* name : {"out", "groups"})
    if (arguments.has(name)) errors.push_back({"", 0, 0, std::string("--") + name, "nothing with info", "a value"});
  if (format == Format::csv) errors.push_back({"", 0, 0, "--format", "text or json", "\"csv\""});
  if (!errors.empty()) return refuse("dataset", errors);
  const Result<DataSetInfo> info = dataset::data_set_info(path);
  if (!info) return refuse("dataset", info.errors());
  return print(format == Format::json ? as_json(path, *info) : as_text(path, *info));
}

std::string description_text(const dataset::Description& d) {
  std::string text = fmt::format(
      "{} rows of {} shapes; correlation of ranks with {}\n\n{:<34}{:>12}{:>12}{:>12}{:>9}{:>6}\n", d.rows, d.shapes,
      d.target.empty() ? "nothing: no target" : d.target, "column", "least", "mean", "most", "missing", "corr");
  for (const dataset::Description::Column& c : d.columns)
    text += c.words.empty() ? fmt::format("{:<34}{:>12.5g}{:>12.5g}{:>12.5g}{:>9}{:>6.2f}  {}\n", c.name, c.low, c.mean,
                                          c.high, c.missing, c.correlation, c.unit)
                            : fmt::format("{:<34}{} words: {}\n", c.name, c.different, c.words);
  return text;
}

std::string coverage_text(const dataset::Coverage& c, const std::string& file) {
  std::string text = fmt::format("\n{}: {} of {} rows lie inside the data set\n", file, c.inside, c.rows);
  for (const dataset::Outside& o : c.outside)
    text +=
        fmt::format("  {:>5.1f} %  {}: {} {} lies outside {}\n", 100 * o.share, o.column, o.example, o.unit, o.holds);
  return text;
}

nlohmann::ordered_json json_of(const dataset::Description& d) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const dataset::Description::Column& c : d.columns)
    columns.push_back({{"name", c.name},
                       {"unit", c.unit},
                       {"group", dataset::name_of(c.group)},
                       {"missing", c.missing},
                       {"different", c.different},
                       {"least", c.low},
                       {"mean", c.mean},
                       {"most", c.high},
                       {"words", c.words},
                       {"rank_correlation", c.correlation}});
  return {{"rows", d.rows}, {"shapes", d.shapes}, {"target", d.target}, {"columns", columns}};
}

int run_describe(const Arguments& arguments, const std::string& path) {
  Diagnostics errors;
  const Format format = format_option(arguments, errors);
  if (format == Format::csv) errors.push_back({"", 0, 0, "--format", "text or json", "\"csv\""});
  if (!errors.empty()) return refuse("dataset", errors);
  const Result<dataset::Table> table = dataset::read_table(path, dataset::known_column);
  if (!table) return refuse("dataset", table.errors());
  const dataset::Description described = dataset::describe(*table);
  std::string text = description_text(described);
  nlohmann::ordered_json json = json_of(described);
  if (const std::optional<std::string> file = arguments.text("against")) {
    const Result<dataset::Table> asked = dataset::read_table(*file, dataset::known_column);
    if (!asked) return refuse("dataset", asked.errors());
    const dataset::Coverage coverage = dataset::coverage_of(*table, *asked);
    text += coverage_text(coverage, *file);
    json["against"] = {{"file", *file}, {"rows", coverage.rows}, {"inside", coverage.inside}};
    json["against"]["outside"] = nlohmann::ordered_json::array();
    for (const dataset::Outside& o : coverage.outside)
      json["against"]["outside"].push_back(
          {{"column", o.column}, {"share", o.share}, {"holds", o.holds}, {"example", o.example}});
  }
  return print(format == Format::json ? json.dump(2) + "\n" : text);
}

std::vector<dataset::Group> groups_option(const Arguments& arguments, Diagnostics& errors) {
  std::vector<dataset::Group> groups;
  const std::string text = arguments.text("groups").value_or("");
  for (const std::string& word : comma_list(text)) {
    if (const std::optional<dataset::Group> group = dataset::group_from(word))
      groups.push_back(*group);
    else
      errors.push_back({"", 0, 0, "--groups", "config, arch, physics, counter, target or other", "\"" + word + "\""});
  }
  return groups;
}

int run_export(const Arguments& arguments, const std::string& path) {
  Diagnostics errors;
  const std::vector<dataset::Group> groups = groups_option(arguments, errors);
  if (!errors.empty()) return refuse("dataset", errors);
  const Result<DataSetInfo> info = dataset::data_set_info(path);
  if (!info) return refuse("dataset", info.errors());
  dataset::export_csv(path, arguments.text("out").value_or("-"), groups);
  return done;
}

int run_merge(const Arguments& arguments, const std::vector<std::string>& parts) {
  const std::optional<std::string> out = arguments.text("out");
  if (!out) return refuse("dataset", {{"", 0, 0, "--out", "a file to write", "nothing"}});
  const Result<dataset::Merged> merged = dataset::merge_data_sets(parts, *out);
  if (!merged) return refuse("dataset", merged.errors());
  tell(fmt::format("{}: {} of {} rows from {} files", *out, merged->rows, merged->expected, parts.size()));
  if (merged->rows < merged->expected) tell("rows are missing: a shard is not finished, or not among the files");
  return done;
}

}  // namespace

std::vector<Option> dataset_options() {
  return {
      {"out", "FILE", "file to write; of export: standard output if absent", false, FileUse::output},
      {"groups", "G,...", "of export: only these groups of columns (config, arch, physics, counter, target, other)",
       false, FileUse::none,
       [] { return std::vector<std::string>{"config", "arch", "physics", "counter", "target", "other"}; }},
      {"against", "FILE", "of describe: measured rows, or another data set; which of them lie outside this one", false,
       FileUse::input},
      {"format", "F", "of info and describe: text (default) or json", false, FileUse::none, page_values},
  };
}

std::string dataset_help() {
  return "usage: noteg dataset info D.db\n"
         "       noteg dataset describe D.db|D.csv [--against measured.csv]\n"
         "       noteg dataset export D.db [--out D.csv] [--groups config,target]\n"
         "       noteg dataset merge PART.db [PART.db ...] --out D.db\n\n"
         "What a data set of noteg generate holds, and which measured rows lie outside it; its rows as CSV; the shards "
         "of a sweep as one data set.\n\n" +
         help_of(dataset_options());
}

int run_dataset(const std::vector<std::string>& words) {
  const Result<Arguments> arguments =
      parse_arguments(words, dataset_options(), {"ACTION and FILE", 2, 1'000'000, FileUse::input});
  if (!arguments) return refuse("dataset", arguments.errors());
  const std::string& action = arguments->positional().front();
  const std::vector<std::string> files(arguments->positional().begin() + 1, arguments->positional().end());
  if (action == "merge") return run_merge(*arguments, files);
  if (action != "info" && action != "export" && action != "describe")
    return refuse("dataset", {{"", 0, 0, "ACTION", "info, describe, export or merge", "\"" + action + "\""}});
  if (files.size() > 1) return refuse("dataset", {{"", 0, 0, "FILE", "one data set", "several"}});
  if (action == "describe") return run_describe(*arguments, files.front());
  return action == "info" ? run_info(*arguments, files.front()) : run_export(*arguments, files.front());
}

}  // namespace noteg::cli
