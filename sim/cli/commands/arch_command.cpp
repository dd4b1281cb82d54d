// noteg arch: the GPUs known, their numbers with sources, the mistakes of a file, the schema for editors.
#include <algorithm>
#include <filesystem>

#include "arch/data_sheet.hpp"
#include "arch/derive.hpp"
#include "arch/print.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/compare/compare.hpp"
#include "sim/confidence/confidence.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

const Option format_spec{"format", "F", "text (default), json or csv", false, FileUse::none, format_values};
const Option diff_spec{"diff", "ARCH",       "only what differs from this GPU, or what-if copy of one",
                       true,   FileUse::gpu, arch_values};
const Option set_spec{"set", "KEY=VALUE", "overrides a key: arch.l2.size=48MiB", true, FileUse::none, arch_set_values};
const Option quiet_spec{"quiet", "", "nothing on standard error but mistakes", false};

// Runs a sub-command whose mistakes are those of the command line so far.
struct ArchRequest {
  Arguments arguments;
  Format format = Format::text;
};

Result<ArchRequest> arch_request(const std::vector<std::string>& words, const std::vector<Option>& options,
                                 const Positional& positional) {
  const Result<Arguments> arguments = parse_arguments(words, options, positional);
  if (!arguments) return arguments.errors();
  Diagnostics errors = set_errors(*arguments);
  const Format format = format_option(*arguments, errors);
  if (!errors.empty()) return errors;
  return ArchRequest{*arguments, format};
}

int list(const std::vector<std::string>& words) {
  const Result<ArchRequest> request = arch_request(words, {format_spec, quiet_spec}, {});
  if (!request) return refuse("arch", request.errors());
  switch (request->format) {
    case Format::text: return print(arch::list_text(gpu::validated_gpus()));
    case Format::json: return print(arch::list_json(gpu::validated_gpus()));
    case Format::csv: return print(arch::list_csv(gpu::validated_gpus()));
  }
  return failed;
}

int show_difference(const arch::GpuSpec& gpu, const ArchRequest& request) {
  const Result<std::vector<compare::Variant>> others =
      compare::load_variants(request.arguments.texts("diff"), arch_overrides(request.arguments));
  if (!others) return refuse("arch", others.errors());
  std::vector<std::string> labels{gpu.id};
  std::vector<const arch::GpuSpec*> gpus{&gpu};
  for (const compare::Variant& other : *others) {
    labels.push_back(other.label == gpu.id ? other.label + " (2)" : other.label);
    gpus.push_back(&other.gpu);
  }
  const std::vector<arch::Difference> differences = arch::differences(gpus);
  switch (request.format) {
    case Format::text: return print(compare::differences_text(labels, differences));
    case Format::json: return print(compare::differences_json(labels, differences));
    case Format::csv: return print(compare::differences_csv(labels, differences));
  }
  return failed;
}

int show_gpu(const std::vector<std::string>& words) {
  const Result<ArchRequest> request =
      arch_request(words, {diff_spec, format_spec, set_spec, quiet_spec}, {"ARCH", 1, 1, FileUse::gpu});
  if (!request) return refuse("arch", request.errors());
  const Result<arch::SourcedGpu> gpu =
      arch::load_sourced_gpu(request->arguments.positional().front(), arch_overrides(request->arguments));
  if (!gpu) return refuse("arch", gpu.errors());
  if (request->arguments.has("diff")) return show_difference(gpu->gpu, *request);
  switch (request->format) {
    case Format::text: return print(arch::show_text(*gpu));
    case Format::json: return print(arch::show_json(*gpu));
    case Format::csv: return print(arch::show_csv(*gpu));
  }
  return failed;
}

int check(const std::vector<std::string>& words) {
  const Result<ArchRequest> request = arch_request(words, {format_spec, quiet_spec}, {"FILE", 1, 1000, FileUse::input});
  if (!request) return refuse("arch", request.errors());
  if (request->format == Format::csv) return refuse("arch", {{"", 0, 0, "--format", "text or json", "\"csv\""}});
  Diagnostics errors;
  std::string text;
  for (const std::string& file : request->arguments.positional()) {
    const Result<arch::FileSummary> summary = arch::check_file(file);
    if (!summary)
      add(errors, summary.errors());
    else
      text += request->format == Format::json ? arch::check_json(*summary) : arch::check_text(*summary);
  }
  const int status = print(text);
  return errors.empty() ? status : refuse("arch", errors);
}

int schema(const std::vector<std::string>& words) {
  const Result<ArchRequest> request = arch_request(words, {quiet_spec}, {});
  return request ? print(arch::json_schema()) : refuse("arch", request.errors());
}

