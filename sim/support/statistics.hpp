// Numbers about many numbers: quantiles, ranks, their correlation, how many differ; and numbers that look random and
// are the same on every machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace noteg {

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
