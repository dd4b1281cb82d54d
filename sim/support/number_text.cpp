#include "sim/support/number_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace noteg {

std::optional<long long> parse_integer(std::string_view text) {
  long long value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::general);
  // from_chars accepts inf and nan, which no quantity of a machine can be.
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string format_number(double value) {
  if (value == 0.0) return "0";
  // fmt's default is the shortest round trip; large integers read better without an exponent.
  if (std::abs(value) < 1e15 && value == std::trunc(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace noteg
