#include "sim/learn/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace noteg::learn {
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
  Json held = Json::array(), importance = Json::array();
  for (const HeldOut& one : training.held_out) held.push_back(held_out_json(one, table, with_points));
  for (std::size_t part = 0; part < training.model.parts.size(); ++part) {
    Json list = Json::array();
    for (const Weight& w : weights_of(training, part))
      list.push_back({{"feature", w.name}, {"impurity", w.impurity}, {"permutation", w.permutation}});
    importance.push_back(list);
  }
  return {{"rows", table.rows}, {"validation", held}, {"importance", importance}, {"remarks", training.remarks}};
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
