#include "sim/cli/manual.hpp"

#include <sstream>

#include <fmt/format.h>

#include "sim/cli/command.hpp"

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
      ".SH NAME\nnoteg \\- how a tiled GEMM kernel will run on a GPU that you do not have\n"
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

}  // namespace noteg::cli
