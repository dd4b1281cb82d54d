#include "sim/support/arithmetic.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace noteg {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(position);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (position - static_cast<double>(low)) * (values[high] - values[low]);
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> result(values.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) result[order[i]] = 1 + 0.5 * static_cast<double>(first + last);
    first = last + 1;
  }
  return result;
}

std::optional<double> correlation(std::span<const double> x, std::span<const double> y) {
  std::vector<double> of_x, of_y;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    of_x.push_back(x[i]);
    of_y.push_back(y[i]);
  }
  if (of_x.empty()) return std::nullopt;
  const double mean_x = mean(of_x), mean_y = mean(of_y);
  double squares_x = 0, squares_y = 0, products = 0;
  for (std::size_t i = 0; i < of_x.size(); ++i) {
    squares_x += (of_x[i] - mean_x) * (of_x[i] - mean_x);
    squares_y += (of_y[i] - mean_y) * (of_y[i] - mean_y);
    products += (of_x[i] - mean_x) * (of_y[i] - mean_y);
  }
  const double norm = std::sqrt(squares_x * squares_y);
  if (norm <= 0) return std::nullopt;
  return products / norm;
}

}  // namespace noteg
