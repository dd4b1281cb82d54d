// What decides the way of a kernel: numbers that the launch file states, of 32 and 64 bits, what lanes leave each other
// in shared memory, and what other CTAs write.
#include <gtest/gtest.h>

#include "kernels/compiled/profile.hpp"
#include "tests/kernels/compiled/small_listing.hpp"

namespace noteg::compiled {
namespace {

Argument numbers(Content content) {
  Argument out = buffer(1 << 20);
  out.content = content;
  return out;
}

const std::string each_loads = "S2R R1, SR_TID.X\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R1, 0x8, R4\n";

// Random numbers between -1 and 1: about half of the lanes go on.
TEST(Values, NumbersThatAreStatedDecideLaneByLane) {
  const auto positive = [](Content content) {
    return Small(each_loads + "LDG.E R8, desc[UR4][R6.64]\nFSETP.LE.AND P0, PT, R8, RZ, PT\n@P0 EXIT\nNOP\nEXIT\n",
                 {numbers(content)}, {1024, 1, 1})
        .at(6)
        .threads;
  };
  EXPECT_NEAR(positive(Content::f32), 512, 100);
  EXPECT_EQ(positive(Content::zero), 0);
  EXPECT_EQ(positive(Content::unknown), 1024);  // not decided: assumed
}

TEST(Values, DoublesArePairsOfRegisters) {
  const auto beyond = [](const std::string& limit) {
    return Small(each_loads +
                     "LDG.E.64 R8, desc[UR4][R6.64]\nDADD R10, |R8|, 1\nDMUL R10, R10, R10\n"
                     "DSETP.GT.AND P0, PT, R10, " +
                     limit + ", PT\n@!P0 EXIT\nNOP\nEXIT\n",
                 {numbers(Content::f64)}, {1024, 1, 1})
        .at(8)
        .threads;
  };
  EXPECT_EQ(beyond("1"), 1024);
  EXPECT_NEAR(beyond("2.25"), 512, 100);  // half of them are beyond 0.5
  EXPECT_EQ(beyond("4"), 0);
}

// 1, 2, 4 ... to 1024: twice, half of that more, two thirds of it.
TEST(Values, ALoopThatDoublesEndIsRunThrough) {
  Small kernel(
      "MOV R2, 0x1\nI2F.F64 R4, R2\nMOV R6, RZ\nMOV R7, 0x3fe00000\nLBB0:\nDADD R8, R4, R4\nDFMA R4, R8, R6, R8\n"
      "DMUL R4, R4, 0.66666698455810546875\nDSETP.LT.AND P0, PT, R4, 1024, PT\n@P0 BRA LBB0\nEXIT");
  EXPECT_EQ(kernel.at(4).warps, 10);
}

TEST(Values, ConversionsGoBothWays) {
  Small kernel(
      "S2R R1, SR_TID.X\nI2F.F64 R2, R1\nDADD R2, R2, 0.5\nF2F.F32.F64 R4, R2\nF2F.F64.F32 R6, R4\n"
      "F2I.F64.TRUNC R8, R6\nISETP.NE.AND P0, PT, R8, R1, PT\n@P0 EXIT\nNOP\nEXIT");
  EXPECT_EQ(kernel.at(8).threads, 32);
}

// One lane of a word succeeds at a time: eight lanes of one word go around eight times.
TEST(Values, LanesOfAWordSwapOneAfterTheOther) {
  const auto rounds = [](const std::string& words) {
    return Small("S2R R1, SR_TID.X\nLOP3.LUT R2, R1, " + words +
                 ", RZ, 0xc0, !PT\nSHF.L.U32 R2, R2, 0x2, RZ\nIADD3 R2, R2, 0x400, RZ\nLBB0:\nLDS R3, [R2]\n"
                 "FADD R4, R3, 1\nATOMS.CAST.SPIN R4, [R2], R3, R4\nISETP.EQ.U32.AND P0, PT, R4, 0x1, PT\n"
                 "@!P0 BRA LBB0\nEXIT")
        .at(6)
        .warps;
  };
  EXPECT_EQ(rounds("0x1f"), 1);
  EXPECT_EQ(rounds("0x3"), 8);
  EXPECT_EQ(rounds("0x0"), 32);
}

// A root of a number that was loaded is one of a negative number by chance alone; what the grid alone decides is so.
TEST(Values, RootsOfNegativeNumbersStayAsideWhereTheseWereLoaded) {
  const auto called = [](const std::string& number) {
    return Small(each_loads + number +
                     "FSETP.GT.AND P0, PT, |R8|, 4096, PT\n@P0 BRA LBB0\n"
                     "CALL.REL.NOINC `(LBB2_sqrt)\nLBB0:\nEXIT\nLBB2_sqrt:\nRET.ABS.NODEC R20 0x0\n",
                 {numbers(Content::f32)})
        .at(6)
        .threads;
  };
  EXPECT_EQ(called("LDG.E R8, desc[UR4][R6.64]\n"), 0);
  EXPECT_EQ(called("I2FP.F32.S32 R8, R1\n"), 32);
}

// Who looks for the last sum among the CTAs before it finds one at once, and else would walk to the first.
TEST(Values, ASearchAmongOtherCtasEndsWhereItBegins) {
  const auto looks = [](const std::string& load) {
    return Small(
               "LDC.64 R4, c[0x0][0x210]\nS2R R1, SR_CTAID.X\nLBB0:\nIADD3 R1, R1, -0x1, RZ\n"
               "ISETP.LT.AND P0, PT, R1, RZ, PT\n@P0 BRA LBB1\nIMAD.WIDE R6, R1, 0x4, R4\n" +
                   load +
                   " R8, desc[UR4][R6.64]\nISETP.EQ.AND P1, PT, R8, 0x2, PT\n@P1 BRA LBB1\nBRA LBB0\nLBB1:\nEXIT",
               {numbers(Content::unknown)}, {32, 1, 1}, {64, 1, 1})
        .at(6)
        .warps;
  };
  EXPECT_EQ(looks("LDG.E.STRONG.GPU"), 63);
  EXPECT_GT(looks("LDG.E"), 2 * 63);
}

// What is not known ends it the second time, what other CTAs write the first.
TEST(Values, ALoopThatNothingKnownEndsIsGoneThroughAgainOnce) {
  const auto turns = [](const std::string& load) {
    return Small("LDC.64 R2, c[0x0][0x210]\nLBB0:\n" + load +
                     " R0, desc[UR4][R2.64]\nISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 BRA LBB1\nBRA LBB0\nLBB1:\nEXIT",
                 {buffer(4096)})
        .at(1)
        .warps;
  };
  EXPECT_EQ(turns("LDG.E"), 2);
  EXPECT_EQ(turns("LDG.E.STRONG.GPU"), 1);
}

// Generic addresses: the first lanes go to their own CTA, the others to its peer.
TEST(Values, LanesThatGoToPeersAreCounted) {
  Small kernel(
      "S2R R0, SR_TID.X\nS2R R1, SR_CgaCtaId\nS2R R5, SR_SWINHI\nISETP.GE.AND P0, PT, R0, 0x18, PT\n"
      "@P0 LOP3.LUT R1, R1, 0x1, RZ, 0x3c, !PT\nSHF.L.U32 R4, R0, 0x2, RZ\nLEA R4, R1, R4, 0x18\n"
      "MOV R6, 0x1\nATOM.E.ADD.STRONG.GPU PT, RZ, desc[UR6][R4.64], R6\nEXIT",
      {}, {32, 1, 1}, {2, 1, 1});
  kernel.launch.cluster = Extent{2, 1, 1};
  kernel.at(8);
  const AccessShape& shape = kernel.profile->classes.front().warps.front().shapes.at(8);
  EXPECT_EQ(shape.lanes, 32);
  EXPECT_EQ(shape.of_peers, 8);
}

// Rows of a picture: the CTA that stands for others has all of its lanes, though those at the edge have not.
TEST(Values, WhoStandsForOthersLiesAmidThem) {
  Small kernel(
      "S2R R0, SR_TID.X\nS2R R1, SR_CTAID.X\nIMAD R0, R1, 0x20, R0\nIADD3 R0, R0, -0x10, RZ\n"
      "ISETP.GE.AND P0, PT, R0, RZ, PT\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R0, 0x4, R4\n"
      "@P0 LDG.E R8, desc[UR4][R6.64]\nEXIT",
      {buffer(1 << 20)}, {32, 1, 1}, {100, 1, 1});
  EXPECT_EQ(kernel.at(7).threads, 3200);
}

}  // namespace
}  // namespace noteg::compiled
