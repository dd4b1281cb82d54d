#include "sim/learn/scores.hpp"

#include <algorithm>
#include <cmath>

namespace noteg::learn {
namespace {

double quantile(const std::vector<double>& sorted, double level) {
  const double place = level * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

Scores scores_of(std::span<const Point> points) {
  Scores scores;
  scores.rows = points.size();
  if (points.empty()) return scores;
  const auto count = static_cast<double>(points.size());
  std::vector<double> errors;
  double mean = 0, spread = 0, missed = 0;
  for (const Point& point : points) {
    errors.push_back(std::abs(point.predicted / point.truth - 1));
    scores.mape += errors.back() / count;
    mean += point.truth / count;
    for (std::size_t level = 0; level < 3; ++level) scores.coverage[level] += point.inside[level] ? 1 / count : 0;
  }
  for (const Point& point : points) {
    spread += (point.truth - mean) * (point.truth - mean);
    missed += (point.truth - point.predicted) * (point.truth - point.predicted);
  }
  // Equal values spread by the rounding of their mean only.
  if (spread > 1e-20 * mean * mean * count) scores.r2 = 1 - missed / spread;
  std::ranges::sort(errors);
  scores.median_ape = quantile(errors, 0.5);
  scores.p90_ape = quantile(errors, 0.9);
  return scores;
}

}  // namespace noteg::learn
