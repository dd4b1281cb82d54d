#include "sim/support/quantity_text.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <span>

#include "sim/support/text.hpp"

namespace noteg {
namespace {

// One way to write a unit: scale = 2^binary * 10^decimal. print: may be chosen by format_quantity.
struct Spelling {
  std::string_view text;
  int binary = 0;
  int decimal = 0;
  bool print = true;
};

struct UnitTexts {
  Unit unit;
  std::string_view described;
  std::span<const Spelling> spellings;  // base unit first, then by size
};

constexpr std::array bytes{Spelling{"B"},
                           Spelling{"KiB", 10},
                           Spelling{"MiB", 20},
                           Spelling{"GiB", 30},
                           Spelling{"TiB", 40},
                           Spelling{"KB", 0, 3, false},
                           Spelling{"MB", 0, 6, false},
                           Spelling{"GB", 0, 9},
                           Spelling{"TB", 0, 12, false}};
constexpr std::array bytes_per_cycle{Spelling{"B/clk"}};
constexpr std::array bytes_per_second{Spelling{"B/s"}, Spelling{"KB/s", 0, 3}, Spelling{"MB/s", 0, 6},
                                      Spelling{"GB/s", 0, 9}, Spelling{"TB/s", 0, 12, false}};
constexpr std::array cycles{Spelling{"cycles"}, Spelling{"cycle", 0, 0, false}, Spelling{"clk", 0, 0, false}};
constexpr std::array hertz{Spelling{"Hz"}, Spelling{"kHz", 0, 3}, Spelling{"MHz", 0, 6}, Spelling{"GHz", 0, 9}};
constexpr std::array joules{Spelling{"J"}, Spelling{"pJ", 0, -12}, Spelling{"nJ", 0, -9}, Spelling{"uJ", 0, -6},
                            Spelling{"mJ", 0, -3}};
constexpr std::array seconds{Spelling{"s"}, Spelling{"ps", 0, -12}, Spelling{"ns", 0, -9}, Spelling{"us", 0, -6},
                             Spelling{"ms", 0, -3}};
constexpr std::array watts{Spelling{"W"}, Spelling{"mW", 0, -3, false}, Spelling{"kW", 0, 3, false}};

constexpr std::array volts{Spelling{"V"}, Spelling{"mV", 0, -3}};
constexpr std::array celsius{Spelling{"C"}};
constexpr std::array kelvin_per_watt{Spelling{"K/W"}};

constexpr std::array table{
    UnitTexts{Unit::bytes, "a size such as 36 MiB", bytes},
    UnitTexts{Unit::bytes_per_cycle, "a bandwidth per SM clock such as 5120 B/clk", bytes_per_cycle},
    UnitTexts{Unit::bytes_per_second, "a bandwidth such as 504 GB/s", bytes_per_second},
    UnitTexts{Unit::cycles, "a number of SM clock cycles such as 4 cycles", cycles},
    UnitTexts{Unit::hertz, "a frequency such as 2.475 GHz", hertz},
    UnitTexts{Unit::joules, "an energy such as 12 pJ", joules},
    UnitTexts{Unit::seconds, "a time such as 54 ns", seconds},
    UnitTexts{Unit::watts, "a power such as 72 W", watts},
    UnitTexts{Unit::volts, "a voltage such as 0.9 V", volts},
    UnitTexts{Unit::celsius, "a temperature such as 35 C", celsius},
    UnitTexts{Unit::kelvin_per_watt, "a thermal resistance such as 0.2 K/W", kelvin_per_watt},
};

// The texts of what figures are shown in, from Unit::none on.
constexpr std::array<std::string_view, 14> shown_in{
    "", "", "count", "x", "0..1", "%", "us", "MHz", "TFLOP/s", "mJ", "FLOP/B", "GB/s", "TFLOP/s/W", "1/cycle"};
static_assert(table.size() == static_cast<std::size_t>(Unit::none));
static_assert(table.size() + shown_in.size() == static_cast<std::size_t>(Unit::per_cycle) + 1);

const UnitTexts& texts_of(Unit unit) { return table[static_cast<std::size_t>(unit)]; }

const Spelling* find_spelling(std::span<const Spelling> spellings, std::string_view text) {
  for (const Spelling& spelling : spellings) {
    if (spelling.text == text) return &spelling;
  }
  return nullptr;
}

struct Split {
  std::string_view number, unit;
};

Split split(std::string_view text) {
  // The unit starts at the first letter that is not the exponent of the number: 1e9 B, but not 1 e9.
  std::size_t end = 0;
  const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  while (end < text.size()) {
    const char c = text[end];
    const bool sign_next = end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+');
    const bool exponent = (c == 'e' || c == 'E') && end > 0 && is_digit(end + (sign_next ? 2 : 1));
    if (exponent && sign_next) ++end;
    if (!is_digit(end) && c != '.' && c != '-' && !exponent) break;
    ++end;
  }
  std::size_t unit = end;
  while (unit < text.size() && text[unit] == ' ') ++unit;
  return {text.substr(0, end), text.substr(unit)};
}

// Decimal prefixes are appended as an exponent, so that 2.475 GHz is the double nearest to 2475000000 and not a
// rounded product; binary prefixes multiply exactly.
std::optional<double> scaled(std::string_view number, const Spelling& spelling) {
  const bool shift = spelling.decimal != 0 && number.find_first_of("eE") == std::string_view::npos;
  const std::optional<double> value =
      shift ? parse_number(std::string(number) + "e" + std::to_string(spelling.decimal)) : parse_number(number);
  if (!value) return std::nullopt;
  double scale = static_cast<double>(std::uint64_t{1} << spelling.binary);
  if (!shift && spelling.decimal != 0) scale = *parse_number("1e" + std::to_string(spelling.decimal));
  return *value * scale;
}

// value / scale. A decimal prefix moves the point in the shortest decimal text of the value, so that 8e-7 s is 800 ns
// and not 800.0000000000001 ns.
double in_unit(double value, const Spelling& spelling) {
  if (spelling.decimal == 0) return value / static_cast<double>(std::uint64_t{1} << spelling.binary);
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  const bool plus = text[e + 1] == '+';
  const long long exponent = parse_integer(text.substr(e + (plus ? 2 : 1))).value_or(0) - spelling.decimal;
  return parse_number(std::string(text.substr(0, e)) + "e" + std::to_string(exponent)).value_or(value);
}

std::string explain(std::string_view text, std::string_view unit) {
  const std::string quoted = "\"" + std::string(text) + "\"";
  if (unit.empty()) return quoted + " without a unit";
  for (const UnitTexts& other : table) {
    if (find_spelling(other.spellings, unit) == nullptr) continue;
    return quoted + ", which is " + std::string(other.described.substr(0, other.described.find(" such as ")));
  }
  return quoted;
}

}  // namespace

std::string_view describe(Unit unit) { return texts_of(unit).described; }

std::string_view base_text(Unit unit) {
  const auto place = static_cast<std::size_t>(unit);
  return place < table.size() ? table[place].spellings.front().text : shown_in[place - table.size()];
}

std::string unit_texts(Unit unit, std::string_view separator) {
  std::string all;
  for (const Spelling& spelling : texts_of(unit).spellings) {
    if (!all.empty()) all += separator;
    all += spelling.text;
  }
  return all;
}

Result<double> parse_quantity(std::string_view text, Unit unit) {
  const auto [number, unit_text] = split(text);
  const Spelling* spelling = find_spelling(texts_of(unit).spellings, unit_text);
  if (spelling != nullptr) {
    if (const std::optional<double> value = scaled(number, *spelling)) return *value;
  }
  Diagnostic error;
  error.expected = std::string(describe(unit)) + " (in " + unit_texts(unit, ", ") + ")";
  const bool wrong_kind = parse_number(number).has_value() && spelling == nullptr;
  error.found = wrong_kind ? explain(text.substr(0, 60), unit_text) : "\"" + std::string(text.substr(0, 60)) + "\"";
  return error;
}

std::string format_quantity(double value, Unit unit) {
  const std::span<const Spelling> spellings = texts_of(unit).spellings;
  std::string best = format_number(value) + " " + std::string(spellings.front().text);
  if (value == 0.0) return best;
  for (const Spelling& spelling : spellings) {
    const double shown = in_unit(value, spelling);
    if (!spelling.print || (shown < 1.0 && shown > -1.0)) continue;
    std::string text = format_number(shown) + " " + std::string(spelling.text);
    const Result<double> back = parse_quantity(text, unit);
    if (text.size() < best.size() && back && *back == value) best = std::move(text);
  }
  return best;
}

}  // namespace noteg
