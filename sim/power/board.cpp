#include "sim/power/board.hpp"

#include <algorithm>
#include <limits>

#include "sim/support/arithmetic.hpp"

namespace noteg::power {

namespace {

// The temperature depends on the power and the leakage on the temperature: a contraction for every board that does not
// run away, settled to well below a milliwatt in so many rounds.
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
    leaked = leakage(p, out.temperature, out.voltage);
  }
  out.energy[at(Component::idle)] = (p.idle - p.leakage) * activity.time;
  out.energy[at(Component::leakage)] = leaked * activity.time;
  out.power = total(out.energy) / activity.time;
  return out;
}

}  // namespace noteg::power
