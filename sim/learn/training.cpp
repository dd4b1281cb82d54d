#include "sim/learn/training.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/forest/out_of_bag.hpp"
#include "sim/learn/estimate.hpp"
#include "sim/learn/study.hpp"

namespace noteg::learn {

namespace {

using dataset::Group;

constexpr std::size_t rows_permuted = 2000;

std::string text_of(const std::vector<Group>& groups) {
  std::string text;
  for (const Group group : groups) text += (text.empty() ? "" : ", ") + std::string(dataset::name_of(group));
  return text;
}

Diagnostics apply_rules(const Problem& problem, const std::vector<MonotoneRule>& rules,
                        forest::ForestOptions& options) {
  Diagnostics errors;
  for (const MonotoneRule& rule : rules) {
    const auto feature =
        std::ranges::find(problem.features, rule.feature, [](const Feature& f) { return f.column.name; });
    const std::vector<Target>& targets = problem.parts.front().targets;
    const auto target = std::ranges::find(targets, rule.target, &Target::name);
    if (feature == problem.features.end() || feature->kind == forest::FeatureKind::category)
      errors.push_back({"", 0, 0, "--monotone", "a feature that is a number", "\"" + rule.feature + "\""});
    else if (target == targets.end())
      errors.push_back({"", 0, 0, "--monotone", "a target", "\"" + rule.target + "\""});
    else
      options.monotone.push_back({static_cast<std::size_t>(feature - problem.features.begin()),
                                  static_cast<std::size_t>(target - targets.begin()), rule.direction});
  }
  return errors;
}

std::vector<std::vector<std::size_t>> physics_members(const Problem& problem) {
  std::vector<std::vector<std::size_t>> members(physics_groups.size());
  for (std::size_t f = 0; f < problem.features.size(); ++f)
    members[physics_group(problem.features[f].column.name)].push_back(f);
  return members;
}

std::vector<std::string> names_in(const dataset::Values* column) {
  std::vector<std::string> names;
  if (column == nullptr || !column->is_text) return names;
  const std::set<std::int32_t> used(column->codes.begin(), column->codes.end());
  for (const std::int32_t code : used)
    if (code >= 0) names.push_back(column->words[static_cast<std::size_t>(code)]);
  return names;
}

// Runs the validations one after the other; those that a table does not allow become remarks.
class Validator {
 public:
  Validator(const dataset::Table& table, const TrainingRequest& request, Training& training)
      : table_(table), request_(request), training_(training) {}

  Diagnostics run(const Problem& problem, const forest::ForestOptions& options) {
    const std::string all = text_of(request_.problem.groups);
    if (request_.by_shape) {
      const std::size_t shapes = count_of(groups_of(table_, shape_columns()));
      const std::size_t folds = std::min(request_.folds, shapes);
      by_shape_ = deal(groups_of(table_, shape_columns()), std::max<std::size_t>(folds, 1), options.seed);
      if (Diagnostics errors = hold_out("shape", all, problem, by_shape_, options); !errors.empty()) return errors;
    }
    if (request_.by_gpu) {
      by_gpu_ = groups_of(table_, {gpu_column});
      if (Diagnostics errors = hold_out("gpu", all, problem, by_gpu_, options); !errors.empty()) return errors;
    }
    return request_.ablation ? ablate(options) : Diagnostics{};
  }

 private:
  Diagnostics hold_out(const std::string& split, const std::string& features, const Problem& problem,
                       const std::vector<std::size_t>& folds, const forest::ForestOptions& options) {
    if (request_.tell) request_.tell("held out by " + split + ", features " + features);
    if (count_of(folds) < 2) {
      training_.remarks.push_back("not validated by " + split + ": the rows have only one");
      return {};
    }
    const bool shapes = split == "shape";
    Result<Study> found = study(problem, folds, {options, shapes ? Calibration::by_row : Calibration::by_fold});
    if (!found) return found.errors();
    for (const std::string& target : found->not_judged)
      training_.remarks.push_back("not validated by " + split + ": " + target + ", whose rows have only one");
    found->held_out.split = split;
    found->held_out.features = features;
    if (features == text_of(request_.problem.groups)) widen(*found, shapes);
    training_.held_out.push_back(std::move(found->held_out));
    return {};
  }

  void widen(const Study& found, bool by_shape) {
    std::size_t place = 0;
    for (Part& part : training_.model.parts)
      for (Target& target : part.targets) {
        const std::size_t at = place++;
        if (by_shape)
          target.widen = found.widen[at], target.widen_of = found.widen_of[at];
        else if (std::ranges::find(found.not_judged, target.name) == found.not_judged.end())
          target.widen_new_gpu = found.widen[at];
      }
  }

