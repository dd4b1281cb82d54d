// How many parts of `part` cover `whole`; both positive.
#pragma once

#include <cstdint>

namespace noteg {

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

}  // namespace noteg
