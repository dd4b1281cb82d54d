#include "sim/learn/study.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "sim/forest/random.hpp"
#include "sim/learn/estimate.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::learn {

std::vector<std::size_t> groups_of(const dataset::Table& table, const std::vector<std::string>& columns) {
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> groups;
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::string key;
    for (const std::string& column : columns) {
      const dataset::Values* values = table.find(column);
      key += (values == nullptr ? "" : values->text(row)) + '\n';
    }
    groups.push_back(known.emplace(key, known.size()).first->second);
  }
  return groups;
}

std::size_t count_of(const std::vector<std::size_t>& groups) {
  return groups.empty() ? 0 : *std::ranges::max_element(groups) + 1;
}

std::vector<std::size_t> deal(const std::vector<std::size_t>& groups, std::size_t folds, std::uint64_t seed) {
  std::vector<std::size_t> order(count_of(groups));
  std::iota(order.begin(), order.end(), std::size_t{0});
  forest::Random random(seed);
  forest::shuffle(order, random);
  std::vector<std::size_t> fold_of_group(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) fold_of_group[order[i]] = i % folds;
  std::vector<std::size_t> out;
  for (const std::size_t group : groups) out.push_back(fold_of_group[group]);
  return out;
}

const std::vector<std::string>& shape_columns() {
  static const std::vector<std::string> columns{"kernel.m", "kernel.n", "kernel.k", "kernel.batch"};
  return columns;
}

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

namespace {

using Eigen::Index;

// One row of a part, held out.
struct Judged {
  std::size_t fold = 0;
  std::size_t row = 0;       // of the table
  std::size_t part_row = 0;  // of the part
  std::vector<Raw> raw;      // per target
};

Result<std::vector<Judged>> hold_out(const Problem& problem, std::size_t index, const std::vector<std::size_t>& folds,
                                     const forest::ForestOptions& options) {
  const PartProblem& part = problem.parts[index];
  std::set<std::size_t> used;
  for (const std::size_t row : part.rows) used.insert(folds[row]);
  std::vector<Judged> out;
  if (used.size() < 2) return out;
  for (const std::size_t fold : used) {
    std::vector<std::size_t> train, test;
    for (std::size_t i = 0; i < part.rows.size(); ++i) (folds[part.rows[i]] == fold ? test : train).push_back(i);
    if (train.size() < 2) continue;
    const Result<Fitted> fitted = fit_part(problem, index, train, options);
    if (!fitted) return fitted.errors();
    Eigen::MatrixXd x(static_cast<Index>(test.size()), problem.x.cols());
    for (std::size_t i = 0; i < test.size(); ++i)
      x.row(static_cast<Index>(i)) = problem.x.row(static_cast<Index>(part.rows[test[i]]));
    std::vector<std::vector<Raw>> raw = raw_estimates(*fitted, x, options.threads);
    for (std::size_t i = 0; part.base.size() > 0 && i < test.size(); ++i)
      raw[i][0] = moved(raw[i][0], part.base[static_cast<Index>(test[i])]);
    for (std::size_t i = 0; i < test.size(); ++i) out.push_back({fold, part.rows[test[i]], test[i], std::move(raw[i])});
  }
  std::ranges::stable_sort(out, {}, &Judged::row);
  return out;
}

constexpr std::size_t no_fold = static_cast<std::size_t>(-1);

// The reach that a share of the rows stays below, where each fold counts as much as any other.
double reach_of(std::map<std::size_t, std::vector<double>>& by_fold, double share) {
  std::vector<std::pair<double, double>> all;  // reach, weight
  for (const auto& [fold, reaches] : by_fold)
    for (const double one : reaches) all.emplace_back(one, 1.0 / static_cast<double>(reaches.size() * by_fold.size()));
  std::ranges::sort(all);
  const double one_more = 1 + 1 / static_cast<double>(all.size());  // the row asked for is one more of them
  double below = 0;
  for (const auto& [one, weight] : all)
    if ((below += weight) >= share * one_more * (1 - 1e-12)) return one;
  return all.back().first;
}

// Fewer say nothing of the 95 % that are to be inside.
constexpr std::size_t fewest_of_a_kind = 40;
constexpr double least_factor = 1e-6;  // where the narrower level already holds enough

// The factors that rows held out ask for.
class Widening {
 public:
  // without: a fold whose rows are left out; no_fold: none.
  Widening(const std::vector<Judged>& rows, const Problem& problem, std::size_t part, std::size_t target,
           std::size_t without, Calibration calibration)
      : part_(problem.parts[part]), target_(target) {
    std::map<std::string, std::vector<const Judged*>> kinds;
    std::vector<const Judged*> all;
    for (const Judged& judged : rows) {
      if (judged.fold == without) continue;
      all.push_back(&judged);
      kinds[problem.kinds[judged.row]].push_back(&judged);
    }
    by_.widen = factors(all, calibration);
    if (calibration == Calibration::by_fold) return;
    for (const auto& [kind, some] : kinds)
      if (some.size() >= fewest_of_a_kind && some.size() < all.size()) by_.widen_of[kind] = factors(some, calibration);
  }

