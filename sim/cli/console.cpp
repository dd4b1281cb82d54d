#include "sim/cli/console.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "sim/cli/command.hpp"

namespace noteg::cli {
namespace {

thread_local Capture* capture = nullptr;

void write_error(std::string_view text) {
  if (capture != nullptr)
    capture->err += text;
  else
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

Capture::Capture() : outer_(capture) { capture = this; }
Capture::~Capture() { capture = outer_; }

int print(std::string_view text) {
  if (capture != nullptr) {
    capture->out += text;
    return done;
  }
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0) return done;
  if (errno == EPIPE) return done;
  tell(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return failed;
}

int write_file(const std::string& path, std::string_view text) {
  if (path == "-") return print(text);
  std::ofstream stream(path, std::ios::binary);
  stream << text << std::flush;
  if (stream) return done;
  tell(fmt::format("{}: cannot be written", path));
  return failed;
}

void tell(std::string_view message) { write_error(fmt::format("noteg: {}\n", message)); }

int refuse(std::string_view command, const Diagnostics& errors) {
  const std::string text = to_string(errors) + fmt::format("(`noteg {}--help` tells what is possible)\n",
                                                           command.empty() ? "" : fmt::format("{} ", command));
  write_error(text);
  return wrong_input;
}

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace noteg::cli
