// Recognises that the main loops of all resident CTAs have become periodic: a few trips after the last CTA entered
// or left its loop, the cycles and counters of the next trips are taken as a period, and whole periods are passed
// over while every CTA keeps some trips to go. Registers, queues and events keep their state, so the phases between
// CTAs survive the skip. The trips of all CTAs together are the clock: where the scheduler favours one CTA, the others
// may do none in a period, and advance by the part of a trip that they came on.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/core/engine.hpp"

namespace noteg::core {

class PeriodicSkip {
 public:
  // Main-loop trips done by the leading warp of each CTA slot, with the part of the current one; negative: nothing
  // runs there. Set before observe().
  std::vector<double> trips;

  // A CTA entered or left its main loop.
  void restart() { seen_ = 0; }

  // One of `running` CTAs begins a trip. Returns how many periods may be passed over now (0: none).
  std::int64_t observe(std::uint64_t now, int running, std::int64_t total_trips, const CoreCounters& count) {
    const int settled = settle * running, window = window_trips * running;
    ++seen_;
    if (seen_ == settled) {
      since_ = mark_ = now;
      window_ = 0;
      base_ = trips;
      at_base_ = count;
    }
    if (seen_ <= settled || (seen_ - settled) % window != 0) return 0;
    if (!level(now) && seen_ < settled + most_windows * window) return 0;
    seen_ = 0;  // whatever happens, look afresh afterwards
    length_ = now - since_;
    advanced_.assign(trips.size(), 0);
    double periods = -1;
    for (std::size_t slot = 0; slot < trips.size(); ++slot) {
      if (trips[slot] < 0) continue;
      advanced_[slot] = trips[slot] - base_[slot];
      const double left = static_cast<double>(total_trips) - trips[slot] - margin;
      if (left <= 0) return 0;
      if (advanced_[slot] > 0 && (periods < 0 || left / advanced_[slot] < periods)) periods = left / advanced_[slot];
    }
    if (periods < 1) return 0;
    counters_ = count;
    counters_ += at_base_ * -1.0;
    periods = std::floor(periods);
    skipped_instructions_ += counters_.warp_instructions * periods;
    return static_cast<std::int64_t>(periods);
  }

  // Whole trips that a CTA advances in `periods` periods.
  [[nodiscard]] std::int64_t advanced(std::size_t slot, std::int64_t periods) const {
    return std::llround(advanced_[slot] * static_cast<double>(periods));
  }
  [[nodiscard]] std::uint64_t length() const { return length_; }
  [[nodiscard]] const CoreCounters& counters() const { return counters_; }
  [[nodiscard]] double skipped_instructions() const { return skipped_instructions_; }

 private:
  // Does the window of trips that ends now take as long as the one before it?
  bool level(std::uint64_t now) {
    const std::uint64_t last = window_, length = now - mark_;
    window_ = length;
    mark_ = now;
    const std::uint64_t apart = length > last ? length - last : last - length;
    return last != 0 && apart * 400 <= length;
  }

  // The deepest pipelines (5 to 8 stages) fill within the trips before a period is taken, and drain within the
  // margin. CTAs that take turns drift: a period is two windows that agree within a quarter per cent, or the mean of
  // many that do not.
  static constexpr int settle = 24;
  static constexpr int window_trips = 8;
  static constexpr int most_windows = 3;
  static constexpr double margin = 4;

  int seen_ = 0;
  std::uint64_t since_ = 0, length_ = 0, mark_ = 0, window_ = 0;
  std::vector<double> base_, advanced_;
  CoreCounters at_base_, counters_;
  double skipped_instructions_ = 0;
};

}  // namespace noteg::core
