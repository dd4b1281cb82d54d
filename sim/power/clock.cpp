#include "sim/power/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/support/arithmetic.hpp"

namespace noteg::power {

namespace {

// The temperature depends on the power and the leakage on the temperature: a contraction for every board that does not
// run away, settled to the last bit in some fifteen rounds.
constexpr int rounds = 40;

}  // namespace

Volts voltage_at(const arch::GpuSpec& gpu, Hertz clock) {
  const arch::PowerSpec& p = gpu.power;
  const double above = std::max(0.0, (clock.value - p.floor_clock.value) / (gpu.clock.boost - p.floor_clock).value);
  return p.voltage_floor + (p.voltage_max - p.voltage_floor) * above;
}

Celsius idle_temperature(const arch::PowerSpec& power) { return power.ambient + power.thermal_resistance * power.idle; }

Watts thermal_limit(const arch::PowerSpec& power) {
  if (power.thermal_resistance.value <= 0) return Watts{std::numeric_limits<double>::infinity()};
  return Watts{(power.slowdown - power.ambient).value / power.thermal_resistance.value};
}

Watts leakage(const arch::PowerSpec& power, Celsius temperature, Volts voltage) {
  const double warmer = (std::min(temperature, power.slowdown) - idle_temperature(power)).value;
  const double relative = voltage / power.voltage_max;
  return power.leakage * (relative * relative * portable::exp(power.leakage_growth * warmer));
}

BoardPower board_power(const arch::GpuSpec& gpu, const Activity& activity, Hertz clock, Toggling toggling,
                       Warmth warmth) {
  const arch::PowerSpec& p = gpu.power;
  BoardPower out;
  out.temperature = idle_temperature(p);
  out.power = p.idle;
  out.voltage = voltage_at(gpu, clock);
  if (activity.time.value <= 0) return out;
  out.energy = event_energy(gpu, activity, out.voltage, toggling);
  const Watts dynamic = total(out.energy) / activity.time;
  Watts leaked = leakage(p, out.temperature, out.voltage);
  for (int round = 0; round < rounds && warmth == Warmth::settled; ++round) {
    out.temperature = p.ambient + p.thermal_resistance * (p.idle - p.leakage + leaked + dynamic);
    const Watts before = std::exchange(leaked, leakage(p, out.temperature, out.voltage));
    if (leaked == before) break;
  }
  out.energy[at(Component::idle)] = (p.idle - p.leakage) * activity.time;
  out.energy[at(Component::leakage)] = leaked * activity.time;
  out.power = total(out.energy) / activity.time;
  return out;
}

namespace {

constexpr int halvings = 40;  // of the interval: far below one hertz

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
  Hertz low = std::min(request.gpu->clock.lowest, high);
  for (int i = 0; i < halvings && high - low > Hertz{1.0}; ++i) {
    const Hertz middle = (low + high) * 0.5;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// What comes before the clock that lasts: a clock, and for how long.
struct Start {
  Hertz clock;
  Seconds time;
  bool is_held = false;  // by the fast limiter
  bool at_rest = false;
};

// A board that wakes keeps its clock at rest, unless even that is too high to last. One that stands ready has its
// highest clock, for tensor cores the highest that the fast limiter allows, until the window has filled over which the
// slow limiter averages power.
Start start_of(const ClockRequest& request, const ActivityAt& activity_at, Hertz highest,
               const OperatingPoint& lasting) {
  const arch::GpuSpec& gpu = *request.gpu;
  const bool wakes = gpu.clock.rest.value > 0;
  if (wakes && gpu.clock.rest <= lasting.clock) return {gpu.clock.rest, gpu.clock.wake, false, true};
  if (!lasting.throttled) return {highest, Seconds{0.0}};
  const Hertz ready = wakes ? std::min(highest, gpu.clock.rest) : highest;
  const bool tensor = uses_tensor_cores(activity_at(ready));
  const Hertz clock = tensor ? highest_within(request, activity_at, ready, gpu.power.burst_share) : ready;
  const Hertz kept = std::max(clock, lasting.clock);
  return {kept, gpu.power.averaging, kept < ready, wakes};
}

// What is given back is the mean clock of the launches that are timed.
OperatingPoint with_start(const ClockRequest& request, const ActivityAt& activity_at, const Start& start,
                          const OperatingPoint& lasting) {
  const double of_one = activity_at(start.clock).time.value;
  const double timed = std::max(1, *request.launches - request.warm_up);
  const double in_start = of_one > 0 ? start.time.value / of_one - request.warm_up : timed;
  const double early = std::clamp(in_start / timed, 0.0, 1.0);
  const double seconds_per_cycle = early / start.clock.value + (1.0 - early) / lasting.clock.value;
  OperatingPoint point = at_clock(request, activity_at, Hertz{1.0 / seconds_per_cycle}, Warmth::idle);
  point.in_burst = early >= 1.0 && start.is_held;
  point.throttled = point.in_burst || (lasting.throttled && early < 1.0);
  point.at_rest = early > 0 && start.at_rest;
  point.over_limit = point.too_hot = false;
  return point;
}

// The highest clock that lasts. Power rises with the clock for every kernel, so that it is the only one.
OperatingPoint lasting_clock(const ClockRequest& request, const ActivityAt& activity_at, Hertz high, Warmth warmth) {
  OperatingPoint best = at_clock(request, activity_at, high, warmth);
  if (!best.over_limit) return best;
  Hertz low = std::min(request.gpu->clock.lowest, high);
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
  best.too_hot = warmth == Warmth::settled && thermal_limit(request.gpu->power) < request.gpu->power.limit;
  return best;
}

}  // namespace

Hertz highest_clock(const arch::GpuSpec& gpu, bool tensor) {
  return gpu.clock.sustained * (tensor ? gpu.sm.tensor.clock_share : 1.0);
}

bool uses_tensor_cores(const Activity& activity) { return !activity.tensor_macs.empty(); }

OperatingPoint solve_clock(const ClockRequest& request, const ActivityAt& activity_at) {
  const arch::GpuSpec& gpu = *request.gpu;
  if (request.given) return at_clock(request, activity_at, *request.given, Warmth::settled);
  const Hertz highest = highest_clock(gpu, uses_tensor_cores(activity_at(gpu.clock.sustained)));
  if (request.mode == ClockMode::burst) return at_clock(request, activity_at, highest, Warmth::idle);
  const Warmth warmth = request.mode == ClockMode::cool ? Warmth::idle : Warmth::settled;
  const OperatingPoint lasting = lasting_clock(request, activity_at, highest, warmth);
  if (request.mode != ClockMode::cool || !request.launches) return lasting;
  const Start start = start_of(request, activity_at, highest, lasting);
  return start.time.value > 0 ? with_start(request, activity_at, start, lasting) : lasting;
}

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
