#include "sim/learn/learning_curve.hpp"

#include <cmath>

#include "sim/learn/estimate.hpp"
#include "sim/learn/folds.hpp"

namespace noteg::learn {
namespace {

using Eigen::Index;

constexpr std::size_t parts_of_shapes = 16;
constexpr std::size_t most_judged = 2000;

// Errors per target of a fitted part on some of its rows.
std::vector<double> mapes(const Problem& problem, const PartProblem& part, const Fitted& fitted,
                          const std::vector<std::size_t>& rows, unsigned threads) {
  const std::size_t step = std::max<std::size_t>(1, (rows.size() + most_judged - 1) / most_judged);
  std::vector<std::size_t> judged;
  for (std::size_t i = 0; i < rows.size(); i += step) judged.push_back(rows[i]);
  Eigen::MatrixXd x(static_cast<Index>(judged.size()), problem.x.cols());
  for (std::size_t i = 0; i < judged.size(); ++i)
    x.row(static_cast<Index>(i)) = problem.x.row(static_cast<Index>(part.rows[judged[i]]));
  const std::vector<std::vector<Raw>> raw = raw_estimates(fitted, x, threads);
  std::vector<double> out;
  for (std::size_t t = 0; t < part.targets.size(); ++t) {
    const Target& target = part.targets[t];
    std::vector<Point> points;
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const auto row = static_cast<Index>(judged[i]);
      const double offset = part.offset(row, static_cast<Index>(t)), y = part.y(row, static_cast<Index>(t));
      points.push_back({judged[i], target.log ? std::exp(y + offset) : y, told(target, raw[i][t], offset).value, {}});
    }
    out.push_back(scores_of(points).mape);
  }
  return out;
}

}  // namespace

Result<std::vector<CurvePoint>> learning_curve(const dataset::Table& table, const TrainingRequest& request) {
  const Result<Problem> problem = make_problem(table, request.problem);
  if (!problem) return problem.errors();
  std::vector<CurvePoint> curve;
  const std::vector<std::size_t> shapes = groups_of(table, shape_columns());
  if (count_of(shapes) < 2 * request.folds) return curve;
  const std::vector<std::size_t> fold = deal(shapes, request.folds, request.forest.seed);
  const std::size_t parts = std::min(parts_of_shapes, count_of(shapes) / 2);
  const std::vector<std::size_t> place = deal(shapes, parts, request.forest.seed + 1);
  forest::ForestOptions options = request.forest;
  options.monotone.clear();
  for (std::size_t p = 0; p < problem->parts.size(); ++p) {
    const PartProblem& part = problem->parts[p];
    std::vector<CurvePoint> points;
    for (std::size_t taken = 1; taken <= parts; taken = taken < parts ? std::min(parts, 2 * taken) : parts + 1) {
      std::vector<std::size_t> train, test;
      for (std::size_t i = 0; i < part.rows.size(); ++i) {
        const std::size_t row = part.rows[i];
        if (fold[row] == 0)
          test.push_back(i);
        else if (place[row] < taken)
          train.push_back(i);
      }
      if (train.size() < 10 || test.empty()) continue;
      const Result<Fitted> fitted = fit_part(*problem, p, train, options);
      if (!fitted) return fitted.errors();
      const std::vector<double> unseen = mapes(*problem, part, *fitted, test, options.threads);
      const std::vector<double> seen = mapes(*problem, part, *fitted, train, options.threads);
      for (std::size_t t = 0; t < part.targets.size(); ++t)
        points.push_back({part.targets[t].name, train.size(), unseen[t], seen[t]});
    }
    for (const Target& target : part.targets)
      for (const CurvePoint& point : points)
        if (point.target == target.name) curve.push_back(point);
  }
  return curve;
}

}  // namespace noteg::learn
