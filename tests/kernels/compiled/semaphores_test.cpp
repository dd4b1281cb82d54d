#include <gtest/gtest.h>

#include "kernels/compiled/profile.hpp"
#include "tests/kernels/compiled/small_listing.hpp"

namespace noteg::compiled {
namespace {

// A lock: until its turn has come. A loop that does anything else with memory is no wait.
TEST(Semaphores, TellsOfAWaitForOtherCtasThatItEndsAtOnce) {
  const auto assumed = [](const std::string& load) {
    Small small("LDC.64 R2, c[0x0][0x210]\nLBB0:\n" + load +
                    " R0, desc[UR4][R2.64]\nISETP.NE.AND P0, PT, R0, 0x1, PT\n@P0 BRA LBB0\nEXIT",
                {buffer(4096)});
    EXPECT_EQ(small.at(0).warps, 1);
    return small.profile->assumptions;
  };
  const auto waits = [](const std::string& text) { return text.find("a wait for other CTAs") != text.npos; };
  EXPECT_TRUE(std::ranges::any_of(assumed("LDG.E.STRONG.GPU"), waits));
  EXPECT_FALSE(std::ranges::any_of(assumed("LDG.E"), waits));
  EXPECT_FALSE(std::ranges::any_of(assumed("STG.E [R2.64], R0\nLDG.E.STRONG.GPU"), waits));
}

// Each CTA waits until its own number is there and puts the next one.
TEST(Semaphores, FindsTheTurnsOfCtasAtASemaphore) {
  const std::string wait =
      "LBB0:\nLDG.E.STRONG.GPU R0, desc[UR4][R2.64]\nISETP.NE.AND P0, PT, R0, R4, PT\n@P0 BRA LBB0\n";
  const std::string release = "IADD3 R5, R4, 0x1, RZ\nSTG.E.STRONG.GPU desc[UR4][R2.64], R5\n";
  const auto profiled = [](const std::string& body) {
    return Small("LDC.64 R2, c[0x0][0x210]\nS2R R4, SR_CTAID.X\n" + body + "EXIT", {buffer(4096)}, {1, 1, 1},
                 {6, 1, 1});
  };
  Small turns = profiled(wait + release);
  turns.at(0);
  ASSERT_TRUE(turns.profile->last_turn);
  EXPECT_EQ(turns.profile->last_turn->before, 5);
  ASSERT_TRUE(turns.profile->classes.front().turn);
  EXPECT_EQ(turns.profile->classes.front().turn->wait, 4);
  EXPECT_EQ(turns.profile->classes.front().turn->release, 6);
  // A barrier: all write before any waits. Nobody is told: no turn is passed on.
  Small barrier = profiled(release + wait);
  barrier.at(0);
  EXPECT_FALSE(barrier.profile->last_turn);
  Small untold = profiled(wait);
  untold.at(0);
  EXPECT_FALSE(untold.profile->classes.front().turn);
}

// A lock that all take holds up all; one of each CTA's own holds up nobody.
TEST(Semaphores, ALockIsWaitedForWhereAllTakeTheSame) {
  const auto profiled = [](const std::string& stride) {
    return Small("LDC.64 R2, c[0x0][0x210]\nS2R R4, SR_CTAID.X\nIMAD.WIDE.U32 R2, R4, " + stride +
                     ", R2\nMOV R6, RZ\nMOV R7, 0x1\nLBB0:\nATOMG.E.CAS.STRONG.GPU PT, R0, [R2], R6, R7\n"
                     "ISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 BRA LBB0\n"
                     "ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR6][R2.64], RZ\nEXIT",
                 {buffer(4096)}, {1, 1, 1}, {6, 1, 1});
  };
  Small one = profiled("0x0");
  one.at(0);
  ASSERT_TRUE(one.profile->last_turn);
  EXPECT_EQ(one.profile->last_turn->before, 5);
  Small own = profiled("0x4");
  own.at(0);
  EXPECT_FALSE(own.profile->last_turn);
}

// Look-back: 32 words of the CTAs before at a time, then its own behind them.
TEST(Semaphores, WhoLooksBackHasATurnForEachWindow) {
  Small scan(
      "LDC.64 R2, c[0x0][0x210]\nS2R R1, SR_TID.X\nS2R R4, SR_CTAID.X\nIADD3 R6, R4, -0x1, RZ\n"
      "IADD3 R6, R6, -R1, RZ\nIMAD.WIDE R8, R6, 0x8, R2\nISETP.GE.AND P1, PT, R6, RZ, PT\nLBB0:\n"
      "@P1 LDG.E.64.STRONG.GPU R10, desc[UR4][R8.64]\nISETP.EQ.AND P0, PT, R10, RZ, PT\n@P0 BRA LBB0\n"
      "ISETP.NE.AND P2, PT, R1, RZ, PT\n@P2 EXIT\nIMAD.WIDE R8, R4, 0x8, R2\nSTG.E.64.STRONG.GPU "
      "desc[UR4][R8.64], R10\nEXIT",
      {buffer(1 << 20)}, {32, 1, 1}, {640, 1, 1});
  scan.at(0);
  ASSERT_TRUE(scan.profile->last_turn);
  EXPECT_EQ(scan.profile->last_turn->window, 32);
  EXPECT_EQ(scan.profile->last_turn->before, 20);
  EXPECT_EQ(scan.profile->last_turn->look, 7);
}

TEST(Semaphores, BarriersThatReduceCountTheVotesOfAllWarps) {
  const auto executed = [](const std::string& of, const std::string& bound) {
    Small small("S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, " + bound + ", PT\nBAR.RED." + of +
                    ".DEFER_BLOCKING 0x0, P0\nB2R.RESULT RZ, P1\n@!P1 EXIT\nMOV R1, R1\nEXIT",
                {buffer(4096)}, {64, 1, 1});
    return small.at(5).warps;
  };
  EXPECT_EQ(executed("OR", "0x1"), 2);
  EXPECT_EQ(executed("AND", "0x20"), 0);
  EXPECT_EQ(executed("AND", "0x40"), 2);
}

}  // namespace
}  // namespace noteg::compiled
