// Recognises that the main loops of all resident CTAs have become periodic: a few trips after the last CTA entered
// or left its loop, the cycles and counters of the next trips are taken as a period, and periods are passed over while
// every CTA keeps some trips to go. Registers, queues and events keep their state, so the phases between CTAs survive
// the skip. The trips of all CTAs together are the clock: where the scheduler favours one CTA, the others may do none
// in a period, and advance by the part of a trip that they came on.
// How fast trips pass depends on how many CTAs are in their loops and hardly on how they lie to each other (within half
// a per cent over the windows of a run), so that what was measured a few times holds whenever the same slots run again.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/core/engine.hpp"

namespace noteg::core {

class PeriodicSkip {
 public:
  // Main-loop trips done by the leading warp of each CTA slot, with the part of the current one; negative: nothing
  // runs there. Set before observe().
  std::vector<double> trips;

  std::int64_t many_trips = 256;  // core::many_trips

  // A CTA entered or left its main loop.
  void restart() { seen_ = 0; }

  // One of `running` CTAs, those in the slots of the mask, begins a trip. Returns how many periods may be passed over
  // now (0: none).
  double observe(std::uint64_t now, int running, std::uint64_t mask, std::int64_t total_trips,
                 const CoreCounters& count) {
    const bool many = total_trips >= many_trips;
    const int settled = (many ? settle_flow : settle) * running;
    const int window = (many ? window_flow : window_trips) * running;
    ++seen_;
    Period& known = periods_[mask];
    if (known.times >= enough && many) {
      if (seen_ != settle_again * running) return 0;
      period_ = &known;
      return possible(total_trips, many);
    }
    if (seen_ == settled) {
      since_ = mark_ = now;
      window_ = 0;
      base_ = trips;
      at_base_ = count;
    }
    if (seen_ <= settled || (seen_ - settled) % window != 0) return 0;
    if (!level(now) && seen_ < settled + most_windows * window) return 0;
    seen_ = 0;  // whatever happens, look afresh afterwards
    period_ = &known;
    if (!many) known = {};
    ++known.times;
    known.length += static_cast<double>(now - since_);
    known.counters += count;
    known.counters += at_base_ * -1.0;
    known.advanced.resize(trips.size());
    for (std::size_t slot = 0; slot < trips.size(); ++slot)
      if (trips[slot] >= 0) known.advanced[slot] += trips[slot] - base_[slot];
    return possible(total_trips, many);
  }

  // Whole trips that a CTA advances in `periods` periods.
  [[nodiscard]] std::int64_t advanced(std::size_t slot, double periods) const {
    return std::llround(period_->advanced[slot] * periods);
  }
  // Cycles of `periods` periods.
  [[nodiscard]] std::uint64_t length(double periods) const {
    return static_cast<std::uint64_t>(std::llround(period_->length * periods));
  }
  [[nodiscard]] const CoreCounters& counters() const { return period_->counters; }

 private:
  // Everything measured for one set of slots, all times together.
  struct Period {
    double length = 0;
    std::vector<double> advanced;
    CoreCounters counters;
    int times = 0;
  };

  // Periods that leave every CTA some trips to go.
  [[nodiscard]] double possible(std::int64_t total_trips, bool many) const {
    const double margin = many ? margin_flow : margin_short;
    double periods = -1;
    for (std::size_t slot = 0; slot < trips.size(); ++slot) {
      if (trips[slot] < 0) continue;
      const double left = static_cast<double>(total_trips) - trips[slot] - margin, each = period_->advanced[slot];
      if (left <= 0) return 0;
      if (each > 0 && (periods < 0 || left / each < periods)) periods = left / each;
    }
    return many ? periods : std::floor(periods);
  }

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
  static constexpr double margin_short = 4;
  // In long loops the ends of CTAs weigh less: these keep 15 kernels with several CTAs on an SM within 0.8 % of
  // --exact, at 75 and at 300 trips.
  static constexpr int settle_flow = 6;
  static constexpr int window_flow = 6;
  static constexpr double margin_flow = 2;
  static constexpr int enough = 2;        // measurements of a set of slots
  static constexpr int settle_again = 2;  // trips after which they hold

  int seen_ = 0;
  std::uint64_t since_ = 0, mark_ = 0, window_ = 0;
  std::vector<double> base_;
  CoreCounters at_base_;
  std::map<std::uint64_t, Period> periods_;  // by the slots that run
  Period* period_ = nullptr;
};

}  // namespace noteg::core
