#include "sim/validate/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace noteg::validate {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares(std::span<const double> values, double centre) {
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

std::optional<double> correlation(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean(x), mean_y = mean(y);
  const double norm = std::sqrt(squares(x, mean_x) * squares(y, mean_y));
  if (norm <= 0) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - mean_x) * (y[i] - mean_y);
  return sum / norm;
}

}  // namespace

bool usable(const Pair& pair) {
  return std::isfinite(pair.predicted) && std::isfinite(pair.measured) && pair.predicted > 0 && pair.measured > 0;
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
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) result[order[i]] = 1 + 0.5 * static_cast<double>(first + last);
    first = last + 1;
  }
  return result;
}

std::optional<Metrics> metrics_of(std::span<const Pair> pairs) {
  if (pairs.empty()) return std::nullopt;
  std::vector<double> errors, log_ratios, log_measured, predicted, measured;
  for (const Pair& pair : pairs) {
    errors.push_back(std::abs(pair.predicted / pair.measured - 1));
    log_ratios.push_back(std::log(pair.predicted / pair.measured));
    log_measured.push_back(std::log(pair.measured));
    predicted.push_back(pair.predicted);
    measured.push_back(pair.measured);
  }
  Metrics result;
  result.mape = mean(errors);
  result.median_ape = quantile(errors, 0.5);
  result.p90_ape = quantile(errors, 0.9);
  result.bias = std::exp(mean(log_ratios));
  const double variance = squares(log_measured, mean(log_measured));
  if (variance > 0) result.r2_log = 1 - squares(log_ratios, 0) / variance;
  result.rank_corr = correlation(ranks(predicted), ranks(measured));
  return result;
}

}  // namespace noteg::validate
