// Recognises that the main loops of all resident CTAs have become periodic: a few trips after the last CTA entered
// or left its loop, the cycles and counters of the next trips are taken as a period, and periods are passed over while
// every CTA keeps some trips to go. Registers, queues and events keep their state, so the phases between CTAs survive
// the skip. The trips of all CTAs together are the clock: where the scheduler favours one CTA, the others may do none
// in a period, and advance by the part of a trip that they came on.
// How fast trips pass depends on how many CTAs are in their loops and hardly on how they lie to each other (within half
// a per cent over the windows of a run), so that what was measured a few times holds whenever the same slots run again.
// In short loops how they lie decides which CTA ends first, so these are passed over by periods that come back; but
// where much has been stepped through, they go the way of long ones, and where twice as much has, on what fewer trips
// tell: what is left to pass over is a part of the run, and so is the error.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/sm/engine.hpp"

namespace noteg::sm {

class PeriodicSkip {
 public:
  // Main-loop trips done by the leading warp of each CTA slot, with the part of the current one; negative: nothing
  // runs there. Set before observe().
  std::vector<double> trips;

  std::int64_t many_trips = 256;   // sm::many_trips
  double patience = 0, haste = 0;  // of SmWork

  // A CTA entered or left its main loop.
  void restart() { seen_ = 0; }

  // One of `running` CTAs, those in the slots of the mask, begins a trip, after so many warp instructions that were
  // stepped through. Returns how many periods may be passed over now (0: none).
  double observe(std::uint64_t now, int running, std::uint64_t mask, std::int64_t total_trips,
                 const CoreCounters& count, double stepped) {
    take(pace(total_trips, stepped));
    const int settled = pace_->settle * running;
    const int window = pace_->window * running;
    ++seen_;
    Period& known = periods_[mask];
    if (known.times >= enough && !pace_->whole) {
      if (seen_ != pace_->again * running) return 0;
      period_ = &known;
      return possible(total_trips);
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
    if (pace_->whole) known = {};
    ++known.times;
    known.length += static_cast<double>(now - since_);
    known.counters += count;
    known.counters += at_base_ * -1.0;
    known.advanced.resize(trips.size());
    for (std::size_t slot = 0; slot < trips.size(); ++slot)
      if (trips[slot] >= 0) known.advanced[slot] += trips[slot] - base_[slot];
    return possible(total_trips);
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

  // Trips of each CTA: before a period is taken, in one of the windows that make it up, before one that is known holds
  // again, and left to go at the end. Whole periods only, each taken afresh; or any part of what is known.
  struct Pace {
    int settle, window, again;
    double margin;
    bool whole;
  };
  // The deepest pipelines (5 to 8 stages) fill within the trips before a period is taken, and drain within the
  // margin. CTAs that take turns drift: a period is two windows that agree within a quarter per cent, or the mean of
  // many that do not.
  static constexpr Pace by_whole_periods{24, 8, 0, 4, true};
  // In long loops the ends of CTAs weigh less: these keep 15 kernels with several CTAs on an SM within 0.8 % of
  // --exact, at 75 and at 300 trips.
  static constexpr Pace as_it_flows{6, 6, 2, 2, false};
  static constexpr Pace in_haste{2, 3, 1, 2, false};
  static constexpr int most_windows = 3;
  static constexpr int enough = 2;  // measurements of a set of slots
  // Loops that hold what the two paces need.
  static constexpr std::int64_t long_enough_to_flow = 20, long_enough_for_haste = 12;

  [[nodiscard]] const Pace* pace(std::int64_t total_trips, double stepped) const {
    if (total_trips >= many_trips) return &as_it_flows;
    const auto beyond = [&](double limit, std::int64_t least_trips) {
      return limit > 0 && stepped >= limit && total_trips >= least_trips;
    };
    if (beyond(haste, long_enough_for_haste)) return &in_haste;
    return beyond(patience, long_enough_to_flow) ? &as_it_flows : &by_whole_periods;
  }

  void take(const Pace* pace) {
    if (pace == pace_) return;
    if (pace_->whole) periods_.clear();
    pace_ = pace;
    seen_ = 0;
  }

  // Periods that leave every CTA some trips to go.
  [[nodiscard]] double possible(std::int64_t total_trips) const {
    double periods = -1;
    for (std::size_t slot = 0; slot < trips.size(); ++slot) {
      if (trips[slot] < 0) continue;
      const double left = static_cast<double>(total_trips) - trips[slot] - pace_->margin,
                   each = period_->advanced[slot];
      if (left <= 0) return 0;
      if (each > 0 && (periods < 0 || left / each < periods)) periods = left / each;
    }
    return pace_->whole ? std::floor(periods) : periods;
  }

  // Does the window of trips that ends now take as long as the one before it?
  bool level(std::uint64_t now) {
    const std::uint64_t last = window_, length = now - mark_;
    window_ = length;
    mark_ = now;
    const std::uint64_t apart = length > last ? length - last : last - length;
    return last != 0 && apart * 400 <= length;
  }

  const Pace* pace_ = &by_whole_periods;
  int seen_ = 0;
  std::uint64_t since_ = 0, mark_ = 0, window_ = 0;
  std::vector<double> base_;
  CoreCounters at_base_;
  std::map<std::uint64_t, Period> periods_;  // by the slots that run
  Period* period_ = nullptr;
};

}  // namespace noteg::sm
