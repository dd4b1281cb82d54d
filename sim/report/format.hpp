// Figures and bars as people read them: three significant digits, a prefix, a unit. Plain ASCII.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/counters.hpp"

namespace noteg::report {

// 0.0123 -> "0.0123", 12.345 -> "12.3", 1234.5 -> "1234"; three significant digits, never an exponent below 1e15.
[[nodiscard]] std::string three_digits(double value);

// A value with its unit: 1536 bytes -> "1.54 kB", 0.25 fraction -> "25.0 %", 1.2e6 us -> "1.2 s".
[[nodiscard]] std::string figure(const Value& value, Unit unit);

// A bar of `width` characters filled to `share` (0..1, clamped): "#####.....".
[[nodiscard]] std::string bar(double share, std::size_t width);

// Breaks a sentence between words into lines of at most `width` characters; a longer word goes
// on in the next line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace noteg::report
