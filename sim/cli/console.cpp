#include "sim/cli/console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
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

bool has_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  return folder.empty() || std::filesystem::is_directory(folder, ignored);
}

// A file that is there is replaced only once the new one is whole: a full disk or a kill leaves the old one.
int write_file(const std::string& path, std::string_view text) {
  if (path == "-") return print(text);
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  const bool direct = kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found;
  const std::string target = direct ? path : fmt::format("{}.{}.part", path, getpid());
  const auto fail = [&] {
    const std::string why = errno != 0 ? std::strerror(errno) : "it cannot be written";
    if (!direct) std::filesystem::remove(target, error);
    tell(fmt::format("{}: {}", path, why));
    return failed;
  };
  errno = 0;
  std::ofstream stream(target, std::ios::binary);
  stream << text << std::flush;
  stream.close();
  if (!stream) return fail();
  if (direct) return done;
  errno = 0;
  if (std::rename(target.c_str(), path.c_str()) != 0) return fail();
  return done;
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