  Diagnostics ablate(const forest::ForestOptions& options) {
    ProblemOptions without = request_.problem;
    std::erase(without.groups, Group::physics);
    if (without.groups.size() == request_.problem.groups.size() || without.groups.empty()) return {};
    const Result<Problem> problem = make_problem(table_, without);
    if (!problem) return problem.errors();
    forest::ForestOptions free = options;  // rules speak of features that may be gone
    free.monotone.clear();
    const std::string groups = text_of(without.groups);
    if (request_.by_shape)
      if (Diagnostics errors = hold_out("shape", groups, *problem, by_shape_, free); !errors.empty()) return errors;
    if (request_.by_gpu) return hold_out("gpu", groups, *problem, by_gpu_, free);
    return {};
  }

  const dataset::Table& table_;
  const TrainingRequest& request_;
  Training& training_;
  std::vector<std::size_t> by_shape_, by_gpu_;
};

}  // namespace

Result<Training> train(const dataset::Table& table, const TrainingRequest& request) {
  const Result<Problem> problem = make_problem(table, request.problem);
  if (!problem) return problem.errors();
  forest::ForestOptions options = request.forest;
  if (Diagnostics errors = apply_rules(*problem, request.monotone, options); !errors.empty()) return errors;
  Training training;
  if (request.tell) request.tell("the model, on all rows");
  Result<Model> model = fit_model(*problem, request.kind, options);
  if (!model) return model.errors();
  training.model = std::move(*model);
  training.model.trained_on.files = table.file;
  training.model.trained_on.gpus = names_in(table.find(gpu_column));
  for (std::size_t p = 0; p < problem->parts.size(); ++p) {
    Eigen::MatrixXd x(static_cast<Eigen::Index>(problem->parts[p].rows.size()), problem->x.cols());
    for (std::size_t i = 0; i < problem->parts[p].rows.size(); ++i)
      x.row(static_cast<Eigen::Index>(i)) = problem->x.row(static_cast<Eigen::Index>(problem->parts[p].rows[i]));
    training.permutation.push_back(forest::permutation_importance(training.model.parts[p].forest, x, rows_permuted,
                                                                  options.seed, options.threads));
    training.by_physics.push_back(forest::permutation_importance(
        training.model.parts[p].forest, x, physics_members(*problem), rows_permuted, options.seed, options.threads));
  }
  if (Diagnostics errors = Validator(table, request, training).run(*problem, options); !errors.empty()) return errors;
  return training;
}

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
      points.push_back(
          {judged[i], target.log ? std::exp(y + offset) : y, told(target, raw[i][t], offset, target.widen).value, {}});
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

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_points = 2000;  // per target and split, for plots
constexpr std::size_t features_shown = 12;

// Points of one target by the texts of a column, in order of those.
std::map<std::string, std::vector<Point>> by_column(const std::vector<Point>& points, const dataset::Table& table,
                                                    const char* column) {
  std::map<std::string, std::vector<Point>> groups;
  const dataset::Values* values = table.find(column);
  if (values == nullptr) return groups;
  for (const Point& point : points) groups[values->text(point.row)].push_back(point);
  return groups;
}

std::string row_text(const std::string& name, const Scores& s) {
  return fmt::format("  {:<26}{:>7}{:>9}{:>9.1f} %{:>7.1f} %{:>7.1f} %{:>7.1f}{:>7.1f}{:>7.1f}\n", name.substr(0, 26),
                     s.rows, s.r2 ? fmt::format("{:.4f}", *s.r2) : "-", 100 * s.mape, 100 * s.median_ape,
                     100 * s.p90_ape, 100 * s.coverage[0], 100 * s.coverage[1], 100 * s.coverage[2]);
}

std::string held_out_text(const HeldOut& held, const dataset::Table& table, bool in_detail) {
  const std::string title = held.split == "gpu" ? "one GPU left out in turn" : "whole shapes held out";
  std::string text = fmt::format("{}; features: {}\n  {:<26}{:>7}{:>9}{:>11}{:>9}{:>9}{:>7}{:>7}{:>7}\n", title,
                                 held.features, "", "rows", "R2", "MAPE", "median", "p90", "in 80", "in 90", "in 95");
  for (std::size_t t = 0; t < held.targets.size(); ++t) {
    if (held.points[t].empty()) continue;
    text += row_text(held.targets[t], scores_of(held.points[t]));
    if (!in_detail) continue;
    for (const char* column : {gpu_column, family_column})
      for (const auto& [key, points] : by_column(held.points[t], table, column))
        text += row_text("  " + key, scores_of(points));
  }
  return text + "\n";
}

Json scores_json(const Scores& s) {
  Json json{{"rows", s.rows}, {"mape", s.mape}, {"median_ape", s.median_ape}, {"p90_ape", s.p90_ape}};
  json["r2"] = s.r2 ? Json(*s.r2) : Json(nullptr);
  json["coverage_80"] = s.coverage[0];
  json["coverage_90"] = s.coverage[1];
  json["coverage_95"] = s.coverage[2];
  return json;
}

Json groups_json(const std::vector<Point>& points, const dataset::Table& table, const char* column) {
  Json json = Json::object();
  for (const auto& [key, group] : by_column(points, table, column)) json[key] = scores_json(scores_of(group));
  return json;
}

Json points_json(const std::vector<Point>& points) {
  Json json = Json::array();
  const std::size_t step = std::max<std::size_t>(1, (points.size() + most_points - 1) / most_points);
  for (std::size_t i = 0; i < points.size(); i += step) json.push_back({points[i].truth, points[i].predicted});
  return json;
}

Json held_out_json(const HeldOut& held, const dataset::Table& table, bool with_points) {
  Json targets = Json::object();
  for (std::size_t t = 0; t < held.targets.size(); ++t) {
    if (held.points[t].empty()) continue;
    Json json = scores_json(scores_of(held.points[t]));
    json["by_gpu"] = groups_json(held.points[t], table, gpu_column);
    json["by_family"] = groups_json(held.points[t], table, family_column);
    if (with_points) json["true_and_predicted"] = points_json(held.points[t]);
    targets[held.targets[t]] = json;
  }
  return {{"held_out_by", held.split}, {"features", held.features}, {"targets", targets}};
}

struct Weight {
  std::string name;
  double impurity = 0, permutation = 0;
};

std::vector<Weight> weights_of(const Training& training, std::size_t part) {
  std::vector<Weight> all;
  for (std::size_t f = 0; f < training.model.features.size(); ++f)
    all.push_back({training.model.features[f].column.name, training.model.parts[part].forest.importance[f],
                   training.permutation[part][f]});
  std::ranges::stable_sort(all, std::greater{}, &Weight::permutation);
  return all;
}

Json document(const Training& training, const dataset::Table& table, bool with_points) {
  Json held = Json::array(), importance = Json::array(), by_physics = Json::array();
  for (const HeldOut& one : training.held_out) held.push_back(held_out_json(one, table, with_points));
  for (std::size_t part = 0; part < training.model.parts.size(); ++part) {
    Json list = Json::array();
    for (const Weight& w : weights_of(training, part))
      list.push_back({{"feature", w.name}, {"impurity", w.impurity}, {"permutation", w.permutation}});
    importance.push_back(list);
    Json groups = Json::object();
    for (std::size_t g = 0; g < physics_groups.size(); ++g)
      groups[std::string(physics_groups[g])] = training.by_physics[part][g];
    by_physics.push_back(groups);
  }
  return {{"rows", table.rows},
          {"validation", held},
          {"importance", importance},
          {"importance_by_physics", by_physics},
          {"remarks", training.remarks}};
}

}  // namespace

