// Arithmetic that every folder needs: functions whose last bit is the same on every machine, quantiles, ranks and their
// correlation, numbers that look random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// exp, log and powers whose last bit is the same on every machine and in the browser. The C library's may differ: it
// multiplies and adds at once where the processor can. Made of additions, multiplications and divisions in a fixed
// order, which IEEE 754 rounds in one way; what feeds a result uses these, so that the same inputs give the same bytes.
// Within 2 units in the last place; pow within 1 + |y log x| of them.
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

// Of what whole tiles cover along an extent, the share that it takes.
[[nodiscard]] constexpr double covered(std::int64_t extent, std::int64_t tile) {
  return static_cast<double>(extent) / static_cast<double>(ceil_div(extent, tile) * tile);
}

// SplitMix64, public domain: a step of the state, and what comes out behind it.
inline constexpr std::uint64_t split_mix_step = 0x9e3779b97f4a7c15U;

[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t state) {
  std::uint64_t x = state + split_mix_step;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

[[nodiscard]] double mean(std::span<const double> values);  // of at least one

// Linear interpolation between order statistics: quantile 0 is the least, 1 the greatest; 0 of no values. Values need
// no order.
[[nodiscard]] double quantile(std::vector<double> values, double q);

// Ranks from 1, ties share their mean rank; what is not finite has none (not a number).
[[nodiscard]] std::vector<double> ranks(std::span<const double> values);

// Pearson's, over the pairs that are finite on both sides; absent where one side is constant. Of ranks: Spearman's.
[[nodiscard]] std::optional<double> correlation(std::span<const double> x, std::span<const double> y);

// How many different values there are; these come first afterwards, in order.
template <typename T>
[[nodiscard]] int count_distinct(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  return static_cast<int>(std::unique(values.begin(), values.end()) - values.begin());
}

}  // namespace noteg