  [[nodiscard]] const Target& found() const { return by_; }  // widen and widen_of

 private:
  [[nodiscard]] Target::Factors factors(const std::vector<const Judged*>& rows, Calibration calibration) const {
    Target::Factors all{1, 1, 1};
    std::vector<bool> inside(rows.size(), false);  // the narrower level, which a wider one always holds
    for (std::size_t level = 0; level < all.size() && !rows.empty(); ++level) {
      std::vector<double> reached(rows.size());
      std::map<std::size_t, std::vector<double>> reaches;  // by fold, or all as one
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double truth = part_.y(static_cast<Index>(rows[i]->part_row), static_cast<Index>(target_));
        reached[i] = reach(rows[i]->raw[target_], level, truth);
        reaches[calibration == Calibration::by_fold ? rows[i]->fold : 0].push_back(inside[i] ? 0 : reached[i]);
      }
      all[level] = std::max(least_factor, reach_of(reaches, interval_levels[level]));
      for (std::size_t i = 0; i < rows.size(); ++i) inside[i] = inside[i] || reached[i] <= all[level];
    }
    return all;
  }

  const PartProblem& part_;
  std::size_t target_;
  Target by_;
};

std::vector<Point> points_of(const std::vector<Judged>& rows, const Problem& problem, std::size_t index,
                             std::size_t target, const StudyOptions& options) {
  const PartProblem& part = problem.parts[index];
  std::map<std::size_t, Target> by_fold;  // its rows are judged by factors from the others
  std::vector<Point> points;
  for (const Judged& judged : rows) {
    if (!by_fold.contains(judged.fold))
      by_fold[judged.fold] = Widening(rows, problem, index, target, judged.fold, options.calibration).found();
    const Target::Factors& widen = by_fold[judged.fold].factors(problem.kinds[judged.row], false);
    const Target& asked = part.targets[target];
    const auto i = static_cast<Index>(judged.part_row);
    const auto t = static_cast<Index>(target);
    const Estimate estimate = told(asked, judged.raw[target], part.offset(i, t), widen);
    const double truth = asked.log ? std::exp(part.y(i, t) + part.offset(i, t)) : part.y(i, t);
    Point point{judged.row, truth, estimate.value, {}};
    for (std::size_t level = 0; level < 3; ++level)
      point.inside[level] = estimate.intervals[level].low <= truth && truth <= estimate.intervals[level].high;
    points.push_back(point);
  }
  return points;
}

}  // namespace

Result<Study> study(const Problem& problem, const std::vector<std::size_t>& folds, const StudyOptions& options) {
  Study result;
  for (std::size_t p = 0; p < problem.parts.size(); ++p) {
    const PartProblem& part = problem.parts[p];
    const Result<std::vector<Judged>> rows = hold_out(problem, p, folds, options.forest);
    if (!rows) return rows.errors();
    for (std::size_t t = 0; t < part.targets.size(); ++t) {
      result.held_out.targets.push_back(part.targets[t].name);
      result.held_out.points.push_back(points_of(*rows, problem, p, t, options));
      const Widening all(*rows, problem, p, t, no_fold, options.calibration);
      result.widen.push_back(all.found().widen);
      result.widen_of.push_back(all.found().widen_of);
      if (rows->empty()) result.not_judged.push_back(part.targets[t].name);
    }
  }
  return result;
}

}  // namespace noteg::learn
