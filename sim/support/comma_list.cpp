#include "sim/support/comma_list.hpp"

#include <algorithm>

namespace noteg {

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

}  // namespace noteg
