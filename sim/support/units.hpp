// Units as types: quantities that must not mix by accident are different types, and only the
// conversions that mean something exist. Values are double in SI base units (bytes, seconds, hertz,
// joules, watts) or in cycles of the SM clock. Hot loops unwrap them once, at construction.
#pragma once

#include <compare>

namespace noteg {

template <class Tag>
struct Quantity {
  double value = 0.0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value(v) {}

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity o) const { return Quantity{value + o.value}; }
  constexpr Quantity operator-(Quantity o) const { return Quantity{value - o.value}; }
  constexpr Quantity operator*(double f) const { return Quantity{value * f}; }
  constexpr Quantity operator/(double f) const { return Quantity{value / f}; }
  constexpr double operator/(Quantity o) const { return value / o.value; }
  constexpr Quantity& operator+=(Quantity o) {
    value += o.value;
    return *this;
  }
};

using Cycles = Quantity<struct CyclesTag>;                  // SM clock cycles
using Bytes = Quantity<struct BytesTag>;                    // bytes
using BytesPerCycle = Quantity<struct BytesPerCycleTag>;    // bytes per SM clock cycle
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;  // bytes per second (1 GB/s = 1e9)
using Hertz = Quantity<struct HertzTag>;                    // clock frequency
using Seconds = Quantity<struct SecondsTag>;                // time
using Joules = Quantity<struct JoulesTag>;                  // energy
using Watts = Quantity<struct WattsTag>;                    // power
using Volts = Quantity<struct VoltsTag>;                    // supply voltage
using Celsius = Quantity<struct CelsiusTag>;                // temperature on the Celsius scale
using KelvinPerWatt = Quantity<struct KelvinPerWattTag>;    // thermal resistance

constexpr Seconds operator/(Cycles c, Hertz f) { return Seconds{c.value / f.value}; }
constexpr Cycles operator*(Seconds t, Hertz f) { return Cycles{t.value * f.value}; }
constexpr BytesPerCycle operator/(BytesPerSecond b, Hertz f) { return BytesPerCycle{b.value / f.value}; }
constexpr BytesPerSecond operator*(BytesPerCycle b, Hertz f) { return BytesPerSecond{b.value * f.value}; }
constexpr Cycles operator/(Bytes n, BytesPerCycle b) { return Cycles{n.value / b.value}; }
constexpr Seconds operator/(Bytes n, BytesPerSecond b) { return Seconds{n.value / b.value}; }
constexpr Joules operator*(Watts p, Seconds t) { return Joules{p.value * t.value}; }
constexpr Celsius operator*(KelvinPerWatt r, Watts p) { return Celsius{r.value * p.value}; }  // a rise
constexpr Watts operator/(Joules e, Seconds t) { return Watts{e.value / t.value}; }

}  // namespace noteg
