#include "sim/learn/estimate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sim/forest/domain.hpp"
#include "sim/forest/explain.hpp"
#include "sim/forest/predictor.hpp"
#include "sim/learn/problem.hpp"
#include "sim/learn/training.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::learn {
namespace {

using Eigen::Index;

constexpr std::size_t block_rows = 64;
constexpr std::string_view power_limit_column = "arch.power.limit";

// Outermost first: 95 %, 90 %, 80 %; as quantiles from the lowest to the highest.
constexpr std::array<double, 6> quantile_levels{0.025, 0.05, 0.1, 0.9, 0.95, 0.975};

// Quantiles keep their places under exp, a mean does not: the value is moved by the smearing, and all sides are
// measured from where it then lies, so that no interval can miss its own prediction.
Raw raw_of(double mean, double shrink, double smearing, const std::vector<double>& quantiles) {
  Raw raw;
  raw.value = shrink * mean + std::log(smearing);
  const double left_out = mean - shrink * mean;  // the rows lie around their mean, wherever the value is told
  for (std::size_t level = 0; level < interval_levels.size(); ++level)
    raw.intervals[level] = {quantiles[2 - level] - left_out, quantiles[3 + level] - left_out};
  return raw;
}

void blocks(Index rows, unsigned threads, const std::function<void(Index)>& work) {
  const auto count = static_cast<std::size_t>(rows);
  share_work((count + block_rows - 1) / block_rows, threads, {}, [&](std::size_t block) {
    for (std::size_t row = block * block_rows; row < std::min(count, (block + 1) * block_rows); ++row)
      work(static_cast<Index>(row));
  });
}

void add_reason(RowEstimate& row, const std::string& reason) {
  row.out_of_domain += (row.out_of_domain.empty() ? "" : "; ") + reason;
}

// The first few reasons say enough: a run far outside differs in whatever a simulation counts.
void shorten(std::string& reasons) {
  constexpr std::size_t most = 4;
  std::size_t count = 0, end = 0;
  for (std::size_t at = reasons.find("; "); at != std::string::npos; at = reasons.find("; ", at + 1))
    if (++count == most) end = at;
  if (count > most) reasons = reasons.substr(0, end) + fmt::format("; and {} more", count + 1 - most);
}

// Features outside what was seen, told by name. Of a GPU that was not trained on its own numbers are new by nature:
// where GPUs were left out in training, the intervals stand for that.
void check_features(const Model& model, const dataset::Table& table, const Eigen::MatrixXd& x,
                    const std::vector<bool>& new_gpu, std::vector<RowEstimate>& out) {
  dataset::ColumnsInOrder columns(table);
  for (std::size_t f = 0; f < model.features.size(); ++f) {
    const Feature& feature = model.features[f];
    const dataset::Values& values = *columns.find(feature.column.name);
    const bool category = feature.kind == forest::FeatureKind::category;
    for (std::size_t row = 0; row < out.size(); ++row) {
      if (new_gpu[row] && feature.column.group == dataset::Group::arch) continue;
      const double value = x(static_cast<Index>(row), static_cast<Index>(f));
      if (category && std::isnan(value) && !values.is_blank(row))
        add_reason(out[row], fmt::format("{} {} was not seen", feature.column.name, values.text(row)));
      if (!category && (value < feature.low || value > feature.high))
        add_reason(out[row], fmt::format("{} {:.6g} is outside {:.6g} to {:.6g}", feature.column.name, value,
                                         feature.low, feature.high));
    }
  }
}

// What was the same in all training rows and is not here: no tree could learn what it does.
void check_constants(const Model& model, const dataset::Table& table, std::vector<RowEstimate>& out) {
  dataset::ColumnsInOrder columns(table);
  for (const Feature& feature : model.constants) {
    const dataset::Values* values = columns.find(feature.column.name);
    for (std::size_t row = 0; values != nullptr && row < out.size(); ++row) {
      const bool word = feature.kind == forest::FeatureKind::category, absent = values->is_blank(row);
      const bool blank = word ? feature.categories.empty() : feature.low > feature.high;
      const bool same = absent || blank ? absent == blank
                        : word          ? values->text(row) == feature.categories.front()
                                        : !values->is_text && values->numbers[row] == feature.low;
      if (same) continue;
      const std::string text = values->text(row);
      const std::string seen = blank ? "blank" : word ? feature.categories.front() : fmt::format("{:.6g}", feature.low);
      add_reason(out[row], fmt::format("{} {} was never other than {}", feature.column.name,
                                       text.empty() ? "blank" : text, seen));
    }
  }
}

// No board takes more than its limit, whatever rows of other boards say.
void limit_power(const Model& model, const dataset::Table& table, std::vector<RowEstimate>& out) {
  const dataset::Values* limit = table.find(power_limit_column);
  if (limit == nullptr || limit->is_text) return;
  std::size_t place = 0;
  for (const Part& part : model.parts)
    for (const Target& target : part.targets) {
      const std::size_t at = place++;
      for (std::size_t row = 0; target.name == "power_w" && row < out.size(); ++row) {
        const double most = limit->numbers[row];
        if (!(most > 0)) continue;
        Estimate& e = out[row].targets[at];
        e.value = std::min(e.value, most);
        for (Interval& interval : e.intervals) interval = {std::min(interval.low, most), std::min(interval.high, most)};
      }
    }
}

// Which rows are of a GPU that was not trained on. Where no GPU was left out in training, nobody knows how wide the
// intervals must be there.
std::vector<bool> check_gpus(const Model& model, const dataset::Table& table, std::vector<RowEstimate>& out) {
  std::vector<bool> is_new(out.size(), false);
  const dataset::Values* names = table.find(gpu_column);
  if (names == nullptr || model.trained_on.gpus.empty()) return is_new;
  bool calibrated = true;
  for (const Part& part : model.parts)
    for (const Target& target : part.targets) calibrated = calibrated && target.widen_new_gpu.has_value();
  for (std::size_t row = 0; row < out.size(); ++row) {
    const std::string name = names->text(row);
    if (name.empty() || std::ranges::find(model.trained_on.gpus, name) != model.trained_on.gpus.end()) continue;
    is_new[row] = calibrated;
    if (!calibrated) add_reason(out[row], fmt::format("{} {} was not trained on", gpu_column, name));
  }
  return is_new;
}

}  // namespace

