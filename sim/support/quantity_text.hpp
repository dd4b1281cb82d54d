// Quantities as users write them: a decimal number, optional blanks, a unit ("36 MiB", "504 GB/s", "2.475 GHz",
// "5120 B/clk", "54 ns", "72 W", "4 cycles"). The unit decides the kind; a wrong kind or no unit is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/support/result.hpp"
#include "sim/support/units.hpp"

namespace noteg {

// The one list of units. Those up to kelvin_per_watt are what people write; the others are what figures are shown in.
enum class Unit : std::uint8_t {
  bytes,
  bytes_per_cycle,
  bytes_per_second,
  cycles,
  hertz,
  joules,
  seconds,
  watts,
  volts,
  celsius,
  kelvin_per_watt,
  none,   // a name or a sentence
  claim,  // true or false
  count,
  ratio,     // 1.25 means 1.25 times
  fraction,  // 0..1
  percent,   // 0..100
  microseconds,
  megahertz,
  tflops,
  millijoules,
  flop_per_byte,
  gb_per_s,
  tflops_per_watt,
  per_cycle
};

// "a size such as 36 MiB"; of units that people write.
[[nodiscard]] std::string_view describe(Unit unit);

// The unit texts accepted of what people write, base unit first: "B, KiB, MiB, ...".
[[nodiscard]] std::string unit_texts(Unit unit, std::string_view separator);

// The text that JSON and tables use as column unit: B, B/clk, cycles, Hz, W, us, TFLOP/s; empty for none and claim.
[[nodiscard]] std::string_view base_text(Unit unit);

// Value in base units, correctly rounded. The error has no file or key; expected names the kind and its units.
[[nodiscard]] Result<double> parse_quantity(std::string_view text, Unit unit);

// The shortest text with the largest fitting prefix that parses back to the same value.
[[nodiscard]] std::string format_quantity(double value, Unit unit);

template <class Q>
inline constexpr Unit unit_of = Unit::bytes;
template <>
inline constexpr Unit unit_of<BytesPerCycle> = Unit::bytes_per_cycle;
template <>
inline constexpr Unit unit_of<BytesPerSecond> = Unit::bytes_per_second;
template <>
inline constexpr Unit unit_of<Cycles> = Unit::cycles;
template <>
inline constexpr Unit unit_of<Hertz> = Unit::hertz;
template <>
inline constexpr Unit unit_of<Joules> = Unit::joules;
template <>
inline constexpr Unit unit_of<Seconds> = Unit::seconds;
template <>
inline constexpr Unit unit_of<Watts> = Unit::watts;
template <>
inline constexpr Unit unit_of<Volts> = Unit::volts;
template <>
inline constexpr Unit unit_of<Celsius> = Unit::celsius;
template <>
inline constexpr Unit unit_of<KelvinPerWatt> = Unit::kelvin_per_watt;

// parse_quantity_as<Bytes>("36 MiB")
template <class Q>
[[nodiscard]] Result<Q> parse_quantity_as(std::string_view text) {
  const Result<double> value = parse_quantity(text, unit_of<Q>);
  if (!value) return value.errors();
  return Q{*value};
}

template <class Tag>
[[nodiscard]] std::string format_quantity(Quantity<Tag> quantity) {
  return format_quantity(quantity.value, unit_of<Quantity<Tag>>);
}

}  // namespace noteg
