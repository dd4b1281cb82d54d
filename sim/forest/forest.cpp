#include "sim/forest/forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "sim/support/work_sharing.hpp"

namespace noteg::forest {
namespace {

Diagnostic wrong(std::string what, std::string expected, std::string found) {
  return {"", 0, 0, std::move(what), std::move(expected), std::move(found)};
}

Diagnostics check_sizes(const TrainingSet& set, const ForestOptions& options) {
  Diagnostics errors;
  const auto in_range = [&](const char* what, std::size_t value, std::size_t low, std::size_t high) {
    if (value < low || value > high)
      errors.push_back(wrong(what, std::to_string(low) + " to " + std::to_string(high), std::to_string(value)));
  };
  in_range("training rows", set.rows(), 2, most_rows);
  in_range("features", set.features(), 1, most_features);
  in_range("targets", set.targets(), 1, most_targets);
  in_range("trees", options.trees, 1, 10000);
  in_range("min_split_rows", options.min_split_rows, 2, std::size_t{1} << 31);
  in_range("min_leaf_rows", options.min_leaf_rows, 1, std::size_t{1} << 31);
  in_range("max_depth", options.max_depth, 1, 1024);
  return errors;
}

Diagnostics check_values(const TrainingSet& set) {
  Diagnostics errors;
  if (!set.y.allFinite()) errors.push_back(wrong("targets", "finite numbers", "NaN or an infinity"));
  for (Eigen::Index f = 0; f < set.x.cols(); ++f) {
    const auto column = set.x.col(f);
    if (column.unaryExpr([](double v) { return std::isinf(v) ? 1.0 : 0.0; }).sum() > 0)
      errors.push_back(wrong("feature " + std::to_string(f), "finite numbers", "an infinity"));
    if (set.kinds[static_cast<std::size_t>(f)] != FeatureKind::category) continue;
    double most = 0;
    for (const double code : column)
      if (!std::isnan(code)) most = std::max(most, code);
    if (most >= static_cast<double>(most_bins))
      errors.push_back(wrong("feature " + std::to_string(f), "at most 255 categories", std::to_string(most + 1)));
  }
  if (set.weights.size() > 0 && !((set.weights.array() > 0).all() && set.weights.allFinite()))
    errors.push_back(wrong("weights", "positive numbers", "something else"));
  return errors;
}

std::vector<Scale> standardise(const TrainingSet& set, GrowthData& data) {
  std::vector<Scale> scales(set.targets());
  data.y.assign(set.rows() * data.stride, 0);
  for (std::size_t t = 0; t < scales.size(); ++t) {
    const auto column = set.y.col(static_cast<Eigen::Index>(t));
    Scale& scale = scales[t];
    scale.mean = column.mean();
    scale.deviation = std::sqrt((column.array() - scale.mean).square().mean());
    // A constant target has no spread; rounding of the mean must not become one.
    if (!(scale.deviation > 1e-12 * std::abs(scale.mean))) scale.deviation = 1, scale.mean = column[0];
    for (std::size_t row = 0; row < set.rows(); ++row)
      data.y[row * data.stride + t] =
          static_cast<float>((column[static_cast<Eigen::Index>(row)] - scale.mean) / scale.deviation);
  }
  return scales;
}

// A copy tells the trees nothing and takes the place of another feature in the draw: of 78 features of simulated rows
// 36 are copies of others. Per feature: the first one with the same bins. One that a rule names stays its own.
std::vector<std::uint32_t> first_alike(const GrowthData& data, const std::vector<Monotone>& monotone) {
  std::map<std::pair<FeatureKind, std::string_view>, std::uint32_t> known;
  std::vector<std::uint32_t> first;
  for (std::uint32_t f = 0; f < data.features.size(); ++f) {
    const std::string_view bytes(reinterpret_cast<const char*>(data.columns.column(f)), data.columns.rows);
    const auto place = known.try_emplace({data.features[f].kind, bytes}, f).first;
    const bool has_rule = std::ranges::find(monotone, f, &Monotone::feature) != monotone.end();
    first.push_back(has_rule ? f : place->second);
  }
  return first;
}

std::vector<std::uint32_t> worth_cutting(const GrowthData& data, const std::vector<std::uint32_t>& alike) {
  std::vector<std::uint32_t> features;
  for (std::uint32_t f = 0; f < alike.size(); ++f) {
    const std::uint8_t* column = data.columns.column(f);
    const bool varies = std::any_of(column, column + data.columns.rows, [&](std::uint8_t b) { return b != column[0]; });
    if (varies && alike[f] == f) features.push_back(f);
  }
  return features;
}

// Copies share what their first one earned: rows to come may tell them apart, and then each counts (domain.hpp).
void share_importance(std::vector<double>& importance, const std::vector<std::uint32_t>& alike) {
  std::vector<double> copies(alike.size(), 0);
  for (const std::uint32_t first : alike) ++copies[first];
  const std::vector<double> earned = importance;
  for (std::size_t f = 0; f < alike.size(); ++f) importance[f] = earned[alike[f]] / copies[alike[f]];
}

GrowthOptions growth_options(const ForestOptions& options, std::size_t features) {
  GrowthOptions growth;
  const auto share = static_cast<std::size_t>(std::ceil(options.feature_share * static_cast<double>(features)));
  growth.split.features_per_split =
      options.features_per_split == 0 ? std::max<std::size_t>(1, share) : options.features_per_split;
  growth.split.min_leaf_rows = options.min_leaf_rows;
  growth.split.random_cuts = options.random_cuts;
  growth.split.monotone = options.monotone;
  growth.min_split_rows = options.min_split_rows;
  growth.max_depth = options.max_depth;
  growth.sample = options.sample;
  return growth;
}

std::vector<double> mean_importance(const std::vector<Grown>& grown) {
  std::vector<double> sums(grown.front().importance.size(), 0);
  double total = 0;
  for (const Grown& one : grown)
    for (std::size_t f = 0; f < sums.size(); ++f) sums[f] += one.importance[f], total += one.importance[f];
  for (double& sum : sums) sum = total > 0 ? sum / total : 0;
  return sums;
}

}  // namespace

ForestOptions random_forest() {
  ForestOptions options;
  options.feature_share = 1.0 / 3;
  options.min_split_rows = 6;
  options.sample = Sample::bootstrap;
  options.random_cuts = false;
  return options;
}

Result<Forest> train_forest(const TrainingSet& set, const ForestOptions& options) {
  if (Diagnostics errors = check_sizes(set, options); !errors.empty()) return errors;
  if (Diagnostics errors = check_values(set); !errors.empty()) return errors;
  Forest forest;
  GrowthData data;
  data.features.resize(set.features());
  share_work(set.features(), options.threads, {}, [&](std::size_t f) {
    data.features[f] = make_bins({set.x.col(static_cast<Eigen::Index>(f)).data(), set.rows()}, set.kinds[f]);
  });
  data.columns = bin_columns(set.x, data.features, options.threads);
  data.targets = set.targets();
  data.stride = stride_for(data.targets);
  forest.scales = standardise(set, data);
  data.weights.assign(set.rows(), 1.0);
  if (set.weights.size() > 0) data.weights.assign(set.weights.begin(), set.weights.end());

  const std::vector<std::uint32_t> alike = first_alike(data, options.monotone);
  data.distinct = worth_cutting(data, alike);
  const GrowthOptions growth = growth_options(options, data.distinct.size());
  std::vector<Grown> grown(options.trees);
  share_work(options.trees, options.threads, {},
             [&](std::size_t tree) { grown[tree] = grow_tree(data, growth, options.seed, tree); });
  forest.importance = mean_importance(grown);
  share_importance(forest.importance, alike);
  for (Grown& one : grown) forest.trees.push_back(std::move(one.tree));
  forest.rows = set.rows();
  forest.y.resize(forest.rows * data.targets);
  for (std::size_t row = 0; row < forest.rows; ++row)
    std::copy_n(data.y.begin() + static_cast<std::ptrdiff_t>(row * data.stride), data.targets,
                forest.y.begin() + static_cast<std::ptrdiff_t>(row * data.targets));
  forest.weights = std::move(data.weights);
  forest.features = std::move(data.features);
  forest.monotone = options.monotone;
  return forest;
}

GrowthData leaf_data(const Forest& forest) {
  GrowthData data;
  data.targets = forest.targets();
  data.stride = data.targets;
  data.y = forest.y;
  data.weights = forest.weights;
  return data;
}

}  // namespace noteg::forest
