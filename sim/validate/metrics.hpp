// How far predictions are from measurements, of pairs and of groups of rows: those of a column of the file or of a
// derived one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/validate/measured_file.hpp"
#include "sim/validate/outcome.hpp"

namespace noteg::validate {

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

// Rows put together by columns of the file or by derived ones, and the errors of each group.

struct Group {
  std::vector<std::string> keys;               // parallel to the columns grouped by; empty for all rows together
  std::size_t rows = 0;                        // predicted ones
  std::optional<Metrics> time, power, energy;  // absent where no row has both sides
  std::optional<double> coverage_90;           // share of the measured times in their 90 % intervals
};

// Columns that rows can be grouped by beside those of the file:
//   family       as resolved, not as written
//   half         of the shapes: fitted or judged, see shape_half.hpp
//   kernel       the kernel's name
//   waves        buckets of the CTAs over those that fit at once: below 1, 1-2, 2-4, 4-8, 8-16, 16 and more
//   time_decade  buckets of the measured time: 0.1-1 ms ...
[[nodiscard]] const std::vector<std::string>& derived_columns();

// Names in `by` that are neither a column of the file nor derived.
[[nodiscard]] std::vector<std::string> unknown_columns(const MeasuredData& data, const std::vector<std::string>& by);

// Groups in order of their keys: numbers by value, buckets by size, texts by letters. Only predicted rows count.
[[nodiscard]] std::vector<Group> group_rows(const MeasuredData& data, const std::vector<Outcome>& outcomes,
                                            const std::vector<std::string>& by);

}  // namespace noteg::validate
