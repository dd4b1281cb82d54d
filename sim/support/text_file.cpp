#include "sim/support/text_file.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace noteg {
namespace {

Diagnostic wrong_file(const std::string& name, std::string expected, std::string found) {
  return {name, 0, 0, "", std::move(expected), std::move(found)};
}

// Length of the UTF-8 sequence at the start of text; 0 where there is none (overlong forms pass: harmless here).
std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (const char c : text.substr(1, length - 1)) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) return 0;
  }
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status)) return wrong_file(name, "a file", "none");
  if (std::filesystem::is_directory(status)) return wrong_file(name, "a file", "a directory");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return wrong_file(name, "a file that can be read", "one that cannot be opened");
  // Read with a bound instead of asking for the size: a pipe or device has none. Most files are small.
  std::string text;
  for (std::size_t piece = std::size_t{1} << 15; stream && text.size() <= largest_text_file; piece *= 2) {
    const std::size_t there = text.size();
    text.resize(there + piece);
    stream.read(text.data() + there, static_cast<std::streamsize>(piece));
    text.resize(there + static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) return wrong_file(name, "a file that can be read", "a read error");
  if (text.size() > largest_text_file) return wrong_file(name, "a text file of at most 1 MiB", "a larger one");
  return text;
}

std::optional<Diagnostic> check_text(std::string_view text, const std::string& name) {
  if (text.size() > largest_text_file) return wrong_file(name, "a text file of at most 1 MiB", "a larger one");
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
  };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return wrong_file(name, "a text file", "control characters (a binary file?)");
  }
  if (!is_utf8(text)) return wrong_file(name, "a text file in UTF-8", "other bytes");
  return std::nullopt;
}

}  // namespace noteg
