// exp, log and powers whose last bit is the same on every machine and in the browser. The C library's may differ: it
// multiplies and adds at once where the processor can. Made of additions, multiplications and divisions in a fixed
// order, which IEEE 754 rounds in one way; what feeds a result uses these, so that the same inputs give the same bytes.
// Within 2 units in the last place; pow within 1 + |y log x| of them.
#pragma once

#include <cstdint>

namespace noteg::portable {

[[nodiscard]] double exp(double x);
[[nodiscard]] double log(double x);  // below 0: not a number
[[nodiscard]] double exp2(double x);
[[nodiscard]] double log2(double x);
[[nodiscard]] double pow(double x, double y);  // x at least 0

}  // namespace noteg::portable

namespace noteg {

// How many parts of `part` cover `whole`; both positive.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

}  // namespace noteg
