// Runs that are alike err alike; far from all rows nothing is said that they do not all share.
#include "sim/learn/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace noteg::learn {
namespace {

Places line_of(int count, double step, const std::string& family = "f16 mma nt ") {
  Places places;
  places.x.resize(count, 1);
  places.overhead.setZero(count);
  for (int i = 0; i < count; ++i) {
    places.x(i, 0) = i * step;
    places.families.push_back(family);
    places.kernels.push_back(family);
    places.weights.push_back(family + std::to_string(i));
  }
  return places;
}

std::vector<std::size_t> each_its_own(int count) {
  std::vector<std::size_t> groups;
  for (int i = 0; i < count; ++i) groups.push_back(static_cast<std::size_t>(i));
  return groups;
}

TEST(GaussianProcess, PassesNearItsRowsAndFallsBackFarFromThem) {
  const Places rows = line_of(20, 0.25);
  Eigen::VectorXd y(20);
  for (int i = 0; i < 20; ++i) y[i] = 0.15 * std::sin(0.25 * i);
  const ProcessFit fit = fit_process(rows, y, each_its_own(20));
  EXPECT_LT((fit.process.mean(rows) - y).cwiseAbs().maxCoeff(), 0.03);
  Places far = line_of(1, 0, "f32 simt nn ");
  far.x(0, 0) = 1000;
  EXPECT_LT(std::abs(fit.process.mean(far)[0]), 0.08);
}

TEST(GaussianProcess, ARowHeldOutIsToldByItsNeighbours) {
  const Places rows = line_of(20, 0.25);
  Eigen::VectorXd y = Eigen::VectorXd::Constant(20, 0.1);
  y[10] = 0.9;  // a row that is off for another reason
  const ProcessFit fit = fit_process(rows, y, each_its_own(20));
  EXPECT_NEAR(fit.held_out[10], 0.1, 0.05);
  EXPECT_NEAR(fit.process.mean(rows)[5], 0.1, 0.05);
}

TEST(GaussianProcess, RowsOfOneGroupDoNotTellEachOther) {
  Places rows = line_of(12, 3.0);
  for (int i = 1; i < 12; i += 2) rows.x.row(i) = rows.x.row(i - 1);
  Eigen::VectorXd y(12);
  std::vector<std::size_t> pairs;
  for (int i = 0; i < 12; ++i) {
    y[i] = i / 2 % 2 == 0 ? 0.2 : -0.2;
    pairs.push_back(static_cast<std::size_t>(i / 2));
  }
  const auto misses = [&](const std::vector<std::size_t>& groups) {
    return (fit_process(rows, y, groups).held_out - y).cwiseAbs().mean();
  };
  EXPECT_LT(misses(each_its_own(12)), 0.12);
  EXPECT_GT(misses(pairs), 0.15);
}

// Five microseconds on top of each launch: known from short and middling ones, they tell what a launch of another
// length takes, and long ones stay as they are.
TEST(GaussianProcess, WhatComesOnTopOfEveryLaunchWeighsAsTheLaunchIsShort) {
  const std::vector<double> times{3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512};
  Places rows = line_of(12, 8.0);  // too far from each other to be alike
  Eigen::VectorXd y(12);
  for (int i = 0; i < 12; ++i) {
    rows.overhead[i] = std::log1p(usual_overhead / times[static_cast<std::size_t>(i)]);
    y[i] = std::log1p(5 / times[static_cast<std::size_t>(i)]);
  }
  const ProcessFit fit = fit_process(rows, y, each_its_own(12));
  EXPECT_NEAR(fit.held_out[1], y[1], 0.15);
  EXPECT_NEAR(fit.held_out[6], y[6], 0.06);
  EXPECT_NEAR(fit.held_out[11], 0, 0.05);
}

// What four sets say alike holds for a fifth GPU; what one set says against the others is its own.
TEST(GaussianProcess, OtherGpusTellWhatTheyHaveInCommon) {
  const Places rows = line_of(16, 0.0);
  std::vector<std::string> sets;
  for (int i = 0; i < 16; ++i) sets.push_back(std::to_string(i / 4));
  const Eigen::VectorXd alike = Eigen::VectorXd::Constant(16, 0.1);
  Eigen::VectorXd apart = Eigen::VectorXd::Zero(16);
  apart.head(4).setConstant(0.1);
  const Places asked = line_of(1, 0.0);
  EXPECT_GT(fit_others(rows, alike, sets).mean(asked)[0], 0.05);
  EXPECT_LT(fit_others(rows, apart, sets).mean(asked)[0], 0.03);
  EXPECT_GT(fit_others(rows, alike, sets).mean(asked)[0],
            fit_others(rows, alike, std::vector<std::string>(16, "one")).mean(asked)[0]);
}

TEST(GaussianProcess, ConstantsThatNoRowDependsOnStayUnknown) {
  const Places rows = line_of(16, 0.5);
  Constants constants{Eigen::MatrixXd::Zero(16, 2), Eigen::Vector2d(0.05, 0.05)};
  constants.slopes.col(0).setConstant(-1);
  const ConstantsFit fit = fit_constants(rows, Eigen::VectorXd::Constant(16, 0.06), each_its_own(16), constants);
  EXPECT_LT(fit.moves[0], -0.01);
  EXPECT_LT(fit.deviations[0], 0.05);
  EXPECT_DOUBLE_EQ(fit.moves[1], 0);
  EXPECT_DOUBLE_EQ(fit.deviations[1], 0.05);
}

TEST(MostTelling, AsksForNoLaunchTwiceAndSpreadsOut) {
  const std::vector<std::size_t> chosen = most_telling({}, {}, line_of(30, 0.5), 6);
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 6U);
  const auto [least, most] = std::minmax_element(chosen.begin(), chosen.end());
  EXPECT_GT(*most - *least, 15U);
}

}  // namespace
}  // namespace noteg::learn
