// A forest: trees over binned features, all targets in one tree, and the training targets that its leaves point to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/forest/bins.hpp"
#include "sim/forest/grow.hpp"
#include "sim/support/result.hpp"

namespace noteg::forest {

// Extra-trees unless told otherwise: of rows that a simulator made, or that are compared with one, they predicted
// unseen shapes better than random_forest() on most data sets and worse on none by much (docs/learning.md).
struct ForestOptions {
  std::size_t trees = 100;
  std::size_t features_per_split = 0;  // 0: feature_share of them
  double feature_share = 0.5;
  std::size_t min_split_rows = 3;
  std::size_t min_leaf_rows = 1;
  std::size_t max_depth = 64;
  Sample sample = Sample::all_but_tenth;
  bool random_cuts = true;  // one random cut per feature and node; false: the best of all
  std::vector<Monotone> monotone;
  std::uint64_t seed = 1;
  unsigned threads = 1;  // the forest is the same for any number
};

// Best cuts on bootstrap samples, a third of the features at each, nodes below 6 rows not split.
[[nodiscard]] ForestOptions random_forest();

struct Scale {  // of a target: value = mean + deviation * standardised value
  double mean = 0, deviation = 1;
};

struct Forest {
  std::vector<FeatureBins> features;
  std::vector<Scale> scales;
  std::vector<Tree> trees;
  std::size_t rows = 0;         // that it was trained on
  std::vector<float> y;         // standardised targets of those: rows * targets
  std::vector<double> weights;  // of those
  std::vector<Monotone> monotone;
  std::vector<double> importance;  // per feature: share of the variance taken out; sums to 1

  [[nodiscard]] std::size_t targets() const { return scales.size(); }
};

// Errors, not assertions, since rows come from users: no rows or one row, values that are not finite, no features, too
// many features, targets or categories, a weight that is not positive, options out of range.
[[nodiscard]] Result<Forest> train_forest(const TrainingSet& set, const ForestOptions& options);

// The part of a forest that leaf means are made from, for fill_values().
[[nodiscard]] GrowthData leaf_data(const Forest& forest);

}  // namespace noteg::forest
