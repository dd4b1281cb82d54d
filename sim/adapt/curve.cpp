#include "sim/adapt/curve.hpp"

#include <algorithm>
#include <cmath>

#include "sim/adapt/mixture.hpp"
#include "sim/forest/random.hpp"
#include "sim/learn/estimate.hpp"
#include "sim/learn/study.hpp"

namespace noteg::adapt {
namespace {

using learn::MeasuredTable;

MeasuredTable part_of(const MeasuredTable& measured, const std::vector<std::size_t>& rows) {
  MeasuredTable part;
  part.table = dataset::select(measured.table, rows);
  for (const std::size_t row : rows) part.runs.push_back(measured.runs[row]);
  return part;
}

struct Split {
  std::vector<std::size_t> learned, judged;
};

// Rows of three shapes in five, drawn at random; all rows of shapes that none was drawn of judge. Where three in five
// hold too few, more shapes.
Split split_of(const std::vector<std::size_t>& shapes, std::size_t rows, std::uint64_t seed) {
  const std::size_t count = learn::count_of(shapes);
  std::vector<std::size_t> every(count);
  for (std::size_t i = 0; i < count; ++i) every[i] = i;
  const std::vector<std::size_t> fifth = learn::deal(every, 5, seed);
  std::vector<std::size_t> order(shapes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  forest::Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return fifth[shapes[row]] < 3 ? 3 : fifth[shapes[row]]; });
  Split split;
  std::vector<bool> touched(count);
  for (const std::size_t row : order) {
    if (split.learned.size() == rows) break;
    split.learned.push_back(row);
    touched[shapes[row]] = true;
  }
  std::ranges::sort(split.learned);
  for (std::size_t row = 0; row < shapes.size(); ++row)
    if (!touched[shapes[row]]) split.judged.push_back(row);
  return split;
}

double error_of(const MeasuredTable& judged, const std::vector<double>& told_us) {
  double sum = 0;
  for (std::size_t i = 0; i < judged.runs.size(); ++i) sum += std::abs(told_us[i] / judged.runs[i].measured_us - 1);
  return sum / static_cast<double>(judged.runs.size());
}

Result<double> plain_error(const MeasuredTable& known, const MeasuredTable& judged, const CurveOptions& options) {
  learn::ProblemOptions problem_options;
  problem_options.groups = {dataset::Group::config};
  problem_options.targets = {{"measured.time_us"}};
  problem_options.leave_out = {"arch"};
  const Result<learn::Problem> problem = learn::make_problem(known.table, problem_options);
  if (!problem) return problem.errors();
  forest::ForestOptions forest;
  forest.seed = options.seed;
  forest.threads = options.jobs;
  const Result<learn::Model> model = learn::fit_model(*problem, learn::ModelKind::direct, forest);
  if (!model) return model.errors();
  const auto rows = learn::Estimator(*model).estimate(judged.table, false, options.jobs);
  if (!rows) return rows.errors();
  std::vector<double> told;
  for (const learn::RowEstimate& row : *rows) told.push_back(row.targets.front().value);
  return error_of(judged, told);
}

Result<CurvePoint> one_draw(const MeasuredTable& measured, const Split& split, const CurveOptions& options) {
  const MeasuredTable known = part_of(measured, split.learned), judged = part_of(measured, split.judged);
  const Result<Mixture> mixture = fit_mixture(known, options.others, options.seed, options.jobs);
  if (!mixture) return mixture.errors();
  const auto rows = learn::Estimator(mixture->model).estimate(judged.table, false, options.jobs);
  if (!rows) return rows.errors();
  std::vector<double> simulated, adapted;
  for (std::size_t i = 0; i < judged.runs.size(); ++i) {
    simulated.push_back(judged.runs[i].time_for(1));
    adapted.push_back(judged.runs[i].time_for((*rows)[i].targets.front().value));
  }
  const Result<double> plain = plain_error(known, judged, options);
  if (!plain) return plain.errors();
  CurvePoint point{
      split.learned.size(), split.judged.size(), error_of(judged, simulated), error_of(judged, adapted), *plain, 0};
  point.worst = point.adapted / point.simulator;
  return point;
}

}  // namespace

Result<std::vector<CurvePoint>> few_shot_curve(const MeasuredTable& measured, const CurveOptions& options) {
  const std::vector<std::size_t> shapes = learn::groups_of(measured.table, learn::shape_columns());
  std::vector<CurvePoint> curve;
  for (const std::size_t rows : options.rows) {
    if (5 * rows > 4 * shapes.size()) break;
    const std::size_t draws = std::max<std::size_t>(1, options.draws * 10 / std::max<std::size_t>(10, rows));
    CurvePoint mean;
    for (std::size_t draw = 0; draw < draws; ++draw) {
      const Split split = split_of(shapes, rows, options.seed + draw);
      if (split.judged.empty()) return curve;
      const Result<CurvePoint> point = one_draw(measured, split, options);
      if (!point) return point.errors();
      const auto share = 1.0 / static_cast<double>(draws);
      mean.rows = rows;
      mean.judged += point->judged;
      mean.simulator += share * point->simulator;
      mean.adapted += share * point->adapted;
      mean.plain += share * point->plain;
      mean.worst = std::max(mean.worst, point->worst);
    }
    mean.judged /= draws;
    curve.push_back(mean);
  }
  return curve;
}

}  // namespace noteg::adapt
