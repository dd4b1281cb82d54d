#include <gtest/gtest.h>

#include "kernels/access/wavefronts.hpp"

namespace noteg::kernels {
namespace {

template <class F>
AccessPattern pattern(int bytes, F&& offset_of_lane) {
  AccessPattern p;
  p.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  for (int lane = 0; lane < 32; ++lane)
    p.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(offset_of_lane(lane));
  return p;
}

TEST(SharedWavefronts, WordsSideBySideTakeOne) {
  EXPECT_EQ(shared_wavefronts(pattern(4, [](int lane) { return lane * 4; })), 1);
}

TEST(SharedWavefronts, OneWordForAllIsABroadcast) {
  EXPECT_EQ(shared_wavefronts(pattern(4, [](int) { return 64; })), 1);
}

TEST(SharedWavefronts, AStrideOfAllBanksTakesOnePerLane) {
  EXPECT_EQ(shared_wavefronts(pattern(4, [](int lane) { return lane * 128; })), 32);
}

TEST(SharedWavefronts, PaddingByOneWordRemovesTheConflict) {
  EXPECT_EQ(shared_wavefronts(pattern(4, [](int lane) { return lane * 132; })), 1);
}

TEST(SharedWavefronts, VectorsSideBySideTakeOnePerQuarterWarp) {
  EXPECT_EQ(shared_wavefronts(pattern(16, [](int lane) { return lane * 16; })), 4);
}

TEST(SharedWavefronts, QuartersMergeWhereNeighbouringLanesAgree) {
  EXPECT_EQ(shared_wavefronts(pattern(16, [](int lane) { return lane / 2 * 16; })), 2);
  EXPECT_EQ(shared_wavefronts(pattern(16, [](int lane) { return lane / 16 * 32; })), 2);
  EXPECT_EQ(shared_wavefronts(pattern(16, [](int lane) { return (lane / 4 * 2 + lane % 2) * 16; })), 2);
}

TEST(SharedWavefronts, QuartersStayApartWhereLanesAgreeOtherwise) {
  EXPECT_EQ(shared_wavefronts(pattern(16, [](int lane) { return lane % 8 * 16; })), 4);
}

// Cycles of LDS.128 on an H200, 16 warps, in 16-byte words by lane.
TEST(SharedWavefronts, QuartersMergeAsMeasured) {
  const auto cycles = [](int (*word)(int)) {
    return shared_wavefronts(pattern(16, [word](int lane) { return word(lane) * 16; }));
  };
  EXPECT_EQ(cycles([](int l) { return l / 4 * 2 + l % 2; }), 2);  // 2.12: every lane as i^2
  EXPECT_EQ(cycles([](int l) { return l / 8; }), 2);              // 2.12: one word a quarter
  EXPECT_EQ(cycles([](int l) { return l % 8; }), 4);              // 4.05: quarters alike, lanes not
  EXPECT_EQ(cycles([](int l) { return l % 4; }), 4);              // 4.05: as i^4
  EXPECT_EQ(cycles([](int l) { return l < 16 ? l / 2 : 8 + (l - 16) / 4 * 2 + l % 2; }), 4);  // 4.05: i^1, then i^2
  EXPECT_EQ(cycles([](int l) { return l / 2 * 8; }), 16);                                     // 16.0: one bank group
}

TEST(SharedWavefronts, HalvesMergeForEightBytes) {
  EXPECT_EQ(shared_wavefronts(pattern(8, [](int lane) { return lane * 8; })), 2);
  EXPECT_EQ(shared_wavefronts(pattern(8, [](int lane) { return lane / 2 * 8; })), 1);
}

TEST(SharedWavefronts, InactiveLanesCostNothing) {
  AccessPattern p = pattern(4, [](int lane) { return lane * 128; });
  p.active_mask = 0x3;
  EXPECT_EQ(shared_wavefronts(p), 2);
  p.active_mask = 0;
  EXPECT_EQ(shared_wavefronts(p), 0);
}

TEST(GlobalCost, AFullLineIsFourSectors) {
  const GlobalCost cost = global_cost(pattern(4, [](int lane) { return lane * 4; }));
  EXPECT_EQ(cost.sectors, 4);
  EXPECT_EQ(cost.lines, 1);
  EXPECT_EQ(cost.bytes, 128);
}

TEST(GlobalCost, EightLanesPerRowTouchFourLines) {
  const GlobalCost cost = global_cost(pattern(4, [](int lane) { return lane / 8 * 4096 + lane % 8 * 4; }));
  EXPECT_EQ(cost.sectors, 4);
  EXPECT_EQ(cost.lines, 4);
}

TEST(GlobalCost, AMisalignedRunTouchesOneSectorMore) {
  EXPECT_EQ(global_cost(pattern(4, [](int lane) { return 4 + lane * 4; })).sectors, 5);
}

TEST(Wavefronts, FollowTheNumberAndTheWidthOfBanks) {
  const AccessPattern words = pattern(4, [](int lane) { return lane * 4; });
  EXPECT_EQ(shared_wavefronts(words, {16, 4}), 2);
  EXPECT_EQ(shared_wavefronts(words, {16, 8}), 1);
  EXPECT_EQ(distinct_words(words, {32, 8}), 16);
  EXPECT_EQ(l1_wavefronts(words, {8, 4}), 4);
}

TEST(GlobalCost, FollowsTheSizesOfSectorsAndLines) {
  const GlobalCost cost = global_cost(pattern(4, [](int lane) { return lane * 4; }), {64, 64});
  EXPECT_EQ(cost.sectors, 2);
  EXPECT_EQ(cost.lines, 2);
}

// Cycles of loads that hit L1 on an H200, 16 warps.
TEST(L1Wavefronts, PartsOfAWarpStayApart) {
  const auto cycles = [](int bytes, int (*offset)(int)) { return l1_wavefronts(pattern(bytes, offset)); };
  const auto one = [](int) { return 0; };
  EXPECT_EQ(cycles(4, one), 1);                                 // 1.06
  EXPECT_EQ(cycles(8, one), 2);                                 // 2.01, LDS.64 1.08
  EXPECT_EQ(cycles(16, one), 4);                                // 4.03, LDS.128 2.12
  EXPECT_EQ(cycles(8, [](int l) { return l % 16 * 16; }), 4);   // 4.01
  EXPECT_EQ(cycles(8, [](int l) { return l % 16 * 32; }), 8);   // 8.02
  EXPECT_EQ(cycles(8, [](int l) { return l / 8 * 64; }), 2);    // 2.01
  EXPECT_EQ(cycles(4, [](int l) { return l / 8 * 64; }), 2);    // 2.02
  EXPECT_EQ(cycles(4, [](int l) { return l * 128; }), 32);      // 32.75
  EXPECT_EQ(cycles(16, [](int l) { return l / 4 * 128; }), 8);  // 8.01
}

}  // namespace
}  // namespace noteg::kernels
