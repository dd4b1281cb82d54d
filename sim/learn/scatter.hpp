// A plot of predicted against true values as SVG: what a browser shows without anything else.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace noteg::learn {

struct Scatter {
  std::string title, unit;
  std::vector<std::pair<double, double>> points;  // true, predicted; those that are not positive are left out
};

// Logarithmic axes of equal extent in powers of ten, and the line on which both are the same.
[[nodiscard]] std::string to_svg(const Scatter& scatter);

}  // namespace noteg::learn
