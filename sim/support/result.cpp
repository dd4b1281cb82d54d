#include "sim/support/result.hpp"

#include "sim/support/text.hpp"

namespace noteg {
namespace {

// Names, keys and values of a file may be megabytes long, or written to steer a terminal.
constexpr std::size_t longest_part = 2000;  // bytes

std::string part(const std::string& text) { return printable_line(text, longest_part); }

}  // namespace

std::string Diagnostic::to_string() const {
  std::string text;
  if (!file.empty()) {
    text += part(file);
    if (line > 0) text += ":" + std::to_string(line);
    if (line > 0 && column > 0) text += ":" + std::to_string(column);
    text += ": ";
  }
  if (!key.empty()) text += part(key) + ": ";
  text += "expected " + part(expected);
  if (!found.empty()) text += ", found " + part(found);
  return text;
}

std::string to_string(const Diagnostics& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < most_told; ++i) text += list[i].to_string() + "\n";
  if (list.size() > most_told) text += "and " + std::to_string(list.size() - most_told) + " mistakes more\n";
  return text;
}

}  // namespace noteg
