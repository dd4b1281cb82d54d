
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/serve/service.hpp"
#include "sim/serve/session.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

// The commands that a request may name; those that remember take the session.
struct Served {
  std::string_view name;
  int (*run)(const std::vector<std::string>& words, serve::Session& session);
};

constexpr std::array served{
    Served{"simulate", run_simulate},
    Served{"predict", run_predict},
    Served{"workload", run_workload},
    Served{"tune", [](const std::vector<std::string>& words, serve::Session&) { return run_tune(words); }},
    Served{"compare", [](const std::vector<std::string>& words, serve::Session&) { return run_compare(words); }},
};

bool names(const std::string& word, const Option& option) {
  return word == "--" + option.name || word.starts_with("--" + option.name + "=");
}

// An option that would write a file, as the command's table says; null where the words hold none.
const Option* writes(const std::vector<std::string>& words, const std::vector<Option>& options) {
  for (const Option& option : options) {
    const bool written =
        option.use == FileUse::output || option.use == FileUse::database || option.use == FileUse::folder;
    if (written && std::ranges::any_of(words, [&](const std::string& word) { return names(word, option); }))
      return &option;
  }
  return nullptr;
}

void add_default(std::vector<std::string>& words, const std::vector<Option>& options, const std::string& name,
                 const std::string& value) {
  const auto option = std::ranges::find(options, name, &Option::name);
  if (option == options.end()) return;
  if (std::ranges::any_of(words, [&](const std::string& word) { return names(word, *option); })) return;
  words.push_back("--" + name + (value.empty() ? "" : "=" + value));
}

serve::Ran refused(const std::string& key, const std::string& expected, const std::string& found) {
  return {wrong_input, "", to_string(Diagnostics{{"", 0, 0, key, expected, found}})};
}

serve::Ran answer(const std::string& name, std::vector<std::string> words, serve::Session& session) {
  const auto one = std::ranges::find(served, name, &Served::name);
  if (one == served.end())
    return refused("command", "simulate, predict, workload, tune or compare", "\"" + name.substr(0, 80) + "\"");
  const auto command = std::ranges::find(commands(), name, &Command::name);
  const std::vector<Option> options = command->options();
  if (const Option* option = writes(words, options)) return refused(option->name, "nothing that writes a file", "it");
  add_default(words, options, "format", "json");
  add_default(words, options, "jobs", "1");
  add_default(words, options, "quiet", "");
  Capture capture;
  try {
    const int status = one->run(words, session);
    return {status, std::move(capture.out), std::move(capture.err)};
  } catch (const std::exception& error) {
    return {failed, "", error.what()};
  }
}

}  // namespace

serve::Runner request_runner() {
  return [session = std::make_shared<serve::Session>()](const std::string& command,
                                                        const std::vector<std::string>& words) {
    return answer(command, words, *session);
  };
}

std::vector<Option> serve_options() {
  return {{"jobs", "N", "threads that answer, all cores if absent", false},
          {"quiet", "", "nothing on standard error but mistakes", false}};
}

std::string serve_help() {
  return "usage: noteg serve [--jobs N]\n\n"
         "Answers requests, a JSON object a line on standard input, with a JSON object a line on standard output, in\n"
         "the same order (docs/serve.md). A request names the options of simulate, compare, tune, predict or "
         "workload:\n"
         "  {\"id\": 1, \"command\": \"simulate\", \"arch\": \"l4\", \"kernel\": \"auto\", \"dtype\": \"f16\", "
         "\"shape\": [512, 4096, 4096]}\n"
         "and the answer holds what the command prints with --format json:\n"
         "  {\"id\":1,\"status\":0,\"result\":{...}}\n\n" +
         help_of(serve_options());
}

int run_serve(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, serve_options(), {});
  if (!arguments) return refuse("serve", arguments.errors());
  Diagnostics errors;
  serve::LineServerOptions lines;
  lines.in = STDIN_FILENO;
  lines.out = STDOUT_FILENO;
  lines.jobs = jobs_option(*arguments, errors);
  if (!errors.empty()) return refuse("serve", errors);
  lines.longest = serve::longest_line;
  lines.too_long = serve::Service::refusal("expected a line of at most " + std::to_string(lines.longest) + " bytes");
  serve::Service service(request_runner());
  const serve::Ended ended =
      serve::serve_lines(lines, [&service](std::string_view line) { return service.answer(line); });
  if (ended != serve::Ended::read_failed) return done;
  tell("standard input cannot be read");
  return failed;
}

}  // namespace noteg::cli
