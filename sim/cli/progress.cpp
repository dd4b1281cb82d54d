#include "sim/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "sim/report/format.hpp"

namespace noteg::cli {
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

void ProgressBar::update(std::size_t done, std::size_t total) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  draw(progress_line(done, total, std::chrono::duration<double>(now - start_).count()));
}

std::string progress_line(std::size_t done, std::size_t total, double seconds) {
  const double share = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const std::string left = rate > 0 ? duration(static_cast<double>(total - done) / rate) + " left" : "";
  return fmt::format("[{}] {}/{}  {}/s  {}", report::bar(share, 24), done, total, report::three_digits(rate), left);
}

}  // namespace noteg::cli
