// The wait for DRAM against what pointer chases and tile copies showed on an H200: 1980 MHz, 654 cycles unloaded.
#include "sim/memory/dram.hpp"

#include <gtest/gtest.h>

namespace noteg::memory {
namespace {

constexpr double service = 60;  // cycles: 30 ns

TEST(LastOfGroup, IsTheMeanForOneAndGrowsWithTheLogarithm) {
  EXPECT_EQ(last_of_group(0, service), 0);
  EXPECT_EQ(last_of_group(1, service), 0);
  EXPECT_NEAR(last_of_group(2, 1), 0.5, 0.03);
  EXPECT_NEAR(last_of_group(4, 1), 1.0 / 2 + 1.0 / 3 + 1.0 / 4, 0.01);
  EXPECT_NEAR(last_of_group(256, 1) - last_of_group(128, 1), 0.693, 0.01);
}

TEST(LastOfGroup, IsWhatTilesOfManyRowsWaitLonger) {
  // Rows of 32 bytes copied by one CTA, DRAM less L2: 345 cycles for 1 row, 572 for 32, 562 for 128, 720 for 256.
  EXPECT_NEAR(last_of_group(32, service), 227, 50);
  EXPECT_NEAR(last_of_group(128, service), 217, 60);
  EXPECT_NEAR(last_of_group(256, service), 375, 75);
}

TEST(QueueWait, IsWhatAChaseBesideStreamingReadsWaitsLonger) {
  struct Point {
    double utilisation, cycles;
  };
  for (const Point& p : {Point{0.09, 0}, Point{0.17, 0}, Point{0.35, 11}, Point{0.63, 68}, Point{0.87, 208}})
    EXPECT_NEAR(queue_wait(p.utilisation, service), p.cycles, 20) << p.utilisation;
}

TEST(QueueWait, GrowsWithTheLoadAndStaysFinite) {
  double before = -1;
  for (double load = 0; load <= 0.87; load += 0.05) {
    EXPECT_GT(queue_wait(load, service), before);
    before = queue_wait(load, service);
  }
  EXPECT_EQ(queue_wait(1, service), queue_wait(0.87, service));
  EXPECT_EQ(queue_wait(-1, service), 0);
}

}  // namespace
}  // namespace noteg::memory
