#include "sim/cli/commands/runs.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/support/output_file.hpp"
#include "sim/support/text.hpp"
#include "sim/trace/recording.hpp"
#include "sim/trace/views.hpp"

namespace noteg::cli {
namespace {

constexpr std::int64_t longest_window = 200;  // iterations: some hundred megabytes of events
constexpr std::size_t usual_width = 100;

// A:B or A, from 0; nullopt: written otherwise.
std::optional<gpu::IterationWindow> window_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto first = parse_integer(text.substr(0, colon));
  const auto last = colon == std::string::npos ? first : parse_integer(text.substr(colon + 1));
  if (!first || !last || *first < 0 || *last < *first || *last - *first >= longest_window) return std::nullopt;
  return gpu::IterationWindow{*first, *last};
}

// As wide as COLUMNS says, else as the terminal is.
std::size_t columns() {
  const char* text = std::getenv("COLUMNS");
  auto wide = text == nullptr ? std::nullopt : parse_integer(text);
  winsize window{};
  if (!wide && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) wide = window.ws_col;
  return wide && *wide >= 40 && *wide <= 1000 ? static_cast<std::size_t>(*wide) : usual_width;
}

// Colours where a person reads them and has not asked for none (no-color.org).
bool wants_colour() {
  const char* none = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (none == nullptr || *none == '\0');
}

}  // namespace

std::vector<Option> trace_options() {
  return {
      {"trace", "FILE", "writes what an SM does, for Perfetto or chrome://tracing: .json or .json.gz", false,
       FileUse::output},
      {"timeline", "", "shows what each warp and each instruction waits for, cycle by cycle", false},
      {"window", "A:B", "iterations of the main loop for both, 2:4 if absent; 0: from the start of the run", false}};
}

void check_trace(const Arguments& arguments, Format format, Diagnostics& errors) {
  const std::optional<std::string> path = arguments.text("trace"), window = arguments.text("window");
  if (path && !path->ends_with(".json") && !path->ends_with(".json.gz"))
    errors.push_back({"", 0, 0, "--trace", "a file named .json or .json.gz", "\"" + *path + "\""});
  if (window && !window_from(*window))
    errors.push_back({"", 0, 0, "--window", "iterations A:B such as 2:4, at most 200 of them", "\"" + *window + "\""});
  if (window && !path && !arguments.has("timeline"))
    errors.push_back({"", 0, 0, "--window", "--trace or --timeline with it", "neither"});
  if (arguments.has("timeline") && format != Format::text)
    errors.push_back({"", 0, 0, "--timeline", "--format text", "another format"});
  for (const char* other : {"asm", "explain"})
    if (arguments.has(other) && (path || arguments.has("timeline")))
      errors.push_back(
          {"", 0, 0, path ? "--trace" : "--timeline", std::string("no --") + other + " beside it", "both"});
}

int trace_run(const Arguments& arguments, const gpu::SimReport& report, const arch::GpuSpec& gpu, const Record& record,
              std::string& timeline) {
  const std::optional<std::string> path = arguments.text("trace");
  if (!path && !arguments.has("timeline")) return done;
  const gpu::IterationWindow window =
      window_from(arguments.text("window").value_or("2:4")).value_or(gpu::IterationWindow{});
  Result<gpu::Recording> recording = record(window);
  // Loops shorter than the usual window are shown whole.
  if (!recording && !arguments.has("window")) recording = record({0, 1});
  if (!recording) return refuse("simulate", recording.errors());
  if (arguments.has("timeline")) {
    const trace::TimelineOptions options{.width = columns(), .in_colour = wants_colour()};
    timeline += "\n" + trace::timeline(*recording, gpu.sm.sub_cores, options) + "\n" +
                trace::instruction_timeline(*recording, options);
  }
  if (!path) return done;
  const std::string text = trace::chrome_trace(*recording, report, gpu);
  return write_file(*path, path->ends_with(".gz") ? gzipped(text) : text);
}

}  // namespace noteg::cli
