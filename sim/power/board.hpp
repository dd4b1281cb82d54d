// Board power of a kernel that is repeated back to back at one clock: events, idle power and leakage, which grows with
// the temperature that the power itself causes. Left out: fans, efficiency of the regulators, power of the host link.
#pragma once

#include "arch/spec.hpp"
#include "sim/power/components.hpp"

namespace noteg::power {

// Supply voltage at a clock: floor up to floor_clock, then linear through (clock.boost, voltage_max) and beyond.
[[nodiscard]] Volts voltage_at(const arch::GpuSpec& gpu, Hertz clock);

// The power that keeps the settled temperature at power.slowdown; unlimited where nothing heats the board.
[[nodiscard]] Watts thermal_limit(const arch::PowerSpec& power);

// Temperature of the board without work.
[[nodiscard]] Celsius idle_temperature(const arch::PowerSpec& power);

// Leakage at a temperature and voltage. power.leakage is stated for the idle board; nothing is hotter than
// power.slowdown.
[[nodiscard]] Watts leakage(const arch::PowerSpec& power, Celsius temperature, Volts voltage);

struct BoardPower {
  Watts power;  // mean over the run
  Celsius temperature;
  Volts voltage;
  Stack energy{};  // of one run; sums to power x time
};

enum class Warmth : std::uint8_t {
  settled,  // the temperature has followed the power
  idle      // the chip is as cool as without work
};

// Activity with time 0 costs no energy and idle power.
[[nodiscard]] BoardPower board_power(const arch::GpuSpec& gpu, const Activity& activity, Hertz clock, Toggling toggling,
                                     Warmth warmth);

}  // namespace noteg::power