std::string dashed(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

std::vector<Option> new_options() {
  std::vector<Option> options;
  for (const arch::SheetEntry& entry : arch::sheet_entries())
    options.push_back({dashed(entry.name), std::string(entry.value),
                       std::string(entry.help) + (entry.required ? "" : " (derived if absent)"), false});
  options.push_back({"out", "FILE", "the new architecture file; standard output if absent", false});
  options.push_back({"template", "", "prints a file that holds all of these, to be filled in", false});
  options.push_back(quiet_spec);
  return options;
}

// What the file holds, options in place of what they repeat.
Result<arch::Sheet> sheet_of(const Arguments& arguments) {
  arch::Sheet sheet;
  if (!arguments.positional().empty()) {
    Result<arch::Sheet> read = arch::read_sheet(arguments.positional().front());
    if (!read) return read.errors();
    sheet = std::move(*read);
  }
  for (const arch::SheetEntry& entry : arch::sheet_entries()) {
    const std::optional<std::string> text = arguments.text(dashed(entry.name));
    if (!text) continue;
    std::erase_if(sheet, [&](const auto& one) { return one.first == entry.name; });
    sheet.emplace_back(entry.name, *text);
  }
  return sheet;
}

int make_new(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, new_options(), {"SHEET", 0, 1});
  if (!arguments) return refuse("arch", arguments.errors());
  if (arguments->has("template")) return print(arch::sheet_template());
  const Result<arch::Sheet> sheet = sheet_of(*arguments);
  if (!sheet) return refuse("arch", sheet.errors());
  const Result<arch::SourcedGpu> gpu = arch::gpu_of_sheet(*sheet);
  if (!gpu) return refuse("arch", gpu.errors());
  const std::string out = arguments->text("out").value_or("-");
  std::error_code absent;
  if (!arguments->positional().empty() && std::filesystem::equivalent(out, arguments->positional().front(), absent))
    return refuse("arch", {{"", 0, 0, "--out", "another file than the sheet", "\"" + out + "\""}});
  const std::string comment =
      gpu->gpu.name + ", made by noteg arch new from its data sheet (OWN); what is marked as a guess was derived.";
  return write_file(out, arch::to_yaml(*gpu, comment));
}

std::vector<Option> scale_options() {
  return {{"by", "FACTOR", "of SMs, L2, memory channels and power: 1/4, 0.5, 2", false},
          {"out", "FILE", "the new architecture file; standard output if absent", false, FileUse::output},
          set_spec,
          quiet_spec};
}

int scale(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, scale_options(), {"ARCH", 1, 1, FileUse::gpu});
  if (!arguments) return refuse("arch", arguments.errors());
  Diagnostics errors = set_errors(*arguments);
  const std::string by = arguments->text("by").value_or("");
  const std::optional<arch::Factor> factor = arch::factor_from(by);
  if (!factor)
    errors.push_back(
        {"", 0, 0, "--by", "a factor such as 1/4, from 1/64 to 16", by.empty() ? "nothing" : "\"" + by + "\""});
  const Result<arch::SourcedGpu> whole =
      arch::load_sourced_gpu(arguments->positional().front(), arch_overrides(*arguments));
  if (!whole) add(errors, whole.errors());
  if (!errors.empty()) return refuse("arch", errors);
  const Result<arch::SourcedGpu> gpu = arch::scaled_gpu(*whole, *factor);
  if (!gpu) return refuse("arch", gpu.errors());
  const std::string comment = gpu->gpu.name + ", made by noteg arch scale; nobody has built it. What is marked as\n" +
                              "DERIVED was scaled, all other numbers are those of the whole GPU.";
  return write_file(arguments->text("out").value_or("-"), arch::to_yaml(*gpu, comment));
}

struct SubCommand {
  std::string_view name;
  int (*run)(const std::vector<std::string>&);
};

constexpr SubCommand sub_commands[] = {{"list", list},    {"show", show_gpu}, {"check", check},
                                       {"new", make_new}, {"scale", scale},   {"schema", schema}};

}  // namespace

std::vector<Option> arch_options() {
  std::vector<Option> all{diff_spec, format_spec, set_spec, quiet_spec};
  for (Option& option : new_options()) all.push_back(std::move(option));
  all.push_back(scale_options().front());
  return all;
}

std::string arch_help() {
  return "usage: noteg arch list                     the GPUs known\n"
         "       noteg arch show ARCH [--set K=V]    every number with unit and source\n"
         "       noteg arch show A --diff B          the keys whose values differ\n"
         "       noteg arch check FILE...            the mistakes of architecture files\n"
         "       noteg arch new [SHEET] [options]    a GPU from its data sheet, the rest derived\n"
         "       noteg arch scale ARCH --by 1/4      a part of a GPU as a GPU of its own\n"
         "       noteg arch schema                   JSON Schema of these files, for editors\n\n" +
         help_of({diff_spec, format_spec, set_spec, quiet_spec}) + "\nof noteg arch new:\n" + help_of(new_options()) +
         "\nof noteg arch scale:\n" + help_of({scale_options().front()});
}

int run_arch(const std::vector<std::string>& words) {
  const std::string word = words.empty() ? "" : words.front();
  const auto found = std::ranges::find(sub_commands, word, &SubCommand::name);
  if (found == std::end(sub_commands))
    return refuse("arch", {{"", 0, 0, "arch", "list, show, check, new, scale or schema",
                            word.empty() ? "nothing" : "\"" + word + "\""}});
  return found->run({words.begin() + 1, words.end()});
}

}  // namespace noteg::cli
