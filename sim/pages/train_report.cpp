#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/pages/learning_charts.hpp"
#include "sim/pages/page.hpp"
#include "sim/pages/reports.hpp"
#include "sim/report/write.hpp"

namespace noteg::pages {
namespace {

using learn::HeldOut;
using learn::Scores;
using learn::Training;

constexpr std::size_t features_drawn = 15;

std::string unit_of(const Training& training, const std::string& target) {
  const learn::Target* found = training.model.find_target(target);
  return found == nullptr || found->unit.empty() ? "value" : found->unit;
}

std::string title_of(const HeldOut& held) { return held.split == "gpu" ? "one GPU left out" : "shapes held out"; }

std::vector<ComparedGroup> by_gpu(const std::vector<learn::Point>& points, const dataset::Table& table) {
  const dataset::Values* gpus = table.find(learn::gpu_column);
  std::map<std::string, ComparedGroup> groups;
  for (const learn::Point& point : points) {
    if (!(point.truth > 0) || !(point.predicted > 0)) continue;
    const std::string gpu = gpus != nullptr ? gpus->text(point.row) : "all";
    ComparedGroup& group = groups[gpu];
    group.name = gpu;
    group.pairs.push_back({point.truth, point.predicted, fmt::format("{}, row {}", gpu, point.row + 1)});
  }
  std::vector<ComparedGroup> out;
  for (auto& [name, group] : groups) out.push_back(std::move(group));
  return out;
}

// How many of the true values lie in the intervals that claim to hold 80, 90 and 95 % of them.
Chart coverage_chart(const std::string& id, const Scores& scores) {
  Chart chart;
  chart.id = id;
  chart.title = "Do the intervals hold what they claim?";
  chart.note = "Share of true values inside the interval, beside the share that it claims.";
  chart.label_head = "interval";
  chart.value = {"share of rows", false, 0, 1, "share"};
  Series claimed{"claimed", "muted", {}, Mark::points, {}}, held{"found", "s3", {}, Mark::points, {}};
  for (std::size_t level = 0; level < scores.coverage.size(); ++level) {
    chart.labels.push_back(fmt::format("{:.0f} %", 100 * learn::interval_levels[level]));
    claimed.bars.push_back({learn::interval_levels[level], percent_text(learn::interval_levels[level]), "", 0});
    held.bars.push_back({scores.coverage[level], percent_text(scores.coverage[level]), "", 0});
  }
  chart.series = {std::move(claimed), std::move(held)};
  return chart;
}

// Errors of every way to hold out: with and without the analytic features, by shape and by GPU.
Chart splits_chart(const Training& training, const std::string& id, const std::string& target) {
  std::vector<GroupError> errors;
  for (const HeldOut& held : training.held_out)
    for (std::size_t t = 0; t < held.targets.size(); ++t) {
      if (held.targets[t] != target) continue;
      const Scores scores = learn::scores_of(held.points[t]);
      errors.push_back({fmt::format("{}: {}", title_of(held), held.features), scores.mape, scores.rows});
    }
  return errors_chart(id, "What is held out, and what it learns from", "held out: features", errors);
}

Chart curve_chart(const std::vector<learn::CurvePoint>& curve, const std::string& id, const std::string& target) {
  Chart chart;
  chart.kind = Kind::xy;
  chart.id = id;
  chart.title = "Would more rows help?";
  chart.note = "Learning curve: error on shapes that were never learned from, and on the rows learned from.";
  chart.x = {"rows learned from", true};
  chart.value = {"mean error", false, 0, std::nullopt, "share"};
  Series unseen{"shapes held out", "s1", {}, Mark::marked, {}},
      seen{"rows learned from", "muted", {}, Mark::marked, {}};
  double low = 1e300, high = 1;
  for (const learn::CurvePoint& point : curve) {
    if (point.target != target) continue;
    const auto rows = static_cast<double>(point.rows);
    low = std::min(low, rows), high = std::max(high, rows);
    unseen.dots.push_back(
        {rows, point.held_out_mape, std::to_string(point.rows), percent_text(point.held_out_mape), ""});
    seen.dots.push_back({rows, point.learned_mape, std::to_string(point.rows), percent_text(point.learned_mape), ""});
  }
  chart.x.min = low / 1.2, chart.x.max = high * 1.2;
  chart.series = {std::move(unseen), std::move(seen)};
  return chart;
}

Chart importance_chart(const Training& training, std::size_t part, const std::string& id, const std::string& targets) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t f = 0; f < training.model.features.size(); ++f)
    order.emplace_back(-training.permutation[part][f], f);
  std::ranges::stable_sort(order, {}, &std::pair<double, std::size_t>::first);
  Chart chart;
  chart.id = id;
  chart.title = "Which features matter";
  chart.note = fmt::format(
      "Permutation importance for {}: how much worse the forest becomes when a column is shuffled.", targets);
  chart.label_head = "feature";
  chart.value = {"importance", false, 0, std::nullopt};
  chart.series.emplace_back();
  chart.series.front().colour = "s5";
  for (std::size_t i = 0; i < std::min(features_drawn, order.size()); ++i) {
    const double weight = std::max(0.0, -order[i].first);
    chart.labels.push_back(training.model.features[order[i].second].column.name);
    chart.series.front().bars.push_back({weight, report::three_digits(weight), "", 0});
  }
  return chart;
}

