#include "sim/validate/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/support/arithmetic.hpp"

namespace noteg::validate {
namespace {

TEST(Metrics, AreZeroErrorAndFullCorrelationWhereAllIsRight) {
  const std::vector<Pair> pairs{{1, 1}, {2, 2}, {4, 4}};
  const std::optional<Metrics> m = metrics_of(pairs);
  ASSERT_TRUE(m);
  EXPECT_DOUBLE_EQ(m->mape, 0);
  EXPECT_DOUBLE_EQ(m->bias, 1);
  EXPECT_DOUBLE_EQ(*m->r2_log, 1);
  EXPECT_DOUBLE_EQ(*m->rank_corr, 1);
}

TEST(Metrics, FollowTheirClosedForms) {
  // Ratios 2, 1/2, 1, 1.1: errors 1, 0.5, 0, 0.1.
  const std::vector<Pair> pairs{{2, 1}, {1, 2}, {3, 3}, {4.4, 4}};
  const std::optional<Metrics> m = metrics_of(pairs);
  ASSERT_TRUE(m);
  EXPECT_NEAR(m->mape, 1.6 / 4, 1e-12);
  EXPECT_NEAR(m->median_ape, 0.3, 1e-12);           // between 0.1 and 0.5
  EXPECT_NEAR(m->p90_ape, 0.5 + 0.7 * 0.5, 1e-12);  // position 0.9 * 3 = 2.7
  EXPECT_NEAR(m->bias, std::pow(1.1, 0.25), 1e-12);
  EXPECT_NEAR(*m->rank_corr, 0.8, 1e-12);  // predicted ranks 2 1 3 4: 1 - 6 * 2 / (4 * 15)
}

TEST(Metrics, ExplainNothingOfTheLogarithmWhereEveryPredictionIsTheGeometricMean) {
  const std::vector<Pair> pairs{{2, 1}, {2, 4}};
  EXPECT_NEAR(*metrics_of(pairs)->r2_log, 0, 1e-12);
}

TEST(Metrics, AreAbsentWhereTheyMeanNothing) {
  EXPECT_FALSE(metrics_of({}));
  const std::vector<Pair> one{{1, 2}};
  const std::optional<Metrics> m = metrics_of(one);
  ASSERT_TRUE(m);
  EXPECT_FALSE(m->r2_log);
  EXPECT_FALSE(m->rank_corr);
  EXPECT_NEAR(m->mape, 0.5, 1e-12);
}

TEST(Ranks, ShareTheirMeanOnTies) {
  const std::vector<double> values{10, 20, 10, 30};
  EXPECT_EQ(ranks(values), (std::vector<double>{1.5, 3, 1.5, 4}));
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.25), 1.25);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

TEST(Usable, WantsPositiveFiniteNumbersOnBothSides) {
  EXPECT_TRUE(usable({1, 1}));
  EXPECT_FALSE(usable({0, 1}));
  EXPECT_FALSE(usable({1, 0}));
  EXPECT_FALSE(usable({-1, 1}));
  EXPECT_FALSE(usable({std::nan(""), 1}));
  EXPECT_FALSE(usable({1, INFINITY}));
}

}  // namespace
}  // namespace noteg::validate
