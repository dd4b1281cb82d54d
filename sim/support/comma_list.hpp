// "a,b,c" taken apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace noteg {

// The parts between commas, empty ones too; an empty text has no parts.
[[nodiscard]] std::vector<std::string> comma_list(std::string_view text);

}  // namespace noteg
