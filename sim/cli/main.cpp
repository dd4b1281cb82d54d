#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include <sstream>
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/options.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

// Backslashes, dashes, and the dot and apostrophe that would make a line a request.
std::string escaped(const std::string& line) {
  std::string out;
  if (!line.empty() && (line.front() == '.' || line.front() == '\'')) out += "\\&";
  for (const char c : line) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string as_written(const std::string& text) {
  std::string out = ".nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += escaped(line) + "\n";
  return out + ".fi\n";
}

}  // namespace

std::string manual(const std::string& version) {
  std::string text = fmt::format(".TH NOTEG 1 \"\" \"noteg {}\" \"User Commands\"\n", version);
  text +=
      ".SH NAME\nnoteg \\- how a kernel will run on a GPU that you do not have\n"
      ".SH SYNOPSIS\n.B noteg\n.I COMMAND\n.RI [ options ]\n.br\n.B noteg\n.I COMMAND\n.B \\-\\-help\n"
      ".SH DESCRIPTION\n"
      "NoteG simulates GEMM kernels on GPUs described by text files: run time, power, what limits the kernel, and how\n"
      "these change with the GPU and the kernel. Results go to standard output, everything else to standard error.\n"
      ".SH COMMANDS\n";
  for (const Command& command : commands())
    text += fmt::format(".SS {}\n{}.\n.PP\n{}", command.name, command.summary, as_written(command.help()));
  text +=
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe run failed\n.TP\n2\nthe input is wrong\n"
      ".SH ENVIRONMENT\n.TP\nNOTEG_ARCH_PATH\nfolders of architecture files, separated by colons\n"
      ".TP\nNOTEG_KERNEL_PATH\nfolders of kernel files, separated by colons\n"
      ".SH FILES\n.TP\nshare/noteg/arch, share/noteg/kernels\nthe files that come with the program\n"
      ".SH SEE ALSO\nThe pages of share/doc/noteg/docs, overview.md first.\n";
  return text;
}

namespace {

std::string general_help() {
  std::string text =
      "noteg: how a kernel will run on a GPU that you do not have\n\nusage: noteg COMMAND [options]\n\n";
  for (const Command& command : commands()) text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  return text +
         "\n  noteg COMMAND --help   options of a command\n  noteg --version        version\n  noteg --man            "
         "manual page: noteg --man | man -l -\n\n"
         "Results go to standard output, everything else to standard error.\n"
         "Exit status: 0 done, 1 the run failed, 2 the input is wrong.\n";
}

int unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  const std::vector<std::string> near = nearest_names(word, names, 2);
  const std::string hint = near.empty() ? "" : " (did you mean " + join_or(near) + "?)";
  return refuse("", {{"", 0, 0, "command", join_or(names), "\"" + word + "\"" + hint}});
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) return refuse("", {{"", 0, 0, "command", "one", "nothing"}});
  if (words.front() == "--help" || words.front() == "-h" || words.front() == "help") return print(general_help());
  if (words.front() == "--version") return print(fmt::format("noteg {}\n", NOTEG_VERSION));
  if (words.front() == "--complete") return print(completions({words.begin() + 1, words.end()}));
  if (words.front() == "--man") return print(manual(NOTEG_VERSION));
  const auto command = std::ranges::find(commands(), words.front(), &Command::name);
  if (command == commands().end()) return unknown_command(words.front());
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  const bool wants_help =
      std::ranges::any_of(rest, [](const std::string& word) { return word == "--help" || word == "-h"; });
  return wants_help ? print(command->help()) : command->run(rest);
}

}  // namespace

}  // namespace noteg::cli

int main(int count, char** words) {
  using namespace noteg::cli;
  make_writes_fail_plainly();
  try {
    return run({words + std::min(count, 1), words + count});
  } catch (const std::bad_alloc&) {
    tell("out of memory");
  } catch (const std::exception& error) {
    tell(error.what());
  } catch (...) {
    tell("an unknown failure");
  }
  return failed;
}
