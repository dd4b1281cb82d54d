// CTAs of different lengths: in the order of the grid, each to the first empty slot.
#include "sim/compiled/cta_schedule.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace noteg::compiled {
namespace {

TEST(CtaSchedule, EqualCtasTakeWholeWavesAndTheLastAsFastAsItsSmAllows) {
  const std::vector<double> twelve(12, 1.0);
  EXPECT_DOUBLE_EQ(makespan(twelve, {3, 2, 1.0}), 2.0);
  EXPECT_NEAR(makespan(twelve, {3, 2, 0.5}), 2.0, 0.2);
  // Three more, one for each SM: alone a CTA takes half as long.
  const std::vector<double> fifteen(15, 1.0);
  EXPECT_DOUBLE_EQ(makespan(fifteen, {3, 2, 1.0}), 3.0);
  EXPECT_NEAR(makespan(fifteen, {3, 2, 0.5}), 2.5, 0.1);
}

// Slots fall empty one after the other, an SM's oldest CTA first: those that are left go to different SMs, also where
// some CTAs are a little shorter and lie side by side.
TEST(CtaSchedule, WhatIsLeftGoesToDifferentSms) {
  std::vector<double> lengths(3 * 8 + 6, 1.0);
  for (const std::size_t shorter : {0U, 8U, 16U}) lengths[shorter] = 0.97;  // all of the first SM
  EXPECT_LT(makespan(lengths, {8, 3, 0.4}), 1.5);
}

TEST(CtaSchedule, AGridWhoseLongestCtasComeLastEndsLater) {
  const std::vector<double> rising{1, 2, 3, 4, 5, 6, 7, 8}, falling{8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(makespan(rising, {2, 1, 1.0}), 20.0);   // 1 + 3 + 5 + 7 beside 2 + 4 + 6 + 8
  EXPECT_DOUBLE_EQ(makespan(falling, {2, 1, 1.0}), 18.0);  // half of all
}

TEST(CtaSchedule, CtasOfASmShareIt) {
  // Both run at half speed or so until the short one ends, then the long one alone.
  const std::vector<double> two{1.0, 3.0};
  EXPECT_DOUBLE_EQ(makespan(two, {1, 2, 0.5}), 2.0);
  EXPECT_DOUBLE_EQ(makespan(two, {1, 2, 1.0}), 3.0);
}

TEST(CtaSchedule, LengthsWithinACellLieOnALine) {
  CtaCells cells;
  cells.begins = {std::vector<std::uint32_t>{0, 1}, {0}, {0}};
  cells.cells = {{0, 0}, {1, 2}};
  Launch launch;
  launch.grid = {4, 2, 1};
  const std::vector<double> of_class{10, 20, 40};
  EXPECT_EQ(lengths_of_ctas(cells, launch, of_class), (std::vector<double>{10, 20, 30, 40, 10, 20, 30, 40}));
}

}  // namespace
}  // namespace noteg::compiled
