// Events come at their cycle, in the order of posting, however far away they were posted.
#include "sim/sm/event_wheel.hpp"

#include <gtest/gtest.h>

#include <random>

namespace noteg::sm {
namespace {

Event numbered(int n) { return {EventKind::release, 0, static_cast<std::uint16_t>(n)}; }

std::vector<int> drained(EventWheel& wheel, std::uint64_t now) {
  std::vector<int> out;
  wheel.drain(now, [&](const Event& event) { out.push_back(event.warp); });
  return out;
}

using Numbers = std::vector<int>;

TEST(EventWheel, HoldsNothingAtFirst) {
  EventWheel wheel;
  EXPECT_EQ(wheel.next(0), EventWheel::never);
  EXPECT_TRUE(drained(wheel, 0).empty());
}

TEST(EventWheel, DeliversNeitherEarlyNorLate) {
  for (const std::uint64_t at : {1ULL, 63ULL, 64ULL, 4095ULL, 4096ULL, 4097ULL, 100000ULL}) {
    EventWheel wheel;
    wheel.post(at, numbered(7));
    EXPECT_EQ(wheel.next(0), at);
    EXPECT_TRUE(drained(wheel, at - 1).empty()) << at;
    EXPECT_EQ(drained(wheel, at), Numbers{7}) << at;
    EXPECT_EQ(wheel.next(at), EventWheel::never) << at;
    EXPECT_TRUE(drained(wheel, at).empty()) << "only once";
  }
}

TEST(EventWheel, KeepsTheOrderOfPostingWithinACycle) {
  EventWheel wheel;
  for (int i = 0; i < 100; ++i) wheel.post(50, numbered(i));
  Numbers expected(100);
  for (int i = 0; i < 100; ++i) expected[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(drained(wheel, 50), expected);
}

TEST(EventWheel, KeepsTheOrderOfPostingForFarEvents) {
  EventWheel wheel;
  for (int i = 0; i < 10; ++i) wheel.post(10 * EventWheel::horizon, numbered(i));
  EXPECT_EQ(drained(wheel, 10 * EventWheel::horizon), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(EventWheel, AFarEventComesBeforeANearOnePostedLaterForTheSameCycle) {
  EventWheel wheel;
  wheel.post(5000, numbered(1));
  EXPECT_EQ(wheel.next(2000), 5000U);  // time moves on: the event comes within the horizon
  wheel.post(5000, numbered(2));
  EXPECT_EQ(drained(wheel, 5000), (Numbers{1, 2}));
}

TEST(EventWheel, AnEventMayPostAnother) {
  EventWheel wheel;
  wheel.post(3, numbered(1));
  wheel.drain(3, [&](const Event&) { wheel.post(4, numbered(2)); });
  EXPECT_EQ(wheel.next(4), 4U);
  EXPECT_EQ(drained(wheel, 4), Numbers{2});
}

TEST(EventWheel, FindsTheNextEventAcrossTheEndOfTheWheel) {
  EventWheel wheel;
  ASSERT_EQ(wheel.next(4090), EventWheel::never);
  drained(wheel, 4090);
  wheel.post(4090 + 100, numbered(1));
  wheel.post(4090 + 4095, numbered(2));
  EXPECT_EQ(wheel.next(4091), 4190U);
  EXPECT_EQ(drained(wheel, 4190), Numbers{1});
  EXPECT_EQ(wheel.next(4191), 8185U);
  EXPECT_EQ(drained(wheel, 8185), Numbers{2});
}

TEST(EventWheel, AgreesWithASortedListOfRandomEvents) {
  EventWheel wheel;
  std::mt19937 random(1);
  std::vector<std::vector<int>> expected(20000);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t at = random() % expected.size();
    wheel.post(at, numbered(i));
    expected[at].push_back(i);
  }
  for (std::uint64_t now = wheel.next(0); now != EventWheel::never; now = wheel.next(now + 1)) {
    EXPECT_EQ(drained(wheel, now), expected[now]) << now;
    expected[now].clear();
  }
  for (const auto& left : expected) EXPECT_TRUE(left.empty());
}

}  // namespace
}  // namespace noteg::sm
