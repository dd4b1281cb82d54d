#include "sim/power/clock.hpp"

#include <algorithm>

namespace noteg::power {

namespace {

// Boards do not clock their SMs lower than this under load, whatever the limit.
constexpr Hertz lowest{210e6};
constexpr int halvings = 40;  // of the interval: far below one hertz
// What a fast limiter lets tensor cores draw before the slow one acts, over power.limit. H200M: the median of the
// modelled power of kernels in bursts of 20 ms at the clocks that were read there, 1.4 to 1.7 GHz, where 1.2 GHz lasts.
constexpr double burst_share = 1.3;

OperatingPoint at_clock(const ClockRequest& request, const ActivityAt& activity_at, Hertz clock, Warmth warmth) {
  OperatingPoint point;
  point.clock = clock;
  point.board = board_power(*request.gpu, activity_at(clock), clock, request.toggling, warmth);
  const arch::PowerSpec& power = request.gpu->power;
  point.over_limit = point.board.power > std::min(power.limit, thermal_limit(power));
  point.too_hot = point.over_limit && thermal_limit(power) < power.limit;
  return point;
}

// The highest clock up to `high` whose power keeps to so much of the limits.
Hertz highest_within(const ClockRequest& request, const ActivityAt& activity_at, Hertz high, double share) {
  const arch::PowerSpec& power = request.gpu->power;
  const Watts most = std::min(power.limit, thermal_limit(power)) * share;
  const auto fits = [&](Hertz clock) {
    return at_clock(request, activity_at, clock, Warmth::idle).board.power <= most;
  };
  if (fits(high)) return high;
  Hertz low = std::min(lowest, high);
  for (int i = 0; i < halvings && high - low > Hertz{1.0}; ++i) {
    const Hertz middle = (low + high) * 0.5;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// The limiter sees the power averaged over a window: until it has filled, the clock is the highest one, for tensor
// cores the highest that the fast limiter allows. What is given back is the mean clock of all launches.
OperatingPoint with_unlimited_start(const ClockRequest& request, const ActivityAt& activity_at, Hertz highest,
                                    const OperatingPoint& limited) {
  const Seconds window = request.gpu->power.averaging;
  const Seconds at_highest = activity_at(highest).time * *request.launches;
  const double early = at_highest.value > 0 ? std::min(1.0, window / at_highest) : 1.0;
  const double seconds_per_cycle = early / highest.value + (1.0 - early) / limited.clock.value;
  OperatingPoint point = at_clock(request, activity_at, Hertz{1.0 / seconds_per_cycle}, Warmth::idle);
  point.throttled = early < 1.0;
  point.over_limit = false;
  return point;
}

}  // namespace

Hertz highest_clock(const arch::GpuSpec& gpu, bool tensor) {
  return gpu.clock.sustained * (tensor ? gpu.sm.tensor.clock_share : 1.0);
}

bool uses_tensor_cores(const Activity& activity) { return !activity.tensor_macs.empty(); }

OperatingPoint solve_clock(const ClockRequest& request, const ActivityAt& activity_at) {
  const arch::GpuSpec& gpu = *request.gpu;
  if (request.given) return at_clock(request, activity_at, *request.given, Warmth::settled);
  Hertz high = highest_clock(gpu, uses_tensor_cores(activity_at(gpu.clock.sustained)));
  if (request.mode == ClockMode::burst) return at_clock(request, activity_at, high, Warmth::idle);
  const Warmth warmth = request.mode == ClockMode::cool ? Warmth::idle : Warmth::settled;
  OperatingPoint best = at_clock(request, activity_at, high, warmth);
  if (!best.over_limit) return best;
  const Hertz highest = high;
  Hertz low = std::min(lowest, high);
  best = at_clock(request, activity_at, low, warmth);
  for (int i = 0; i < halvings && !best.over_limit && high - low > Hertz{1.0}; ++i) {
    const Hertz middle = (low + high) * 0.5;
    const OperatingPoint point = at_clock(request, activity_at, middle, warmth);
    if (point.over_limit) {
      high = middle;
    } else {
      low = middle;
      best = point;
    }
  }
  best.throttled = true;
  if (request.mode == ClockMode::cool && request.launches) {
    const bool tensor = uses_tensor_cores(activity_at(highest));
    const Hertz start = tensor ? highest_within(request, activity_at, highest, burst_share) : highest;
    return with_unlimited_start(request, activity_at, std::max(start, best.clock), best);
  }
  best.too_hot = warmth == Warmth::settled && thermal_limit(gpu.power) < gpu.power.limit;
  return best;
}

}  // namespace noteg::power
