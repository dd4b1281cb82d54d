#include "sim/pages/learning_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/report/write.hpp"

namespace noteg::pages {
namespace {

constexpr std::size_t most_points = 1500, colours = 7;

std::size_t size_of(const std::vector<ComparedGroup>& groups) {
  std::size_t all = 0;
  for (const ComparedGroup& group : groups) all += group.pairs.size();
  return all;
}

// A level line across the chart.
Series level(std::string colour, Mark mark, double height, double low, double high) {
  Series line{"", std::move(colour), {}, mark, {}};
  line.reference = true;
  line.legend = false;
  for (const double x : {low, high}) line.dots.push_back({x, height, "", "", ""});
  return line;
}

constexpr double far_off = 1.25;
bool is_outlier(const Compared& pair) {
  return pair.predicted > far_off * pair.truth || pair.predicted * far_off < pair.truth;
}

// The largest groups by themselves, largest first, the others as one.
std::vector<ComparedGroup> shown(std::vector<ComparedGroup> groups) {
  std::ranges::stable_sort(groups, std::greater{}, [](const ComparedGroup& group) { return group.pairs.size(); });
  if (groups.size() <= colours + 1) return groups;
  ComparedGroup rest{fmt::format("{} others", groups.size() - colours), {}};
  for (std::size_t i = colours; i < groups.size(); ++i)
    for (Compared& pair : groups[i].pairs) rest.pairs.push_back(std::move(pair));
  groups.resize(colours);
  groups.push_back(std::move(rest));
  return groups;
}

}  // namespace

std::string percent_text(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

Chart ratio_chart(std::string id, std::string title, const std::string& unit, const std::string& true_word,
                  std::vector<ComparedGroup> groups) {
  Chart chart;
  chart.kind = Kind::xy;
  chart.id = std::move(id);
  chart.title = std::move(title);
  chart.wide = true;
  const std::size_t all = size_of(groups);
  const std::size_t step = std::max<std::size_t>(1, (all + most_points - 1) / most_points);
  double low = 1e300, high = 0, off = far_off;
  std::vector<Series> points;
  for (const ComparedGroup& group : shown(std::move(groups))) {
    Series series{
        group.name, points.size() < colours ? fmt::format("s{}", points.size() + 1) : "muted", {}, Mark::points, {}};
    for (std::size_t i = 0; i < group.pairs.size(); ++i) {
      const Compared& pair = group.pairs[i];
      if (i % step != 0 && !is_outlier(pair)) continue;
      const double ratio = pair.predicted / pair.truth;
      low = std::min(low, pair.truth);
      high = std::max(high, pair.truth);
      off = std::max({off, ratio, 1 / ratio});
      series.dots.push_back({pair.truth, ratio, report::three_digits(pair.truth) + " " + unit,
                             fmt::format("{:.3f}: {} {}", ratio, report::three_digits(pair.predicted), unit),
                             pair.label});
    }
    points.push_back(std::move(series));
  }
  if (high <= 0) low = high = 1;
  low /= 1.4, high *= 1.4;
  chart.x = {fmt::format("{}, {}", true_word, unit), true, low, high};
  chart.value = {"predicted / " + true_word, true, 1 / (off * 1.1), off * 1.1};
  chart.note =
      "At 1 the prediction is right; within the dark band it is less than 10 %, within the light one less than 25 % "
      "off.";
  if (step > 1)
    chart.note +=
        fmt::format(" Of {} rows all that are further off are drawn, and one in {} of the others.", all, step);
  for (const double band : {far_off, 1.10}) {
    chart.series.push_back(level("muted", Mark::band, band, low, high));
    chart.series.push_back(level("none", Mark::line, 1 / band, low, high));  // bounds the band
  }
  chart.series.push_back(level("ink-3", Mark::line, 1, low, high));
  for (Series& series : points) chart.series.push_back(std::move(series));
  return chart;
}

Chart error_shares_chart(std::string id, std::string title, const std::vector<ComparedGroup>& groups) {
  constexpr std::array<double, 6> bounds{0.02, 0.05, 0.10, 0.25, 0.50, 1e300};
  std::array<std::size_t, bounds.size()> counts{};
  for (const ComparedGroup& group : groups)
    for (const Compared& pair : group.pairs) {
      const double error = std::abs(pair.predicted / pair.truth - 1);
      ++counts[static_cast<std::size_t>(std::ranges::upper_bound(bounds, error) - bounds.begin())];
    }
  Chart chart;
  chart.id = std::move(id);
  chart.title = std::move(title);
  chart.note = "Share of rows by how far off they are.";
  chart.label_head = "error";
  chart.value = {"share of rows", false, 0, std::nullopt, "share"};
  chart.series.emplace_back();
  const auto all = static_cast<double>(std::max<std::size_t>(1, size_of(groups)));
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const std::string from = i == 0 ? "below" : fmt::format("{:.0f} to", 100 * bounds[i - 1]);
    chart.labels.push_back(i + 1 == bounds.size() ? fmt::format("{:.0f} % and more", 100 * bounds[i - 1])
                                                  : fmt::format("{} {:.0f} %", from, 100 * bounds[i]));
    const double share = static_cast<double>(counts[i]) / all;
    chart.series.front().bars.push_back(
        {share, fmt::format("{}  {} row{}", percent_text(share), counts[i], counts[i] == 1 ? "" : "s"),
         i < 3   ? "s3"
         : i < 4 ? "s4"
                 : "s6",
         0});
  }
  return chart;
}

Chart errors_chart(std::string id, std::string title, std::string head, const std::vector<GroupError>& errors) {
  Chart chart;
  chart.id = std::move(id);
  chart.title = std::move(title);
  chart.note = "Mean of |predicted / true - 1| over the rows of each group.";
  chart.label_head = std::move(head);
  chart.value = {"mean error", false, 0, std::nullopt, "share"};
  chart.series.emplace_back();
  for (const GroupError& error : errors) {
    chart.labels.push_back(error.name);
    chart.series.front().bars.push_back(
        {error.mape, fmt::format("{}  {} row{}", percent_text(error.mape), error.rows, error.rows == 1 ? "" : "s"), "",
         0});
  }
  return chart;
}

}  // namespace noteg::pages
