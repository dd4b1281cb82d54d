// Board power of a kernel that is repeated back to back, and the clock that its limits leave: events, idle power and
// leakage, which grows with the temperature that the power itself causes; over time, on a board that was idle. Left
// out: fans, efficiency of the regulators, power of the host link.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// The clock that follows from the power: the highest one at which a repeated kernel stays within the board's limit.

// burst: a few milliseconds, too short for the power limiter and for the temperature. cool: under the power limit,
// once power.averaging has passed, on a chip that has not warmed up. sustained: repeated until clock,
// power and temperature have settled.
enum class ClockMode : std::uint8_t { burst, cool, sustained };

// In the order of the enumeration.
inline constexpr std::array<std::string_view, 3> clock_mode_names{"burst", "cool", "sustained"};

[[nodiscard]] constexpr std::string_view name_of(ClockMode mode) {
  return clock_mode_names[static_cast<std::size_t>(mode)];
}

// Events and time of one run at a clock. Called a few dozen times: must be cheap.
using ActivityAt = std::function<Activity(Hertz)>;

struct OperatingPoint {
  Hertz clock;
  BoardPower board;
  bool throttled = false;   // the clock lies below the highest one because of a limit
  bool too_hot = false;     // the limit is the temperature: power.slowdown is reached before power.limit
  bool over_limit = false;  // more power than the limits although nothing can bring it down: a given clock, or the
                            // lowest clock there is
  bool in_burst = false;    // throttled by the fast limiter: all that is timed is over before the slow one acts
  bool at_rest = false;     // some of what is timed runs at the clock of a board that wakes
};

struct ClockRequest {
  const arch::GpuSpec* gpu = nullptr;
  std::optional<Hertz> given;  // wins over everything
  ClockMode mode = ClockMode::sustained;
  Toggling toggling;
  // cool: that follow each other from rest; absent: so many that the start is forgotten
  std::optional<int> launches = std::nullopt;
  int warm_up = 0;  // the first of them, which are not timed
};

// The highest clock that is considered: clock.sustained, and sm.tensor.clock_share of it where the tensor cores work.
[[nodiscard]] Hertz highest_clock(const arch::GpuSpec& gpu, bool tensor);
[[nodiscard]] bool uses_tensor_cores(const Activity& activity);

// highest_clock() is the upper end.
[[nodiscard]] OperatingPoint solve_clock(const ClockRequest& request, const ActivityAt& activity_at);

// Power, temperature and clock over time of a kernel repeated back to back on a board that was idle: the clock starts
// at its upper end, the meter's average rises, the limiter pulls the clock down while the chip warms up.

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
