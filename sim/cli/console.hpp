// The only place that writes to the terminal: results to standard output, everything else to standard error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "sim/cli/options.hpp"
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

// A progress bar with rate and time left, on a terminal only: into a pipe or a file nothing is written.

class ProgressBar {
 public:
  // enabled: false for --quiet; a standard error that is no terminal disables it too.
  explicit ProgressBar(bool enabled);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::size_t finished, std::size_t total);  // redraws at most ten times a second

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

// "[####....] 120/500  40.0/s  9 s left"
[[nodiscard]] std::string progress_line(std::size_t finished, std::size_t total, double seconds);

// SIGINT and SIGTERM as a wish to stop: the work at hand is finished and written. A second one ends the process at
// once.

// Installs the handlers; the flag becomes true with the first signal. The one piece of state that a process has only
// once, as it has its signals once.
[[nodiscard]] const std::atomic<bool>& stop_on_signal();

// For programs that run a command inside themselves: begins with no signal seen, and gives the handlers back that were
// there before.
class StopScope {
 public:
  StopScope();
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  [[nodiscard]] bool stopped_by_signal() const;

 private:
  using Handler = void (*)(int);
  Handler interrupt_, terminate_;
};

// --report FILE: the command's result as one HTML page beside what it prints.

[[nodiscard]] Option report_option();

// A folder that does not exist, a folder instead of a file, standard output: told before a long run, not after it.
void check_report(const Arguments& arguments, Diagnostics& errors);

// The command line that prints the figures of the page: all that was given but what concerns files and the terminal.
[[nodiscard]] std::string command_line(std::string_view command, const Arguments& arguments);

// Writes the page if it was asked for, with the command on it. The exit status: done, or failed where the file cannot
// be written.
[[nodiscard]] int write_report(std::string_view command, const Arguments& arguments,
                               const std::function<std::string()>& page);

}  // namespace noteg::cli
