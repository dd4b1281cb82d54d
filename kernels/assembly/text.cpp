#include "kernels/assembly/text.hpp"

#include <fmt/format.h>

#include <charconv>

namespace noteg::kernels {
namespace {

constexpr std::size_t most_lines = 200'000;
constexpr std::int64_t most_copies = 4096;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

void Mistakes::add(std::string_view where, std::string expected, std::string found) {
  int column = 1;
  if (where.data() >= line_.data() && where.data() <= line_.data() + line_.size())
    column = static_cast<int>(where.data() - line_.data()) + 1;
  constexpr std::size_t most_shown = 60;
  if (found.size() > most_shown) found = found.substr(0, most_shown) + "...";
  if (found.empty()) found = "nothing";
  list_.push_back({file_, number_, column, "", std::move(expected), std::move(found)});
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_blank(text.back()) || text.back() == ';')) text.remove_suffix(1);
  return text;
}

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  std::size_t length = 0;
  while (length < text.size() && !is_blank(text[length])) ++length;
  const std::string_view word = text.substr(0, length);
  text = trimmed(text.substr(length));
  return word;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const bool is_negative = text.starts_with("-");
  if (is_negative) text.remove_prefix(1);
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, is_hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return is_negative ? -std::int64_t{value} : std::int64_t{value};
}

std::vector<SourceLine> expanded_lines(std::string_view text, Mistakes& mistakes) {
  std::vector<SourceLine> out, block;
  std::int64_t copies = 0;  // of the open block
  SourceLine opened;
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    mistakes.enter(line, ++number);
    std::string_view rest = parts_of(line).body;
    const std::string_view word = take_word(rest);
    if (word == ".unroll") {
      if (copies > 0) mistakes.add(word, ".end of the .unroll in line " + std::to_string(opened.number));
      copies = whole_number(rest).value_or(0);
      if (copies < 1 || copies > most_copies) {
        mistakes.add(rest, "1 to 4096 copies");
        copies = 1;
      }
      opened = {line, number};
      block.clear();
    } else if (word == ".end") {
      if (copies == 0) mistakes.add(word, "an .unroll before it", ".end");
      if (out.size() + block.size() * static_cast<std::size_t>(copies) > most_lines) {
        mistakes.enter(opened.text, opened.number);
        mistakes.add(opened.text, fmt::format("a program of at most {} lines", most_lines), "more after unrolling");
        copies = 0;
      }
      for (std::int64_t i = 0; i < copies; ++i) {
        for (SourceLine each : block) {
          each.is_copy = i > 0;
          out.push_back(each);
        }
      }
      copies = 0;
    } else {
      (copies > 0 ? block : out).push_back({line, number});
    }
  }
  if (copies > 0) {
    mistakes.enter(opened.text, opened.number);
    mistakes.add(opened.text, ".end after .unroll", "the end of the file");
  }
  return out;
}

LineParts parts_of(std::string_view line) {
  LineParts parts;
  parts.body = line.substr(0, line.find("//"));
  if (const auto open = parts.body.find("/*"); open != std::string_view::npos) {
    const auto close = parts.body.find("*/", open);
    if (close != std::string_view::npos) parts.address = trimmed(parts.body.substr(open + 2, close - open - 2));
    parts.body = parts.body.substr(0, open);
  }
  parts.body = trimmed(parts.body);
  if (parts.body.starts_with("#")) parts.body = {};
  return parts;
}

}  // namespace noteg::kernels
