#include "sim/cli/console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "sim/cli/command.hpp"
#include "sim/support/output_file.hpp"
#include "sim/support/text_bytes.hpp"

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

int print(std::string_view text) { return write_file("-", printable(text)); }

int write_file(const std::string& path, std::string_view text) {
  if (capture != nullptr && path == "-") {
    capture->out += text;
    return done;
  }
  try {
    OutputFile file(path);
    file.write(text);
    file.finish();
    return done;
  } catch (const OutputError& error) {
    tell(error.what());
    return failed;
  }
}

void tell(std::string_view message) { write_error(fmt::format("noteg: {}\n", printable(message))); }

int refuse(std::string_view command, const Diagnostics& errors) {
  const std::string text = to_string(errors) + fmt::format("(`noteg {}--help` tells what is possible)\n",
                                                           command.empty() ? "" : fmt::format("{} ", command));
  write_error(text);
  return wrong_input;
}

void make_writes_fail_plainly() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace noteg::cli
