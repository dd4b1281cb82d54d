#include "sim/support/text_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace noteg
