// Laws of the rates at which trips pass: what was measured comes back, what lies between lies between.
#include "sim/chip/trip_rates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace noteg::chip {
namespace {

MeasuredRate none(const std::vector<int>&) {
  ADD_FAILURE() << "nothing is to be measured";
  return {};
}

TEST(TripRates, MeasuredNumbersComeBack) {
  TripRates rates({{1, 0.004}, {2, 0.007}, {8, 0.01}}, 1, {0.01, {0.01}}, true, none);
  EXPECT_DOUBLE_EQ(rates(0, {1}), 0.004);
  EXPECT_DOUBLE_EQ(rates(0, {2}), 0.007);
  EXPECT_DOUBLE_EQ(rates(0, {8}), 0.01);
  double before = 0, step = 0;
  for (int at_work = 1; at_work <= 8; ++at_work) {
    const double rate = rates(0, {at_work});
    EXPECT_GT(rate, before);
    if (at_work > 2) {
      EXPECT_LE(rate - before, step + 1e-12);  // each further CTA adds less
    }
    step = rate - before;
    before = rate;
  }
}

// Two groups of three: a rate of 3 for the one with most at work, 2 for the other, as far as they have any.
struct Halves {
  int measured = 0;
  TripRates rates{{{1, 2}, {2, 3}, {6, 6}}, 2, {6, {3.2, 2.8}}, true, [this](const std::vector<int>& at_work) {
                    ++measured;
                    EXPECT_TRUE(std::ranges::is_sorted(at_work, std::greater<>()));
                    return at_work[1] == 0 ? MeasuredRate{3, {3, 0}} : MeasuredRate{5, {3, 2}};
                  }};
};

TEST(TripRates, GroupsAreAlike) {
  Halves halves;
  EXPECT_DOUBLE_EQ(halves.rates(0, {3, 1}), 3);
  EXPECT_DOUBLE_EQ(halves.rates(1, {3, 1}), 2);
  EXPECT_DOUBLE_EQ(halves.rates(0, {1, 3}), 2);
  EXPECT_DOUBLE_EQ(halves.rates(1, {1, 3}), 3);
  EXPECT_EQ(halves.measured, 1);
  EXPECT_DOUBLE_EQ(halves.rates(0, {2, 2}), 2.5);
  EXPECT_DOUBLE_EQ(halves.rates(1, {2, 2}), 2.5);
  EXPECT_DOUBLE_EQ(halves.rates(1, {3, 3}), 3);  // known from the start
  EXPECT_EQ(halves.measured, 2);
}

// Eight in a group: too many combinations to measure each, so a group alone tells, within what all together can do.
TEST(TripRates, FullGroupsShareWhatAllCanDo) {
  TripRates rates({{1, 2}, {2, 3}, {16, 10}}, 2, {10, {5, 5}}, true, [](const std::vector<int>& at_work) {
    EXPECT_EQ(at_work, (std::vector{8, 0}));
    return MeasuredRate{7, {7, 0}};
  });
  const double more = rates(0, {8, 6}), less = rates(1, {8, 6});
  EXPECT_GT(more, less);
  EXPECT_NEAR(more + less, 10, 1e-9);
  EXPECT_DOUBLE_EQ(rates(0, {8, 0}), 7);
  EXPECT_DOUBLE_EQ(rates(1, {8, 0}), 0);
}

TEST(TripRates, GroupsThatAreNotToldApartShareEvenly) {
  TripRates rates({{1, 2}, {2, 3}, {6, 6}}, 2, {6, {4, 2}}, false, none);
  EXPECT_DOUBLE_EQ(rates(0, {3, 3}), 3);
  EXPECT_DOUBLE_EQ(rates(1, {3, 3}), 3);
  EXPECT_DOUBLE_EQ(rates(1, {3, 1}), 1.5);
}

}  // namespace
}  // namespace noteg::chip