std::string training_text(const Training& training, const dataset::Table& table) {
  std::string text = fmt::format("trained on {} rows of {}: {} features, {} trees\n\n", training.model.trained_on.rows,
                                 training.model.trained_on.files, training.model.features.size(),
                                 training.model.parts.front().forest.trees.size());
  for (const HeldOut& held : training.held_out)
    text += held_out_text(held, table, held.features == training.held_out.front().features);
  for (std::size_t part = 0; part < training.model.parts.size(); ++part) {
    text +=
        fmt::format("most important features{}\n  {:<40}{:>12}{:>14}\n",
                    training.model.parts.size() > 1 ? " for " + training.model.parts[part].targets.front().name : "",
                    "", "impurity", "permutation");
    const std::vector<Weight> weights = weights_of(training, part);
    for (std::size_t i = 0; i < std::min(features_shown, weights.size()); ++i)
      text += fmt::format("  {:<40}{:>12.4f}{:>14.5f}\n", weights[i].name, weights[i].impurity, weights[i].permutation);
    text += "their values changing places together\n";
    for (std::size_t g = 0; g < physics_groups.size(); ++g)
      text += fmt::format("  {:<40}{:>26.5f}\n", physics_groups[g], training.by_physics[part][g]);
  }
  for (const std::string& remark : training.remarks) text += remark + "\n";
  return text;
}

std::string training_json(const Training& training, const dataset::Table& table) {
  return document(training, table, true).dump(2) + "\n";
}

std::string metrics_json(const Training& training, const dataset::Table& table) {
  return document(training, table, false).dump();
}

}  // namespace noteg::learn