Raw moved(Raw raw, double by) {
  raw.value += by;
  for (Interval& interval : raw.intervals) interval = {interval.low + by, interval.high + by};
  return raw;
}

std::vector<std::vector<Raw>> raw_estimates(const Fitted& fitted, const Eigen::MatrixXd& x, unsigned threads) {
  const forest::Forest& forest = fitted.forest;
  const forest::Predictor predictor(forest);
  const Eigen::MatrixXd values = predictor.predict(x, threads);
  std::vector<std::vector<Raw>> out(static_cast<std::size_t>(x.rows()));
  blocks(x.rows(), threads, [&](Index i) {
    const std::vector<forest::Neighbour> near =
        forest::neighbours(forest, predictor.leaves_of(predictor.bins_of(x.row(i))));
    for (std::size_t t = 0; t < forest.targets(); ++t)
      out[static_cast<std::size_t>(i)].push_back(raw_of(values(i, static_cast<Index>(t)), fitted.shrink[t],
                                                        fitted.smearing[t],
                                                        forest::quantiles(forest, near, t, quantile_levels)));
  });
  return out;
}

namespace {

constexpr double narrowest = 1e-4;  // in logarithms, or shares of the value: leaves of equal values are not certainty

struct Sides {
  double down, up;
};

Sides sides(const Raw& raw, std::size_t level) {
  const double least = narrowest * std::max(1.0, std::abs(raw.value));
  return {std::max(raw.value - raw.intervals[level].low, least),
          std::max(raw.intervals[level].high - raw.value, least)};
}

}  // namespace

double reach(const Raw& raw, std::size_t level, double truth) {
  const auto [down, up] = sides(raw, level);
  return truth > raw.value ? (truth - raw.value) / up : (raw.value - truth) / down;
}

bool is_finite(const Estimate& e) {
  return std::isfinite(e.value) && std::ranges::all_of(e.intervals, [](const auto& interval) {
           return std::isfinite(interval.low) && std::isfinite(interval.high);
         });
}

Estimate told(const Target& target, const Raw& raw, double offset, const Target::Factors& widen) {
  const auto tell = [&](double value) { return target.log ? std::exp(value + offset) : value; };
  Estimate out;
  out.value = tell(raw.value);
  Sides reached{0, 0};  // each level has a factor of its own: the wider one must hold the narrower one all the same
  for (std::size_t level = 0; level < interval_levels.size(); ++level) {
    const auto [down, up] = sides(raw, level);
    reached = {std::max(reached.down, widen[level] * down), std::max(reached.up, widen[level] * up)};
    out.intervals[level] = {tell(raw.value - reached.down), tell(raw.value + reached.up)};
  }
  return out;
}

