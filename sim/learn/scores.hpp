// How far predictions are from the truth.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "sim/learn/model.hpp"

namespace noteg::learn {

struct Point {
  std::size_t row = 0;  // of the table
  double truth = 0, predicted = 0;
  std::array<bool, 3> inside{};  // the interval of each level
};

struct Scores {
  std::size_t rows = 0;
  double mape = 0, median_ape = 0, p90_ape = 0;  // of |predicted / true - 1|, fractions
  std::optional<double> r2;                      // share of the variance explained; absent where nothing varies
  std::array<double, 3> coverage{};              // share of true values inside the interval of each level
};

[[nodiscard]] Scores scores_of(std::span<const Point> points);

}  // namespace noteg::learn
