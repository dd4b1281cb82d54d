// The only place that writes to the terminal: results to standard output, everything else to standard error.
#pragma once

#include <string>
#include <string_view>

#include "sim/support/result.hpp"

namespace noteg::cli {

// Writes results, text, JSON or CSV, with control characters made visible (sim/support/text_bytes.hpp): names come from
// files, and a terminal would obey them. A reader that has seen enough (a closed pipe) ends the output quietly; any
// other failure, such as a full disk, is told on standard error. The exit status: done or failed.
[[nodiscard]] int print(std::string_view text);

// Writes a file as it is, "-" being standard output (sim/support/output_file.hpp). Told on standard error where it
// fails.
[[nodiscard]] int write_file(const std::string& path, std::string_view text);

void tell(std::string_view message);  // one line on standard error, control characters made visible

// Every mistake on a line of its own, then where to find help. Returns wrong_input.
[[nodiscard]] int refuse(std::string_view command, const Diagnostics& errors);

// A closed pipe and a limit on the size of files become failed writes instead of the end of the process; a standard
// stream that is closed stays so instead of lending its number to the first file that is opened.
void make_writes_fail_plainly();

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