Estimator::Estimator(const Model& model) : model_(model) {
  for (const Part& part : model.parts)
    parts_.push_back({&part, forest::Predictor(part.forest), forest::Domain(part.forest, part.training_bins)});
  if (std::ranges::any_of(model.parts, [](const Part& part) { return !part.base.empty(); })) return;  // any column
  asked_for_ = {std::string(gpu_column), std::string(power_limit_column)};
  asked_for_.insert(kind_columns.begin(), kind_columns.end());
  for (const std::vector<Feature>* features : {&model.features, &model.constants})
    for (const Feature& feature : *features) asked_for_.insert(feature.column.name);
  for (const Part& part : model.parts)
    for (const Target& target : part.targets) asked_for_.insert(target.anchor);
}

bool Estimator::asks_for(std::string_view column) const { return asked_for_.empty() || asked_for_.contains(column); }

void Estimator::estimate_part(const Ready& ready, const Eigen::MatrixXd& x, const Eigen::MatrixXd& offset,
                              const Eigen::VectorXd& base, const Kinds& kinds, bool intervals, unsigned threads,
                              std::vector<RowEstimate>& out) const {
  const Part& part = *ready.part;
  const forest::Predictor& predictor = ready.predictor;
  const forest::Domain& domain = ready.domain;
  const Eigen::MatrixXd values = predictor.predict(x, threads);
  blocks(x.rows(), threads, [&](Index i) {
    RowEstimate& row = out[static_cast<std::size_t>(i)];
    const bool is_new = kinds.new_gpu[static_cast<std::size_t>(i)];
    const std::vector<std::uint8_t> bins = intervals ? predictor.bins_of(x.row(i)) : std::vector<std::uint8_t>{};
    const std::vector<std::uint32_t> leaves = intervals ? predictor.leaves_of(bins) : std::vector<std::uint32_t>{};
    const std::vector<forest::Neighbour> near =
        intervals ? forest::neighbours(part.forest, leaves) : std::vector<forest::Neighbour>{};
    for (std::size_t t = 0; t < part.targets.size(); ++t) {
      const double value = values(i, static_cast<Index>(t));
      const Raw alone = raw_of(value, part.targets[t].shrink, part.targets[t].smearing,
                               intervals ? forest::quantiles(part.forest, near, t, quantile_levels)
                                         : std::vector<double>(quantile_levels.size(), value));
      const Raw raw = base.size() > 0 ? moved(alone, base[i]) : alone;
      row.targets.push_back(told(part.targets[t], raw, offset(i, static_cast<Index>(t)),
                                 part.targets[t].factors(kinds.kind[static_cast<std::size_t>(i)], is_new)));
      if (std::isnan(row.targets.back().value))
        add_reason(row, part.targets[t].anchor + " is not positive");
      else if (!is_finite(row.targets.back()))
        add_reason(row, part.targets[t].name + " is beyond all numbers");
    }
    if (!intervals) return;
    const double distance = domain.distance(bins, leaves);
    const bool far = distance > part.usual_distance && !is_new;
    row.distance = std::max(row.distance, part.usual_distance > 0 ? distance / part.usual_distance : far ? 2.0 : 0.0);
    if (far && row.out_of_domain.empty())
      add_reason(row,
                 fmt::format("the nearest training row is {:.1f} times as far as for 99 % of those", row.distance));
  });
}

Result<std::vector<RowEstimate>> Estimator::estimate(const dataset::Table& table, bool intervals,
                                                     unsigned threads) const {
  const Result<Eigen::MatrixXd> x = feature_matrix(table, model_.features);
  if (!x) return x.errors();
  std::vector<RowEstimate> out(table.rows);
  const Kinds kinds{check_gpus(model_, table, out), kinds_of(table)};
  check_features(model_, table, *x, kinds.new_gpu, out);
  check_constants(model_, table, out);
  for (const Ready& ready : parts_) {
    const Result<Eigen::MatrixXd> offset = anchor_offsets(table, ready.part->targets);
    if (!offset) return offset.errors();
    Eigen::VectorXd base;
    for (const GaussianProcess& process : ready.part->base) {
      const Result<Places> places = places_of(table, process.coordinates);
      if (!places) return places.errors();
      if (base.size() == 0) base.setZero(static_cast<Index>(table.rows));
      base += process.mean(*places);
    }
    estimate_part(ready, *x, *offset, base, kinds, intervals, threads, out);
  }
  limit_power(model_, table, out);
  for (RowEstimate& row : out) shorten(row.out_of_domain);
  return out;
}

