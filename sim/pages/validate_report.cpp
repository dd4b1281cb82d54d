#include <fmt/format.h>

#include <map>

#include "sim/pages/learning_charts.hpp"
#include "sim/pages/page.hpp"
#include "sim/pages/reports.hpp"
#include "sim/report/write.hpp"
#include "sim/validate/write.hpp"

namespace noteg::pages {
namespace {

using validate::Group;
using validate::Metrics;
using validate::Outcome;
using validate::Pair;
using validate::Validation;

constexpr std::size_t groups_drawn = 40;

std::string name_of(const Group& group) {
  std::string text;
  for (const std::string& key : group.keys) text += (text.empty() ? "" : ", ") + (key.empty() ? "(blank)" : key);
  return text;
}

// Rows that have this quantity on both sides, by GPU.
std::vector<ComparedGroup> compared(const Validation& v, std::optional<Pair> Outcome::*quantity) {
  std::map<std::string, ComparedGroup> groups;
  for (std::size_t i = 0; i < v.outcomes.size(); ++i) {
    const std::optional<Pair>& pair = v.outcomes[i].*quantity;
    if (v.outcomes[i].status != validate::Status::predicted || !pair || !validate::usable(*pair)) continue;
    const validate::RowView row(v.data, v.data.rows[i]);
    ComparedGroup& group = groups[std::string(row.text("gpu"))];
    group.name = row.text("gpu");
    group.pairs.push_back({pair->measured, pair->predicted,
                           fmt::format("{}: {}x{}x{}, {}", row.text("gpu"), row.text("M"), row.text("N"), row.text("K"),
                                       v.outcomes[i].prediction.family)});
  }
  std::vector<ComparedGroup> out;
  for (auto& [name, group] : groups) out.push_back(std::move(group));
  return out;
}

void put(std::vector<Cell>& row, const std::optional<Metrics>& metrics) {
  for (const double Metrics::*member : {&Metrics::mape, &Metrics::median_ape, &Metrics::p90_ape})
    row.push_back(metrics ? Cell{percent_text((*metrics).*member), (*metrics).*member} : Cell{"-"});
  row.push_back(metrics ? Cell{report::three_digits(metrics->bias), metrics->bias} : Cell{"-"});
}

Table groups_table(const Validation& v, const std::vector<std::string>& by) {
  std::string head;
  for (const std::string& column : by) head += (head.empty() ? "" : ", ") + column;
  Table table{{head, "rows", "time: mean error", "median", "90 % below", "bias", "power: mean error", "median",
               "90 % below", "bias"},
              {}};
  const auto add = [&](const std::string& name, const Group& group) {
    std::vector<Cell> row{{name}, {std::to_string(group.rows), static_cast<double>(group.rows)}};
    put(row, group.time);
    put(row, group.power);
    table.rows.push_back(std::move(row));
  };
  for (const Group& group : v.groups) add(name_of(group), group);
  if (v.all) add("all", *v.all);
  return table;
}

Table reasons_table(const Validation& v, validate::Status status) {
  Table table{{"reason", "rows"}, {}};
  for (const validate::ReasonCount& reason : validate::reasons(v, status))
    table.rows.push_back({{reason.reason}, {std::to_string(reason.rows), static_cast<double>(reason.rows)}});
  return table;
}

std::vector<GroupError> group_errors(const Validation& v, std::optional<Metrics> Group::*quantity) {
  std::vector<GroupError> out;
  for (const Group& group : v.groups)
    if (group.*quantity && out.size() < groups_drawn)
      out.push_back({name_of(group), (group.*quantity)->mape, group.rows});
  return out;
}

std::vector<Tile> tiles_of(const Validation& v) {
  std::vector<Tile> tiles;
  const auto add = [&](const std::string& name, const std::optional<Metrics>& metrics) {
    if (!metrics) return;
    tiles.push_back({name + ", mean error", percent_text(metrics->mape),
                     fmt::format("median {}, 90 % of rows below {}", percent_text(metrics->median_ape),
                                 percent_text(metrics->p90_ape))});
  };
  if (v.all) {
    add("Time", v.all->time);
    add("Power", v.all->power);
    add("Energy", v.all->energy);
    if (v.all->time && v.all->time->rank_corr)
      tiles.push_back({"Order of rows", report::three_digits(*v.all->time->rank_corr), "rank correlation (Spearman)"});
  }
  tiles.push_back({"Rows predicted", std::to_string(v.predicted),
                   fmt::format("of {} read; {} skipped, {} set aside", v.data.rows.size(), v.skipped, v.filtered)});
  return tiles;
}

}  // namespace

std::string validate_report(const Validation& v, const std::vector<std::string>& by) {
  Page page("NoteG validation", "Predicted against measured",
            fmt::format("{} rows of measurements, each predicted, or skipped with a reason.", v.data.rows.size()));
  page.tiles(tiles_of(v));
  const std::vector<ComparedGroup> times = compared(v, &Outcome::time_ms), powers = compared(v, &Outcome::power_w);
  if (!times.empty()) {
    page.section("Time");
    page.add(ratio_chart("time", "Run time of each row", "ms", "measured", times));
    page.add(error_shares_chart("time-errors", "How far off the times are", times));
    page.add(errors_chart("time-groups", "Time error by group", "group", group_errors(v, &Group::time)));
  }
  if (!powers.empty()) {
    page.section("Power");
    page.add(ratio_chart("power", "Board power of each row", "W", "measured", powers));
    page.add(error_shares_chart("power-errors", "How far off the powers are", powers));
    page.add(errors_chart("power-groups", "Power error by group", "group", group_errors(v, &Group::power)));
  }
  page.section("Every group");
  page.add("Errors by group", groups_table(v, by), true, "Bias: geometric mean of predicted over measured; 1 is none.");
  if (v.skipped > 0) page.add("Rows skipped, and why", reasons_table(v, validate::Status::skipped));
  if (v.filtered > 0) page.add("Rows set aside on request", reasons_table(v, validate::Status::filtered));
  page.footer(
      "Some constants of the model were fitted on some published sets: docs/validation.md says which rows "
      "they are not judged on.");
  return page.take();
}

}  // namespace noteg::pages
