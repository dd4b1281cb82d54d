// A progress bar with rate and time left, on a terminal only: into a pipe or a file nothing is written.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace noteg::cli {

class ProgressBar {
 public:
  // enabled: false for --quiet; a standard error that is no terminal disables it too.
  explicit ProgressBar(bool enabled);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::size_t done, std::size_t total);  // redraws at most ten times a second

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

// "[####....] 120/500  40.0/s  9 s left"
[[nodiscard]] std::string progress_line(std::size_t done, std::size_t total, double seconds);

}  // namespace noteg::cli