namespace {

// The first prefix that fits says what a feature is about.
struct Prefix {
  std::string_view text;
  std::size_t group;
};
constexpr std::size_t problem = 0, tile = 1, compute = 2, waves = 3, dram = 4, power = 5, other = 6;
constexpr std::array prefixes{Prefix{"kernel.grid", waves},
                              Prefix{"kernel.split_k", waves},
                              Prefix{"kernel.m", problem},
                              Prefix{"kernel.n", problem},
                              Prefix{"kernel.k", problem},
                              Prefix{"kernel.batch", problem},
                              Prefix{"kernel.layout", problem},
                              Prefix{"kernel.dtype", problem},
                              Prefix{"kernel.", tile},
                              Prefix{"physics.ctas", waves},
                              Prefix{"physics.warps", waves},
                              Prefix{"physics.wave", waves},
                              Prefix{"physics.useful", tile},
                              Prefix{"physics.iterations", tile},
                              Prefix{"physics.iterations", tile},
                              Prefix{"physics.shared", tile},
                              Prefix{"physics.arithmetic", dram},
                              Prefix{"physics.l2", dram},
                              Prefix{"physics.dram", dram},
                              Prefix{"physics.clock", power},
                              Prefix{"physics.power", power},
                              Prefix{"physics.energy", power},
                              Prefix{"physics.", compute},
                              Prefix{"arch.sms", waves},
                              Prefix{"arch.sm.occupancy", waves},
                              Prefix{"arch.sm.cta", waves},
                              Prefix{"arch.launch", waves},
                              Prefix{"arch.l2", dram},
                              Prefix{"arch.dram", dram},
                              Prefix{"arch.clock", power},
                              Prefix{"arch.power", power},
                              Prefix{"arch.sm.energy", power},
                              Prefix{"arch.sm.", compute},
                              Prefix{"occupancy", waves},
                              Prefix{"memory.dram", dram},
                              Prefix{"memory.l2", dram},
                              Prefix{"pipes.", compute},
                              Prefix{"instructions", compute},
                              Prefix{"power", power},
                              Prefix{"energy", power},
                              Prefix{"sm_clock", power}};

}  // namespace

std::size_t physics_group(std::string_view feature) {
  for (const Prefix& prefix : prefixes)
    if (feature.starts_with(prefix.text)) return prefix.group;
  return other;
}

double Why::value() const {
  const double sum = std::accumulate(parts.begin(), parts.end(), base);
  return log ? std::exp(sum) : sum;
}

Result<std::vector<Why>> why(const Model& model, const dataset::Table& row) {
  const Result<Eigen::MatrixXd> x = feature_matrix(row, model.features);
  if (!x) return x.errors();
  std::vector<std::size_t> group_of;
  for (const Feature& feature : model.features) group_of.push_back(physics_group(feature.column.name));
  std::vector<Why> all;
  for (const Part& part : model.parts) {
    const Result<Eigen::MatrixXd> offset = anchor_offsets(row, part.targets);
    if (!offset) return offset.errors();
    std::vector<std::uint8_t> bins;
    for (std::size_t f = 0; f < model.features.size(); ++f)
      bins.push_back(part.forest.features[f].bin_of((*x)(0, static_cast<Eigen::Index>(f))));
    const forest::Explanation found = forest::explain(part.forest, bins, group_of, physics_groups.size());
    for (std::size_t t = 0; t < part.targets.size(); ++t) {
      const Target& target = part.targets[t];
      Why& one = all.emplace_back(Why{target.name, target.log, target.shrink * found.base[t], target.anchor, {}});
      if (target.log) one.base += std::log(target.smearing) + (*offset)(0, static_cast<Eigen::Index>(t));
      for (const std::vector<double>& values : found.parts) one.parts.push_back(target.shrink * values[t]);
    }
    for (const GaussianProcess& base : part.base) {  // what was measured near by; such a part has one target
      const Result<Places> places = places_of(row, base.coordinates);
      if (!places) return places.errors();
      all.back().parts[other] += base.mean(*places)[0];
    }
  }
  return all;
}

}  // namespace noteg::learn
