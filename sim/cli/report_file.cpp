#include "sim/cli/report_file.hpp"

#include <algorithm>
#include <array>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/pages/page.hpp"

namespace noteg::cli {

Option report_option() {
  return {"report", "FILE", "writes the result as one HTML page with charts, for any browser", false, FileUse::output};
}

void check_report(const Arguments& arguments, Diagnostics& errors) {
  if (arguments.text("report") == "-")
    errors.push_back({"", 0, 0, "--report", "a file to write, such as report.html", "\"-\""});
}

namespace {

// As a shell takes it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./:=%+,-").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string command_line(std::string_view command, const Arguments& arguments) {
  constexpr std::array left_out{"report", "format", "quiet", "jobs", "trace", "timeline", "window", "predictions"};
  std::string line = "noteg " + std::string(command);
  for (const auto& [name, value] : arguments.given()) {
    if (std::ranges::find(left_out, name) != left_out.end()) continue;
    line += " --" + name;
    if (!value.empty()) line += " " + quoted(value);
  }
  for (const std::string& word : arguments.positional()) line += " " + quoted(word);
  return line;
}

int write_report(std::string_view command, const Arguments& arguments, const std::function<std::string()>& page) {
  const std::optional<std::string> path = arguments.text("report");
  if (!path) return done;
  if (pages::chart_library().empty() && !arguments.has("quiet"))
    tell("this program was built without a chart library (Debian: libjs-chart.js): the report holds tables only");
  // The live page knows kernels by name; it has no files of the visitor's, and chooses none itself.
  const bool is_named = arguments.has("kernel-name") || (arguments.has("kernel") && arguments.text("kernel") != "auto");
  const bool has_live = (command == "simulate" || command == "compare") && is_named;
  return write_file(*path, pages::with_command(page(), command_line(command, arguments), has_live));
}

}  // namespace noteg::cli
