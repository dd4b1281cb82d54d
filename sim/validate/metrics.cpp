#include "sim/validate/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <map>
#include <numeric>

#include "sim/support/arithmetic.hpp"
#include "sim/support/text.hpp"

namespace noteg::validate {

namespace {

double squares(std::span<const double> values, double centre) {
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

}  // namespace

bool usable(const Pair& pair) {
  return std::isfinite(pair.predicted) && std::isfinite(pair.measured) && pair.predicted > 0 && pair.measured > 0;
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

namespace {

struct Key {
  double order = 0;
  std::string text;
  auto operator<=>(const Key&) const = default;
};

Key waves_key(double waves) {
  constexpr std::array<double, 5> edges{1, 2, 4, 8, 16};
  const auto above = std::ranges::upper_bound(edges, waves);
  if (above == edges.begin()) return {0, "<1"};
  const double low = *(above - 1);
  return {low, above == edges.end() ? fmt::format(">={}", low) : fmt::format("{}-{}", low, *above)};
}

Key decade_key(double time_ms) {
  const double decade = std::floor(std::log10(time_ms));
  return {decade, fmt::format("{:g}-{:g} ms", std::pow(10, decade), std::pow(10, decade + 1))};
}

Key plain_key(std::string_view text) {
  const std::optional<double> number = parse_number(text);
  return {number.value_or(0), text.empty() ? "(blank)" : std::string(text)};
}

Key key_of(const MeasuredData& data, std::size_t row, const Outcome& outcome, std::string_view column) {
  if (column == "family") return {0, outcome.prediction.family};
  if (column == "half") return {0, std::string(name_of(outcome.prediction.half))};
  if (column == "waves") return waves_key(outcome.prediction.waves);
  if (column == "time_decade") return outcome.time_ms ? decade_key(outcome.time_ms->measured) : Key{0, "(blank)"};
  const std::optional<std::size_t> index = data.column(column == "kernel" ? "kernel_name" : column);
  return plain_key(index ? std::string_view(data.rows[row].fields[*index]) : std::string_view());
}

struct Bucket {
  std::size_t rows = 0, with_interval = 0, inside = 0;
  std::vector<Pair> time, power, energy;

  void add(const Outcome& outcome) {
    ++rows;
    if (outcome.time_ms) time.push_back(*outcome.time_ms);
    if (outcome.has_interval()) ++with_interval, inside += outcome.is_inside() ? 1 : 0;
    if (outcome.power_w) power.push_back(*outcome.power_w);
    if (outcome.energy_j) energy.push_back(*outcome.energy_j);
  }
};

}  // namespace

const std::vector<std::string>& derived_columns() {
  static const std::vector<std::string> columns{"family", "half", "kernel", "waves", "time_decade"};
  return columns;
}

std::vector<std::string> unknown_columns(const MeasuredData& data, const std::vector<std::string>& by) {
  std::vector<std::string> unknown;
  for (const std::string& name : by)
    if (!data.column(name) && std::ranges::find(derived_columns(), name) == derived_columns().end())
      unknown.push_back(name);
  return unknown;
}

std::vector<Group> group_rows(const MeasuredData& data, const std::vector<Outcome>& outcomes,
                              const std::vector<std::string>& by) {
  std::map<std::vector<Key>, Bucket> buckets;
  for (std::size_t row = 0; row < outcomes.size(); ++row) {
    if (outcomes[row].status != Status::predicted) continue;
    std::vector<Key> keys;
    for (const std::string& column : by) keys.push_back(key_of(data, row, outcomes[row], column));
    buckets[keys].add(outcomes[row]);
  }
  std::vector<Group> groups;
  for (const auto& [keys, bucket] : buckets) {
    Group group;
    for (const Key& key : keys) group.keys.push_back(key.text);
    group.rows = bucket.rows;
    group.time = metrics_of(bucket.time);
    group.power = metrics_of(bucket.power);
    group.energy = metrics_of(bucket.energy);
    if (bucket.with_interval > 0)
      group.coverage_90 = static_cast<double>(bucket.inside) / static_cast<double>(bucket.with_interval);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace noteg::validate
