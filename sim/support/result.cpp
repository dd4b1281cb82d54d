#include "sim/support/result.hpp"

namespace noteg {

std::string Diagnostic::to_string() const {
  std::string text;
  if (!file.empty()) {
    text += file;
    if (line > 0) text += ":" + std::to_string(line);
    if (line > 0 && column > 0) text += ":" + std::to_string(column);
    text += ": ";
  }
  if (!key.empty()) text += key + ": ";
  text += "expected " + expected;
  if (!found.empty()) text += ", found " + found;
  return text;
}

std::string to_string(const Diagnostics& list) {
  std::string text;
  for (const Diagnostic& d : list) text += d.to_string() + "\n";
  return text;
}

}  // namespace noteg