void add_target(Page& page, const Training& training, const dataset::Table& table,
                const std::vector<learn::CurvePoint>& curve, const std::string& target, std::size_t number) {
  const HeldOut& held = training.held_out.front();
  const auto place = static_cast<std::size_t>(std::ranges::find(held.targets, target) - held.targets.begin());
  if (place == held.targets.size()) return;
  const std::vector<ComparedGroup> groups = by_gpu(held.points[place], table);
  page.section(target, "Judged with " + title_of(held) + ".");
  const auto id = [&](std::string_view what) { return fmt::format("{}-{}", what, number); };
  page.add(ratio_chart(id("points"), "Predicted against true", unit_of(training, target), "true", groups));
  page.add(error_shares_chart(id("errors"), "How far off the predictions are", groups));
  page.add(coverage_chart(id("coverage"), learn::scores_of(held.points[place])));
  page.add(splits_chart(training, id("splits"), target));
  if (std::ranges::any_of(curve, [&](const learn::CurvePoint& point) { return point.target == target; }))
    page.add(curve_chart(curve, id("curve"), target));
}

std::vector<Tile> tiles_of(const Training& training, const dataset::Table& table) {
  std::vector<Tile> tiles;
  if (!training.held_out.empty()) {
    const HeldOut& held = training.held_out.front();
    for (std::size_t t = 0; t < held.targets.size(); ++t) {
      const Scores scores = learn::scores_of(held.points[t]);
      tiles.push_back({held.targets[t] + ", mean error", percent_text(scores.mape),
                       fmt::format("median {}, {}", percent_text(scores.median_ape), title_of(held))});
    }
  }
  tiles.push_back({"Rows", std::to_string(table.rows), fmt::format("{} features", training.model.features.size())});
  tiles.push_back({"Trees", std::to_string(training.model.parts.front().forest.trees.size()), "of each forest"});
  return tiles;
}

}  // namespace

std::string train_report(const Training& training, const dataset::Table& table,
                         const std::vector<learn::CurvePoint>& curve) {
  const bool residual = training.model.kind == learn::ModelKind::residual;
  Page page("NoteG training", residual ? "A forest behind the simulator" : "A forest from simulated runs",
            fmt::format("Trained on {} rows of {}; judged on rows that it did not learn from.", table.rows,
                        training.model.trained_on.files));
  page.tiles(tiles_of(training, table));
  std::size_t number = 0;
  if (!training.held_out.empty())
    for (const std::string& target : training.held_out.front().targets)
      add_target(page, training, table, curve, target, ++number);
  page.section("What the forests look at");
  for (std::size_t part = 0; part < training.model.parts.size(); ++part) {
    std::string targets;
    for (const learn::Target& target : training.model.parts[part].targets)
      targets += (targets.empty() ? "" : ", ") + target.name;
    page.add(importance_chart(training, part, fmt::format("importance-{}", part + 1), targets));
  }
  for (const std::string& remark : training.remarks) page.footer(remark + ".");
  page.footer("Splits are by shape or by GPU, never by random row, where replicas of one run would leak.");
  return page.take();
}

}  // namespace noteg::pages
