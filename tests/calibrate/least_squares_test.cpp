// The solver recovers what made the data, keeps to its box, and leaves alone what nothing depends on.
#include "sim/calibrate/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace noteg::calibrate {
namespace {

using Eigen::VectorXd;

VectorXd vector(std::initializer_list<double> values) {
  VectorXd out(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

// a exp(-b t) at ten times, less the same for the parameters that are looked for.
std::optional<VectorXd> decay(const VectorXd& p, const VectorXd& wanted) {
  VectorXd r(10);
  for (Eigen::Index i = 0; i < 10; ++i) {
    const auto t = static_cast<double>(i) * 0.3;
    r[i] = p[0] * std::exp(-p[1] * t) - wanted[0] * std::exp(-wanted[1] * t);
  }
  return r;
}

Box wide(Eigen::Index n) { return {VectorXd::Constant(n, 1e-3), VectorXd::Constant(n, 1e3)}; }

TEST(LeastSquares, RecoversTheParametersOfACurve) {
  const VectorXd wanted = vector({3, 0.7});
  const auto solved = least_squares([&](const VectorXd& p) { return decay(p, wanted); }, vector({1, 2}), wide(2));
  ASSERT_TRUE(solved);
  EXPECT_NEAR(solved->parameters[0], 3, 1e-3);
  EXPECT_NEAR(solved->parameters[1], 0.7, 1e-3);
  EXPECT_LT(solved->cost, 1e-6 * solved->start_cost);
}

TEST(LeastSquares, ScalesDoNotMatter) {
  const VectorXd scales = vector({1e9, 1e-12}), wanted = vector({3, 0.7});
  const Box box{scales * 0.1, scales * 10};
  const auto model = [&](const VectorXd& p) { return decay(p.cwiseQuotient(scales), wanted); };
  const auto solved = least_squares(model, scales, box);
  ASSERT_TRUE(solved);
  EXPECT_NEAR(solved->parameters[0] / 3e9, 1, 1e-3);
  EXPECT_NEAR(solved->parameters[1] / 0.7e-12, 1, 1e-3);
}

TEST(LeastSquares, StopsAtABoundAndFitsTheRest) {
  const VectorXd wanted = vector({3, 0.7});
  Box box = wide(2);
  box.high[0] = 2;
  const auto solved = least_squares([&](const VectorXd& p) { return decay(p, wanted); }, vector({1, 0.7}), box);
  ASSERT_TRUE(solved);
  EXPECT_DOUBLE_EQ(solved->parameters[0], 2);
  EXPECT_LT(solved->cost, solved->start_cost);
}

TEST(LeastSquares, LeavesAloneWhatNothingDependsOn) {
  const auto model = [](const VectorXd& p) -> std::optional<VectorXd> { return vector({p[0] - 2, 2 * p[0] - 4}); };
  const auto solved = least_squares(model, vector({1, 5}), wide(2));
  ASSERT_TRUE(solved);
  EXPECT_NEAR(solved->parameters[0], 2, 1e-6);
  EXPECT_EQ(solved->parameters[1], 5);
  EXPECT_EQ(solved->sensitivity[1], 0);
}

TEST(LeastSquares, KeepsOutOfWhereThereIsNoModel) {
  const auto model = [](const VectorXd& p) -> std::optional<VectorXd> {
    if (p[0] > 1.5) return std::nullopt;
    return vector({p[0] - 2});
  };
  const auto solved = least_squares(model, vector({1}), wide(1));
  ASSERT_TRUE(solved);
  EXPECT_LE(solved->parameters[0], 1.5);
  EXPECT_GT(solved->parameters[0], 1.3);
  EXPECT_FALSE(least_squares(model, vector({1.6}), wide(1)));
}

TEST(LeastSquares, NeverEndsWorseThanItBegan) {
  for (const double start : {0.2, 1.0, 5.0, 40.0}) {
    const auto model = [](const VectorXd& p) -> std::optional<VectorXd> {
      return vector({std::sin(p[0]) - 0.5, 0.1 * std::floor(p[0]), std::log(p[0])});
    };
    const auto solved = least_squares(model, vector({start}), wide(1));
    ASSERT_TRUE(solved);
    EXPECT_LE(solved->cost, solved->start_cost) << start;
  }
}

}  // namespace
}  // namespace noteg::calibrate
