// How far predictions are from measurements. Pure functions on pairs; nothing here knows what was predicted.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace noteg::validate {

struct Pair {
  double predicted = 0;
  double measured = 0;  // > 0
};

// Absolute percentage error: |predicted / measured - 1|, a fraction.
struct Metrics {
  double mape = 0;  // mean of the errors
  double median_ape = 0;
  double p90_ape = 0;            // 90 % quantile
  double bias = 1;               // geometric mean of predicted / measured
  std::optional<double> r2_log;  // share of the variance of log(measured) explained; absent below two different values
  std::optional<double> rank_corr;  // Spearman, ties share their mean rank; absent where one side is constant
};

// Pairs must be positive and finite on both sides (see usable()); nothing for no pairs.
[[nodiscard]] std::optional<Metrics> metrics_of(std::span<const Pair> pairs);

[[nodiscard]] bool usable(const Pair& pair);

// Linear interpolation between order statistics: quantile 0 is the least, 1 the greatest. Values need no order.
[[nodiscard]] double quantile(std::vector<double> values, double q);

// Ranks from 1, ties share their mean rank.
[[nodiscard]] std::vector<double> ranks(std::span<const double> values);

}  // namespace noteg::validate
