// The only place that writes to the terminal: results to standard output, everything else to standard error.
#pragma once

#include <string>
#include <string_view>

#include "sim/support/result.hpp"

namespace noteg::cli {

// Writes results. A reader that has seen enough (a closed pipe) ends the output quietly; any other failure, such as a
// full disk, is told on standard error. The exit status: done or failed.
[[nodiscard]] int print(std::string_view text);

// Writes a file, "-" being standard output. Told on standard error where it fails.
[[nodiscard]] int write_file(const std::string& path, std::string_view text);

// Is the folder there that the file is to lie in? Asked before a long run, so that it is told then and not after it.
[[nodiscard]] bool has_folder(const std::string& path);

void tell(std::string_view message);  // one line on standard error

// Every mistake on a line of its own, then where to find help. Returns wrong_input.
[[nodiscard]] int refuse(std::string_view command, const Diagnostics& errors);

// A pipe that is closed becomes a failed write instead of the end of the process.
void ignore_broken_pipes();

// While one exists, what this thread prints, tells and refuses is kept instead of written: for programs that run a
// command inside themselves. Innermost first.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::string out, err;

 private:
  Capture* outer_;
};

}  // namespace noteg::cli
