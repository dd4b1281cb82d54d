#include "sim/report/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace noteg::report {
namespace {

struct Prefix {
  double factor;
  std::string_view text;
};

std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<Prefix, 6> prefixes{{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  for (const Prefix& prefix : prefixes)
    if (std::abs(value) >= prefix.factor * 0.9995)
      return fmt::format("{} {}{}", three_digits(value / prefix.factor), prefix.text, unit);
  return fmt::format("{} {}", three_digits(value), unit);
}

std::string plain_count(double value) {
  if (std::abs(value) < 1e5) return three_digits(value);
  std::string text = with_prefix(value, "");
  return text.back() == ' ' ? text.substr(0, text.size() - 1) : text;
}

std::string duration(double microseconds) {
  if (std::abs(microseconds) >= 1e6) return three_digits(microseconds / 1e6) + " s";
  if (std::abs(microseconds) >= 1e3) return three_digits(microseconds / 1e3) + " ms";
  return three_digits(microseconds) + " us";
}

}  // namespace

std::string three_digits(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
  if (magnitude >= 9.995) return fmt::format("{:.1f}", value);
  if (magnitude >= 0.9995) return fmt::format("{:.2f}", value);
  if (magnitude >= 0.09995) return fmt::format("{:.3f}", value);
  return magnitude >= 0.00005 ? fmt::format("{:.4f}", value) : "~0";
}

std::string figure(const Value& value, Unit unit) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  const double number = number_of(value);
  switch (unit) {
    case Unit::none:
    case Unit::claim: return three_digits(number);
    case Unit::count: return plain_count(number);
    case Unit::ratio: return three_digits(number) + "x";
    case Unit::fraction: return fmt::format("{:.1f} %", 100 * number);
    case Unit::percent: return fmt::format("{:.1f} %", number);
    case Unit::microseconds: return duration(number);
    case Unit::cycles: return plain_count(number) + " cycles";
    case Unit::megahertz: return fmt::format("{:.0f} MHz", number);
    case Unit::tflops: return three_digits(number) + " TFLOP/s";
    case Unit::watts: return three_digits(number) + " W";
    case Unit::millijoules: return three_digits(number) + " mJ";
    case Unit::bytes: return with_prefix(number, "B");
    case Unit::flop_per_byte: return three_digits(number) + " FLOP/B";
    case Unit::gb_per_s: return three_digits(number) + " GB/s";
    case Unit::tflops_per_watt: return three_digits(number) + " TFLOP/s per W";
    case Unit::celsius: return fmt::format("{:.0f} C", number);
    case Unit::per_cycle: return three_digits(number) + " per cycle";
    case Unit::volts: return three_digits(number) + " V";
    case Unit::bytes_per_cycle:
    case Unit::bytes_per_second:
    case Unit::hertz:
    case Unit::joules:
    case Unit::seconds:
    case Unit::kelvin_per_watt: return format_quantity(number, unit);
  }
  return three_digits(number);
}

std::string bar(double share, std::size_t width) {
  const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const auto filled = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width)));
  return std::string(filled, '#') + std::string(width - filled, '.');
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, std::min(space, width));
    text.remove_prefix(space > width ? width : std::min(space + 1, text.size()));
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty())
      line = word;
    else if (line.size() + 1 + word.size() <= width)
      line += " " + std::string(word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

}  // namespace noteg::report
