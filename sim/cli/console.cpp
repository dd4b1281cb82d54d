#include "sim/cli/console.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/cli/command.hpp"
#include "sim/compare/compare.hpp"
#include "sim/pages/page.hpp"
#include "sim/report/write.hpp"
#include "sim/support/output_file.hpp"
#include "sim/support/text.hpp"

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

namespace {

void draw(const std::string& line) {
  const std::string text = "\r\x1b[K" + line;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

ProgressBar::ProgressBar(bool enabled) : enabled_(enabled && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) draw("");
}

void ProgressBar::update(std::size_t finished, std::size_t total) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  draw(progress_line(finished, total, std::chrono::duration<double>(now - start_).count()));
}

std::string progress_line(std::size_t finished, std::size_t total, double seconds) {
  const double share = total == 0 ? 1 : static_cast<double>(finished) / static_cast<double>(total);
  const double rate = seconds > 0 ? static_cast<double>(finished) / seconds : 0;
  const std::string left = rate > 0 ? duration(static_cast<double>(total - finished) / rate) + " left" : "";
  return fmt::format("[{}] {}/{}  {}/s  {}", report::bar(share, 24), finished, total, report::three_digits(rate), left);
}

namespace {

std::atomic<bool> stopped = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");

extern "C" void noteg_stop(int signal) {
  if (stopped.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

const std::atomic<bool>& stop_on_signal() {
  std::signal(SIGINT, noteg_stop);
  std::signal(SIGTERM, noteg_stop);
  return stopped;
}

StopScope::StopScope() : interrupt_(std::signal(SIGINT, SIG_DFL)), terminate_(std::signal(SIGTERM, SIG_DFL)) {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
  stopped = false;
}

StopScope::~StopScope() {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
}

bool StopScope::stopped_by_signal() const { return stopped; }

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

bool is_shipped_kernel(const std::string& text) {
  const auto file = kernels::find_kernel_file(text);
  if (!file || std::ranges::count(kernels::shipped_kernels(), file->stem().string()) == 0) return false;
  const auto shipped = kernels::find_kernel_file(file->stem().string());
  std::error_code failed;
  return shipped && std::filesystem::equivalent(*file, *shipped, failed);
}

bool is_shipped_gpu(const std::string& text) {
  const Result<compare::WhatIf> what_if = compare::parse_what_if(text);
  const auto file = arch::find_gpu_file(what_if ? what_if->arch : text);
  return file && arch::is_shipped(*file);
}

// The live page has no files of the visitor's, and chooses no kernel itself.
bool lies_on_the_live_page(const Arguments& arguments) {
  const bool is_named = arguments.has("kernel-name") || arguments.has("family") ||
                        (arguments.has("kernel") && is_shipped_kernel(*arguments.text("kernel")));
  return is_named && std::ranges::all_of(arguments.texts("arch"), is_shipped_gpu);
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
  const bool has_live = (command == "simulate" || command == "compare") && lies_on_the_live_page(arguments);
  return write_file(*path, pages::with_command(page(), command_line(command, arguments), has_live));
}

}  // namespace noteg::cli
