// Power, temperature and clock over time of a kernel repeated back to back on a board that was idle: the clock starts
// at its upper end, the meter's average rises, the limiter pulls the clock down while the chip warms up.
#pragma once

#include <string>
#include <vector>

#include "sim/power/clock.hpp"

namespace noteg::power {

struct TracePoint {
  Seconds time;
  Hertz clock;
  Watts power;     // at this moment
  Watts averaged;  // what the meter shows and the limiter acts on
  Celsius temperature;
};

struct TraceOptions {
  Seconds duration;  // 0: five thermal time constants
  int points = 500;
};

[[nodiscard]] std::vector<TracePoint> power_trace(const ClockRequest& request, const ActivityAt& activity_at,
                                                  const TraceOptions& options = {});

// time_s,sm_clock_mhz,power_w,averaged_power_w,temperature_c
[[nodiscard]] std::string to_csv(const std::vector<TracePoint>& trace);

}  // namespace noteg::power
