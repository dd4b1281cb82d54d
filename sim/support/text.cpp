#include "sim/support/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace noteg {

namespace {

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// Length of the UTF-8 sequence at the start of text; 0 where there is none.
std::size_t utf8_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  const unsigned second = length > 2 ? byte_at(text, 1) : 0;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || outside ? 0 : length;
}

// U+0080 to U+009F.
bool is_upper_control(std::string_view text, std::size_t length) {
  return length == 2 && byte_at(text, 0) == 0xc2 && byte_at(text, 1) < 0xa0;
}

bool is_plain(unsigned byte) { return byte >= 0x20 && byte < 0x7f; }

std::string shown(std::string_view text, bool keep_lines, std::size_t most) {
  std::string out;
  out.reserve(std::min(text.size(), most));
  for (std::size_t at = 0; at < text.size();) {
    if (out.size() >= most) return out + "...";
    const unsigned byte = byte_at(text, at);
    const bool kept = is_plain(byte) || (keep_lines && (byte == '\n' || byte == '\t'));
    const std::size_t length = kept ? 1 : utf8_length(text.substr(at));
    const bool upper_control = is_upper_control(text.substr(at), length);
    if (kept || (length > 1 && !upper_control))
      out += text.substr(at, length);
    else
      out += fmt::format("\\u{:04x}", upper_control ? byte_at(text, at + 1) : byte);
    at += std::max<std::size_t>(1, length);
  }
  return out;
}

}  // namespace

std::size_t first_non_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const unsigned byte = byte_at(text, at);
    if (is_plain(byte) || byte == '\n' || byte == '\t' || byte == '\r') {
      ++at;
      continue;
    }
    const std::size_t length = byte < 0x80 ? 0 : utf8_length(text.substr(at));
    if (length == 0 || is_upper_control(text.substr(at), length)) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string describe_byte(std::string_view text, std::size_t at) {
  const unsigned byte = byte_at(text, at);
  if (byte < 0x80) return fmt::format("the control character 0x{:02x}", byte);
  const std::string_view rest = text.substr(at);
  if (is_upper_control(rest, utf8_length(rest))) return fmt::format("the control character U+{:04X}", byte_at(rest, 1));
  return fmt::format("the byte 0x{:02x}", byte);
}

std::string printable(std::string_view text) { return shown(text, true, std::string_view::npos); }

std::string printable_line(std::string_view text, std::size_t most) { return shown(text, false, most); }

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

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

namespace {

constexpr std::size_t longest = 128;  // names are short; a long paste must not cost quadratic time

}  // namespace

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');  // ASCII only: names of machines, no locale
  }
  return lower;
}

int edit_distance(std::string_view a_text, std::string_view b_text) {
  const std::string a = to_lower(a_text.substr(0, longest));
  const std::string b = to_lower(b_text.substr(0, longest));
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> nearest_names(std::string_view typed, const std::vector<std::string>& names,
                                       std::size_t most) {
  const std::string wanted = to_lower(typed);
  std::vector<std::pair<int, std::string>> near;
  for (const std::string& name : names) {
    const int limit = static_cast<int>(std::min(std::max(typed.size(), name.size()), longest)) / 3;
    const bool holds = wanted.size() >= 2 && to_lower(name).find(wanted) != std::string::npos;
    const auto compared = [](std::string_view text) { return static_cast<int>(std::min(text.size(), longest)); };
    if (!holds && std::abs(compared(typed) - compared(name)) > limit) continue;  // each letter more is a change
    const int distance = edit_distance(typed, name);
    if (distance <= limit || holds) near.emplace_back(holds ? std::min(distance, limit) : distance, name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string> nearest;
  for (const auto& [distance, name] : near) {
    if (nearest.size() < most) nearest.push_back(name);
  }
  return nearest;
}

std::string join_or(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace noteg
