// Laws of the forest: what it must learn, what may not matter, what it refuses.
#include "sim/forest/forest.hpp"

#include <gtest/gtest.h>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "sim/forest/domain.hpp"
#include "sim/forest/explain.hpp"
#include "sim/forest/out_of_bag.hpp"
#include "sim/forest/predictor.hpp"

namespace noteg::forest {
namespace {

using Eigen::Index;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Three numbers and a category; a step, a slope and a constant.
TrainingSet sample(Index rows) {
  TrainingSet set;
  Random random(5);
  set.kinds = {FeatureKind::number, FeatureKind::number, FeatureKind::number, FeatureKind::category};
  set.x.resize(rows, 4);
  set.y.resize(rows, 3);
  for (Index i = 0; i < rows; ++i) {
    for (Index f = 0; f < 3; ++f) set.x(i, f) = random.below(1000) * 0.01;
    set.x(i, 3) = random.below(4);
    set.y(i, 0) = (set.x(i, 0) > 5 ? 3 : 0) + (set.x(i, 3) == 2 ? 5 : 0);
    set.y(i, 1) = set.x(i, 1);
    set.y(i, 2) = 7;
  }
  return set;
}

ForestOptions options(unsigned threads = 1) {
  ForestOptions o = random_forest();
  o.trees = 30;
  o.threads = threads;
  return o;
}

double r2(const Eigen::VectorXd& truth, const Eigen::VectorXd& predicted) {
  return 1 - (truth - predicted).squaredNorm() / (truth.array() - truth.mean()).square().sum();
}

TEST(Forest, LearnsStepsSlopesCategoriesAndConstants) {
  const TrainingSet set = sample(2000);
  for (const bool random_cuts : {false, true}) {
    ForestOptions o = random_cuts ? ForestOptions{} : random_forest();
    o.trees = 30;
    const Result<Forest> forest = train_forest(set, o);
    ASSERT_TRUE(forest);
    TrainingSet other = sample(2300);
    const Eigen::MatrixXd out = Predictor(*forest).predict(other.x.bottomRows(300), 1);
    EXPECT_GT(r2(other.y.col(0).tail(300), out.col(0)), 0.95);
    EXPECT_GT(r2(other.y.col(1).tail(300), out.col(1)), 0.95);
    EXPECT_TRUE((out.col(2).array() == 7).all());
    EXPECT_LT(forest->importance[2], 0.1);
  }
}

TEST(Forest, SetsOfCategoriesAndMissingValuesGoTheSameWayInBlocksAndInSingleRows) {
  TrainingSet set = sample(1500);
  Random random(3);
  for (Index i = 0; i < set.x.rows(); ++i) {
    set.x(i, 3) = random.below(7);
    if (random.below(9) == 0) set.x(i, 3) = nan;
    if (random.below(9) == 0) set.x(i, 1) = nan;
    set.y(i, 0) += set.x(i, 3) > 3 ? 2 : 0;
  }
  for (const bool random_cuts : {false, true}) {
    ForestOptions o = random_cuts ? ForestOptions{} : random_forest();
    o.trees = 17;  // eight at a time, and one
    const Result<Forest> forest = train_forest(set, o);
    ASSERT_TRUE(forest);
    const Predictor predictor(*forest);
    set.x(0, 3) = 200;  // never seen
    const Eigen::MatrixXd all = predictor.predict(set.x, 1);
    for (Index i = 0; i < 300; ++i) {
      const std::vector<std::uint8_t> bins = predictor.bins_of(set.x.row(i));
      const std::vector<std::uint32_t> leaves = predictor.leaves_of(bins);
      for (std::size_t t = 0; t < leaves.size(); ++t) {  // the tree as it was grown
        const Tree& tree = forest->trees[t];
        std::size_t at = 0;
        while (!tree.nodes[at].is_leaf())
          at = first_children(tree)[at] + (goes_left(tree.nodes[at], tree.sets, bins[tree.nodes[at].feature]) ? 0 : 1);
        ASSERT_EQ(leaf_numbers(tree)[at], static_cast<int>(leaves[t]));
      }
      EXPECT_EQ(predictor.mean_of(leaves), all.row(i));
      EXPECT_EQ(predictor.predict(set.x.row(i), 1), all.row(i));
    }
  }
}

TEST(Forest, CopiesOfAFeatureChangeNothingAndShareItsImportance) {
  TrainingSet set = sample(600);
  const Result<Forest> before = train_forest(set, options());
  set.x.conservativeResize(Eigen::NoChange, 6);
  set.x.col(4) = 2 * set.x.col(1);
  set.x.col(5).setConstant(3);
  set.kinds.insert(set.kinds.end(), 2, FeatureKind::number);
  const Result<Forest> after = train_forest(set, options());
  ASSERT_TRUE(before && after);
  for (std::size_t t = 0; t < before->trees.size(); ++t) EXPECT_EQ(before->trees[t].values, after->trees[t].values);
  EXPECT_EQ(after->importance[1], after->importance[4]);
  EXPECT_DOUBLE_EQ(before->importance[1], 2 * after->importance[1]);
}

TEST(Forest, IsTheSameForAnyNumberOfThreads) {
  const TrainingSet set = sample(500);
  const Result<Forest> one = train_forest(set, options(1)), three = train_forest(set, options(3));
  ASSERT_TRUE(one && three);
  for (std::size_t t = 0; t < one->trees.size(); ++t) {
    EXPECT_EQ(one->trees[t].rows, three->trees[t].rows);
    EXPECT_EQ(one->trees[t].values, three->trees[t].values);
  }
  EXPECT_EQ(Predictor(*one).predict(set.x, 1), Predictor(*three).predict(set.x, 4));
}

TEST(Forest, NodesWithFewRowsStayLeaves) {
  ForestOptions o = options();
  o.sample = Sample::all;
  o.min_split_rows = 40;
  o.min_leaf_rows = 15;
  const Result<Forest> forest = train_forest(sample(400), o);
  ASSERT_TRUE(forest);
  for (const Tree& tree : forest->trees)
    for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf)
      EXPECT_GE(tree.leaf_begin[leaf + 1] - tree.leaf_begin[leaf], 15U);
}

TEST(Forest, MissingValuesTakeTheSideThatFitsThem) {
  TrainingSet set = sample(1000);
  for (Index i = 0; i < set.x.rows(); i += 4) set.x(i, 0) = nan, set.y(i, 0) = -20;
  const Result<Forest> forest = train_forest(set, options());
  ASSERT_TRUE(forest);
  const Eigen::MatrixXd out = Predictor(*forest).predict(set.x, 1);
  for (Index i = 0; i < set.x.rows(); i += 4) EXPECT_LT(out(i, 0), -10);
}

TEST(Forest, MonotoneTargetsNeverFall) {
  TrainingSet set = sample(600);
  Random random(9);
  for (Index i = 0; i < set.x.rows(); ++i) set.y(i, 1) += random.below(400) * 0.01;  // noise that would make it fall
  ForestOptions o = options();
  o.monotone = {{1, 1, 1}};
  const Result<Forest> forest = train_forest(set, o);
  ASSERT_TRUE(forest);
  Eigen::MatrixXd ladder = set.x.row(0).replicate(200, 1);
  for (Index i = 0; i < 200; ++i) ladder(i, 1) = static_cast<double>(i) * 0.05;
  const Eigen::MatrixXd out = Predictor(*forest).predict(ladder, 1);
  for (Index i = 1; i < 200; ++i) EXPECT_GE(out(i, 1), out(i - 1, 1) - 1e-5) << i;
}

TEST(Forest, RowsThatWeighMoreCountMore) {
  TrainingSet set = sample(400);
  set.y.col(0).setZero();
  set.y.col(0).head(200).setOnes();
  set.x.setZero();
  set.x.col(0)[0] = 1;
  set.weights = Eigen::VectorXd::Ones(400);
  set.weights.head(200).setConstant(3);
  ForestOptions o = options();
  o.sample = Sample::all;
  o.max_depth = 1;
  const Result<Forest> forest = train_forest(set, o);
  ASSERT_TRUE(forest);
  EXPECT_NEAR(Predictor(*forest).predict(set.x.bottomRows(1), 1)(0, 0), 0.75, 0.01);
}

TEST(Forest, OutOfBagIsAHonestHeldOutPrediction) {
  const TrainingSet set = sample(800);
  const Result<Forest> forest = train_forest(set, options());
  ASSERT_TRUE(forest);
  const Eigen::MatrixXd out = out_of_bag(*forest, set.x, 2);
  EXPECT_GT(r2(set.y.col(1), out.col(1)), 0.93);
  EXPECT_LT(r2(set.y.col(1), out.col(1)), r2(set.y.col(1), Predictor(*forest).predict(set.x, 1).col(1)));
  const std::vector<double> importance = permutation_importance(*forest, set.x, 400, 1, 2);
  EXPECT_GT(importance[1], 10 * importance[2]);
}

TEST(Forest, OfRandomCutsLeavesATenthOfTheRowsOutOfEachTree) {
  const TrainingSet set = sample(800);
  ForestOptions o;
  o.trees = 200;  // every row is left out of some
  const Result<Forest> forest = train_forest(set, o);
  ASSERT_TRUE(forest);
  for (const Tree& tree : forest->trees) EXPECT_EQ(tree.rows.size(), 720);
  EXPECT_GT(r2(set.y.col(1), out_of_bag(*forest, set.x, 1).col(1)), 0.9);
}

TEST(Domain, HasAUsualDistanceHoweverRowsWereSampled) {
  const TrainingSet set = sample(300);
  for (const Sample chosen : {Sample::bootstrap, Sample::all_but_tenth, Sample::all}) {
    ForestOptions o = options();
    o.sample = chosen;
    const Result<Forest> forest = train_forest(set, o);
    ASSERT_TRUE(forest);
    const Domain domain(*forest, row_major_bins(bin_columns(set.x, forest->features), set.features()));
    const double usual = domain.usual_distance(0.99, 300);
    EXPECT_GT(usual, 0);
    EXPECT_LE(usual, 1);
  }
}

TEST(Intervals, HoldTheRightShareOfNoisyValues) {
  TrainingSet set = sample(3300);
  Random random(11);
  for (Index i = 0; i < set.x.rows(); ++i) set.y(i, 1) += random.below(1000) * 0.002;  // 0..2
  const Eigen::MatrixXd x = set.x.bottomRows(300);
  const Eigen::VectorXd truth = set.y.col(1).tail(300);
  set.x.conservativeResize(3000, Eigen::NoChange);
  set.y.conservativeResize(3000, Eigen::NoChange);
  ForestOptions o = options();
  o.min_split_rows = 40;
  const Result<Forest> forest = train_forest(set, o);
  ASSERT_TRUE(forest);
  const Predictor predictor(*forest);
  const std::vector<double> levels{0.05, 0.5, 0.95};
  int inside = 0;
  for (Index i = 0; i < 300; ++i) {
    const std::vector<double> q =
        quantiles(*forest, neighbours(*forest, predictor.leaves_of(predictor.bins_of(x.row(i)))), 1, levels);
    EXPECT_LE(q[0], q[1]);
    EXPECT_LE(q[1], q[2]);
    inside += q[0] <= truth(i) && truth(i) <= q[2] ? 1 : 0;
  }
  // 270 are right; what else moves within a leaf widens the interval, so that more may be inside.
  EXPECT_GE(inside, 255);
}

TEST(Domain, IsNearTrainingRowsAndFarElsewhere) {
  TrainingSet set = sample(600);
  for (Index i = 0; i < set.x.rows(); ++i) set.x(i, 1) = set.x(i, 0);  // a line, so that corners are empty
  const Result<Forest> forest = train_forest(set, options());
  ASSERT_TRUE(forest);
  const Predictor predictor(*forest);
  const Domain domain(*forest, row_major_bins(bin_columns(set.x, forest->features), 4));
  const auto distance = [&](const Eigen::RowVectorXd& row) {
    const std::vector<std::uint8_t> bins = predictor.bins_of(row);
    return domain.distance(bins, predictor.leaves_of(bins));
  };
  EXPECT_EQ(distance(set.x.row(3)), 0);
  Eigen::RowVectorXd corner = set.x.row(3);
  corner(0) = 0;
  corner(1) = 10;
  EXPECT_GT(distance(corner), domain.usual_distance(0.99, 300));
}

// What a forest says where only some groups of features are known: others count both sides of a cut.
double told_where_known(const Forest& forest, const std::vector<std::uint8_t>& bins, unsigned known,
                        std::size_t target) {
  double sum = 0;
  for (const Tree& tree : forest.trees) {
    const std::vector<std::uint32_t> children = first_children(tree);
    const std::vector<std::int32_t> leaves = leaf_numbers(tree);
    const std::function<std::size_t(std::size_t)> rows_below = [&](std::size_t at) -> std::size_t {
      const auto leaf = static_cast<std::size_t>(leaves[at]);
      if (leaves[at] >= 0) return tree.leaf_begin[leaf + 1] - tree.leaf_begin[leaf];
      return rows_below(children[at]) + rows_below(children[at] + 1);
    };
    const std::function<double(std::size_t)> mean = [&](std::size_t at) -> double {
      if (leaves[at] >= 0)
        return static_cast<double>(tree.values[static_cast<std::size_t>(leaves[at]) * forest.targets() + target]);
      const TreeNode& node = tree.nodes[at];
      const std::size_t left = children[at];
      if ((known >> node.feature & 1) != 0)
        return mean(left + (goes_left(node, tree.sets, bins[node.feature]) ? 0 : 1));
      const auto a = static_cast<double>(rows_below(left)), b = static_cast<double>(rows_below(left + 1));
      return (a * mean(left) + b * mean(left + 1)) / (a + b);
    };
    sum += mean(0);
  }
  return forest.scales[target].mean + forest.scales[target].deviation * sum / static_cast<double>(forest.trees.size());
}

TEST(Explain, IsTheMeanOverAllOrdersInWhichFeaturesBecomeKnownAndAddsUpToThePrediction) {
  const TrainingSet set = sample(200);
  ForestOptions o = options();
  o.trees = 5;
  const Result<Forest> forest = train_forest(set, o);
  ASSERT_TRUE(forest);
  const Predictor predictor(*forest);
  const std::vector<std::size_t> own{0, 1, 2, 3};
  for (Index row = 0; row < 5; ++row) {
    const std::vector<std::uint8_t> bins = predictor.bins_of(set.x.row(row));
    const Explanation found = explain(*forest, bins, own, 4);
    const Eigen::RowVectorXd predicted = predictor.predict(set.x.row(row), 1);
    for (std::size_t t = 0; t < 2; ++t) {
      double sum = found.base[t];
      EXPECT_NEAR(found.base[t], told_where_known(*forest, bins, 0, t), 1e-9);
      for (std::size_t f = 0; f < 4; ++f) {
        double value = 0;
        for (unsigned known = 0; known < 16; ++known) {
          if ((known >> f & 1) != 0) continue;
          const double weight =
              std::array{0.25, 1.0 / 12, 1.0 / 12, 0.25}[static_cast<std::size_t>(std::popcount(known))];
          value += weight *
                   (told_where_known(*forest, bins, known | 1U << f, t) - told_where_known(*forest, bins, known, t));
        }
        EXPECT_NEAR(found.parts[f][t], value, 1e-9);
        sum += found.parts[f][t];
      }
      EXPECT_NEAR(sum, predicted[static_cast<Index>(t)], 1e-9);
    }
  }
}

TEST(Explain, TakesAGroupOfFeaturesAsOne) {
  const TrainingSet set = sample(400);
  const Result<Forest> forest = train_forest(set, options());
  ASSERT_TRUE(forest);
  const Predictor predictor(*forest);
  const std::vector<std::size_t> groups{0, 1, 1, 0}, all{0, 0, 0, 0};
  const std::vector<std::uint8_t> bins = predictor.bins_of(set.x.row(7));
  const Eigen::RowVectorXd predicted = predictor.predict(set.x.row(7), 1);
  const Explanation two = explain(*forest, bins, groups, 2), one = explain(*forest, bins, all, 1);
  EXPECT_NEAR(two.base[1] + two.parts[0][1] + two.parts[1][1], predicted[1], 1e-9);
  EXPECT_NEAR(one.parts[0][1], predicted[1] - one.base[1], 1e-9);
  EXPECT_GT(std::abs(two.parts[0][0]), std::abs(two.parts[1][0]));  // the step and the category
}

TEST(Bins, HoldEqualSharesAndKeepTheOrder) {
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) values.push_back(i * 0.5);
  const FeatureBins bins = make_bins(values, FeatureKind::number);
  EXPECT_EQ(bins.count(), 255U);
  const BinSearch search(bins);
  std::vector<int> counts(255);
  for (const double value : values) {
    ++counts[bins.bin_of(value)];
    EXPECT_EQ(bins.bin_of(value), search.bin_of(value));
  }
  for (const int count : counts) EXPECT_NEAR(count, 39, 2);
  EXPECT_EQ(bins.bin_of(nan), missing_bin);
  EXPECT_EQ(search.bin_of(nan), missing_bin);
  EXPECT_EQ(bins.bin_of(-1e300), 0);
  EXPECT_EQ(bins.bin_of(1e300), 254);
}

TEST(Forest, RefusesWhatCannotBeLearnt) {
  TrainingSet set = sample(20);
  ForestOptions o = options();
  const auto refuses = [&](const TrainingSet& one) { return !train_forest(one, o); };
  TrainingSet broken = set;
  broken.y(3, 1) = nan;
  EXPECT_TRUE(refuses(broken));
  broken = set;
  broken.x(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(refuses(broken));
  broken = set;
  broken.x(3, 3) = 300;
  EXPECT_TRUE(refuses(broken));
  broken = set;
  broken.weights = Eigen::VectorXd::Zero(20);
  EXPECT_TRUE(refuses(broken));
  broken = sample(1);
  EXPECT_TRUE(refuses(broken));
  o.trees = 0;
  EXPECT_TRUE(refuses(set));
}

}  // namespace
}  // namespace noteg::forest
