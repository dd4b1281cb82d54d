// Sectors that SMs ask of L2, where arithmetic on paper gives the answer.
#include "sim/memory/l1_reuse.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/memory/l2_lookups.hpp"

namespace noteg::memory {
namespace {

constexpr double fp32 = 4;
constexpr SharingCtas alone{1, 32};

TEST(Straddle, CountsSectorsOfEveryStartThatOccurs) {
  EXPECT_DOUBLE_EQ(straddle(64, 4096), 1) << "whole sectors";
  EXPECT_DOUBLE_EQ(straddle(16, 4096), 2) << "half a sector is a sector";
  EXPECT_DOUBLE_EQ(straddle(4, 4096), 8);
  EXPECT_DOUBLE_EQ(straddle(48, 4000), 4.0 / 3) << "starts at 0 and 16: two sectors each for one and a half";
  EXPECT_DOUBLE_EQ(straddle(64, 2220), 92.0 / 64) << "eight starts: one in eight touches 2 sectors, the others 3";
}

TEST(FetchedSectors, AlongKATileFindsWhatItSharesWithTheNext) {
  EXPECT_DOUBLE_EQ(fetched_over_useful({512, 4, true, true, 1}, alone, fp32), 1);
  EXPECT_DOUBLE_EQ(fetched_over_useful({512, 4, true, false, 1}, alone, fp32), 2) << "not where it passes L1 by";
  EXPECT_DOUBLE_EQ(fetched_over_useful({512, 4, false, true, 1}, alone, fp32), 2) << "nor across K";
}

TEST(FetchedSectors, CtasOfAnSmShareTheMoreTheMoreSlotsAreTaken) {
  double before = 1.0 + 1e-12;
  for (const int resident : {1, 2, 8, 16, 32}) {
    const double fetched = fetched_over_useful({1024, 8, true, true, 33}, {resident, 32}, fp32);
    EXPECT_LT(fetched, before) << resident;
    before = fetched;
  }
  // 32 draws out of 33 rows: 33 (1 - (32 / 33)^32) different ones.
  EXPECT_NEAR(before, 33 * (1 - std::pow(32.0 / 33, 32)) / 32, 1e-12);
  EXPECT_DOUBLE_EQ(fetched_over_useful({1024, 8, true, true, 1}, {32, 32}, fp32), 1.0 / 32) << "all ask for one tile";
}

TEST(L2Lookups, OnePartitionMissesOncePerSectorOfDram) {
  const L2Lookups l = l2_lookups({1000, 100, 50, 8, 1});
  EXPECT_DOUBLE_EQ(l.lookups, 1100);
  EXPECT_DOUBLE_EQ(l.misses, 50);
  EXPECT_DOUBLE_EQ(l.hit_rate(), 1 - 50.0 / 1100);
}

TEST(L2Lookups, OfTwoPartitionsTheFarOneIsAskedToo) {
  EXPECT_DOUBLE_EQ(l2_lookups({1000, 0, 1000, 1, 2}).misses, 1500) << "one CTA: half of its sectors live far away";
  EXPECT_NEAR(l2_lookups({64000, 0, 1000, 64, 2}).misses, 2000, 1e-9) << "both sides ask for each";
  EXPECT_DOUBLE_EQ(l2_lookups({0, 1000, 0, 1, 2}).lookups, 1500) << "half of the writes pass the near side";
}

TEST(L2Lookups, HitRateIsAFraction) {
  EXPECT_DOUBLE_EQ(L2Lookups{}.hit_rate(), 0);
  EXPECT_GE(l2_lookups({1, 0, 1000, 1, 2}).hit_rate(), 0);
}

}  // namespace
}  // namespace noteg::memory
