#include "sim/power/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/support/portable_math.hpp"

namespace noteg::power {
namespace {

constexpr double time_constants = 5;  // of the temperature, in a trace without a given duration

// Board power at a moment: the temperature is what it has become, not what it will settle to.
Watts power_now(const ClockRequest& request, const Activity& activity, Hertz clock, Celsius temperature) {
  const arch::PowerSpec& p = request.gpu->power;
  const Volts voltage = voltage_at(*request.gpu, clock);
  const Joules events = total(event_energy(*request.gpu, activity, voltage, request.toggling));
  const Watts dynamic = activity.time.value > 0 ? events / activity.time : Watts{};
  return p.idle - p.leakage + leakage(p, temperature, voltage) + dynamic;
}

// The power that the thermal control allows: what keeps the temperature at power.slowdown, and more while it lies
// below.
Watts allowed_by_heat(const arch::PowerSpec& power, Celsius temperature) {
  constexpr double gain = 4;  // of the control, in multiples of the steady power per kelvin
  const Watts steady = thermal_limit(power);
  if (!std::isfinite(steady.value)) return steady;
  return steady + Watts{gain * (power.slowdown - temperature).value / power.thermal_resistance.value};
}

// The highest clock up to `high` whose power at this temperature stays within a limit.
Hertz limited_clock(const ClockRequest& request, const ActivityAt& activity_at, Celsius temperature, Hertz high,
                    Watts limit) {
  const auto fits = [&](Hertz clock) { return power_now(request, activity_at(clock), clock, temperature) <= limit; };
  Hertz low = std::min(request.gpu->clock.lowest, high);
  if (fits(high)) return high;
  for (int i = 0; i < 24; ++i) {
    const Hertz middle = (low + high) * 0.5;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// Share of the way to a new value that a first-order lag goes in a step.
double lag(Seconds step, Seconds constant) { return 1.0 - portable::exp(-(step / constant)); }

}  // namespace

std::vector<TracePoint> power_trace(const ClockRequest& request, const ActivityAt& activity_at,
                                    const TraceOptions& options) {
  const arch::PowerSpec& p = request.gpu->power;
  const Seconds duration = options.duration.value > 0 ? options.duration : p.thermal_time * time_constants;
  // Steps grow geometrically: the limiter acts within tenths of a second, the temperature within minutes.
  const int points = std::max(2, options.points);
  const Seconds first = std::min(p.averaging * 0.1, duration / points);
  const Hertz top =
      request.given.value_or(highest_clock(*request.gpu, uses_tensor_cores(activity_at(request.gpu->clock.sustained))));
  bool limiter_acts = false;
  TracePoint now{Seconds{}, top, p.idle, p.idle, idle_temperature(p)};
  std::vector<TracePoint> trace{now};
  const double growth = portable::pow(duration / first, 1.0 / (points - 1));
  for (int i = 1; i < points; ++i) {
    const Seconds until = first * portable::pow(growth, i);
    const Seconds step = until - now.time;
    if (step.value <= 0) continue;
    now.time = until;
    // The limiter acts on the average: before that has reached the limit, the clock stays up. Heat stops every clock,
    // given ones too.
    const bool limited = !request.given && request.mode == ClockMode::sustained;
    limiter_acts = limited && (limiter_acts || now.averaged >= p.limit * 0.999);
    const Watts allowed = allowed_by_heat(p, now.temperature);
    now.clock =
        limited_clock(request, activity_at, now.temperature, top, limiter_acts ? std::min(allowed, p.limit) : allowed);
    now.power = power_now(request, activity_at(now.clock), now.clock, now.temperature);
    now.averaged += (now.power - now.averaged) * lag(step, p.averaging);
    const Celsius settled = p.ambient + p.thermal_resistance * now.power;
    now.temperature += (settled - now.temperature) * lag(step, p.thermal_time);
    trace.push_back(now);
  }
  return trace;
}

std::string to_csv(const std::vector<TracePoint>& trace) {
  std::string text = "time_s,sm_clock_mhz,power_w,averaged_power_w,temperature_c\n";
  for (const TracePoint& point : trace) {
    text += fmt::format("{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", point.time.value, point.clock.value * 1e-6,
                        point.power.value, point.averaged.value, point.temperature.value);
  }
  return text;
}

}  // namespace noteg::power
