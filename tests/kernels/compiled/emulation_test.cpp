#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernels/compiled/profile.hpp"
#include "kernels/compiled/program.hpp"
#include "tests/kernels/compiled/small_listing.hpp"

namespace noteg::compiled {
namespace {

TEST(Emulation, RunsALoopAsOftenAsItsArgumentSays) {
  const std::string loop =
      "MOV R0, RZ\nLBB0:\nIADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, c[0x0][0x210], PT\n@P0 BRA LBB0\nEXIT";
  for (const std::int64_t n : {1, 2, 7, 1000, 123456789})
    EXPECT_EQ(Small(loop, {i32(n)}).at(1).warps, static_cast<double>(n));
}

TEST(Emulation, StopsALoopThatEndsByEqualityWhereItDoes) {
  const std::string loop =
      "MOV R0, c[0x0][0x210]\nLBB0:\nIADD3 R0, R0, -0x3, RZ\nISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 BRA LBB0\nEXIT";
  EXPECT_EQ(Small(loop, {i32(3'000'000)}).at(1).warps, 1e6);
}

// Rows begin at offsets that grow evenly: here each of 1,000 has seven numbers.
TEST(Emulation, RowsBetweenOffsetsThatGrowAreGoneThrough) {
  Argument offsets = buffer(1001 * 4);
  offsets.content = Content::offsets;
  offsets.below = 7000;
  Small kernel(
      "S2R R0, SR_CTAID.X\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R4, R0, 0x4, R4\nLDG.E R2, desc[UR4][R4.64]\n"
      "LDG.E R3, desc[UR4][R4.64+0x4]\nLBB0:\nIADD3 R2, R2, 0x1, RZ\nISETP.LT.AND P0, PT, R2, R3, PT\n@P0 BRA LBB0\n"
      "EXIT\n",
      {offsets}, {32, 1, 1}, {1000, 1, 1});
  EXPECT_NEAR(kernel.at(5).warps, 7000, 10);
}

// R5 counts the loop. A double in R4 takes it as well.
TEST(Emulation, AConversionWritesAsManyRegistersAsItsResultHas) {
  for (const auto& [form, known] : {std::pair{"F2F.F32.F64 R4, R2", true}, {"F2F.F64.F32 R4, R2", false}}) {
    Small kernel("LDC R5, c[0x0][0x210]\n" + std::string(form) +
                     "\nLBB0:\nIADD3 R5, R5, -0x1, RZ\nISETP.GT.AND P0, PT, R5, RZ, PT\n@P0 BRA LBB0\nEXIT\n",
                 {i32(7)});
    EXPECT_EQ(kernel.at(2).warps, known ? 7 : 1) << form;
  }
}
// What a mask made before the loop changes in it by sums alone: no more of these iterations than tell are run.
TEST(Emulation, ALoopOverAMaskedCountIsNotRunThroughInFull) {
  Small kernel(
      "LDC R1, c[0x0][0x210]\nLOP3.LUT R1, R1, 0xfffffffc, RZ, 0xc0, !PT\nLBB0:\nIADD3 R1, R1, -0x4, RZ\n"
      "ISETP.GT.AND P0, PT, R1, RZ, PT\n@P0 BRA LBB0\nEXIT\n",
      {i32(400'000'003)});
  EXPECT_EQ(kernel.at(2).warps, 100'000'000);
}

TEST(Emulation, CountsEveryEighthIterationOfALoopThatMasksItsCounter) {
  const std::string loop =
      "MOV R0, RZ\nLBB0:\nLOP3.LUT R1, R0, 0x7, RZ, 0xc0, !PT\nISETP.NE.AND P1, PT, R1, RZ, PT\n@P1 BRA LBB1\nFADD R9, "
      "R9, R9\nLBB1:\n"
      "IADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, c[0x0][0x210], PT\n@P0 BRA LBB0\nEXIT";
  Small small(loop, {i32(8000)});
  EXPECT_EQ(small.at(4).warps, 1000);
  EXPECT_EQ(small.at(5).warps, 8000);
}

// The carry of 0xffffffff * 2 + 2^32 (R5:R4) is none, that of 0xffffffff * 0xffffffff + (2^64 - 2^32) is one.
TEST(Emulation, KnowsTheCarryOfAHighProduct) {
  const auto taken = [](std::int64_t factor, std::int64_t high) {
    Small kernel(
        "MOV R2, 0xffffffff\nLDC R3, c[0x0][0x210]\nMOV R4, RZ\nLDC R5, c[0x0][0x214]\n"
        "IMAD.HI.U32 R6, P0, R2, R3, R4\n@P0 BRA LBB0\nFADD R9, R9, R9\nLBB0:\nEXIT\n",
        {i32(factor), i32(high)});
    const bool known = kernel.at(0).warps == 1 && kernel.profile->assumptions.empty();
    EXPECT_TRUE(known);
    return kernel.at(6).warps == 0;
  };
  EXPECT_FALSE(taken(2, 1));
  EXPECT_TRUE(taken(-1, -1));
}
// (2^32 - 1) + 2^32 + 1 is 2^33: the sum of its words is 2, and none of them alone.
TEST(Emulation, AddsPairsOfUniformRegisters) {
  Small kernel(
      "UMOV UR4, 0xffffffff\nUMOV UR5, URZ\nUMOV UR6, URZ\nUMOV UR7, 0x1\nUMOV UR8, 0x1\nUMOV UR9, URZ\n"
      "UIADD3.64 UR10, UR4, UR6, UR8\nUIADD3 UR12, UR10, UR11, URZ\nUISETP.NE.AND UP0, UPT, UR12, 0x2, UPT\n"
      "PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0\n@P0 EXIT\nFADD R9, R9, R9\nEXIT\n",
      {});
  EXPECT_EQ(kernel.at(11).warps, 1);
  EXPECT_TRUE(kernel.profile->assumptions.empty());
}

// One lane goes another way than the others; all meet before the barrier.
TEST(Emulation, AWarpMeetsAtWarpsyncAll) {
  Small kernel(
      "S2R R0, SR_TID.X\nISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 BRA LBB0\nFADD R9, R9, R9\nLBB0:\nWARPSYNC.ALL\n"
      "BAR.SYNC.DEFER_BLOCKING 0x8, 0x40\nEXIT\n",
      {}, {64, 1, 1});
  EXPECT_EQ(kernel.at(5).warps, 2);
  EXPECT_EQ(kernel.at(5).threads, 64);
}
// In a cluster of two the first CTA alone goes that way: two kinds of CTAs, not as many as there are changes.
TEST(Emulation, RanksOfAClusterAreClasses) {
  Small kernel(
      "S2R R0, SR_CTAID.X\nLOP3.LUT R0, R0, 0x1, RZ, 0xc0, !PT\nISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 BRA LBB0\n"
      "FADD R9, R9, R9\nLBB0:\nEXIT\n",
      {}, {32, 1, 1}, {1000, 1, 1});
  kernel.launch.cluster = Extent{2, 1, 1};
  EXPECT_EQ(kernel.at(4).warps, 500);
  ASSERT_EQ(kernel.profile->classes.size(), 2u);
  EXPECT_FALSE(kernel.profile->sampled);
}
TEST(Emulation, SplitsAWarpAndJoinsItAgain) {
  const std::string code =
      "S2R R0, SR_TID.X\nISETP.GE.AND P0, PT, R0, 0xa, PT\nBSSY B0, LBB1\n@P0 BRA LBB0\nMOV R2, R1\nBRA "
      "LBB1\nLBB0:\nMOV R3, R1\nLBB1:\nBSYNC B0\nMOV R4, R1\nEXIT";
  Small small(code);
  EXPECT_EQ(small.at(4).threads, 10);
  EXPECT_EQ(small.at(6).threads, 22);
  EXPECT_EQ(small.at(8).warps, 1);
  EXPECT_EQ(small.at(8).threads, 32);
}

TEST(Emulation, DividesIntegersThroughAReciprocal) {
  // 1000 / 7 as nvcc writes it for unsigned numbers, then as many iterations.
  const std::string code =
      "MOV R5, 0x7\nI2F.U32.RP R0, R5\nMUFU.RCP R0, R0\nIADD3 R2, R0, 0xffffffe, RZ\nF2I.FTZ.U32.TRUNC.NTZ R3, R2\nMOV "
      "R2, RZ\nIADD3 R4, RZ, -R3, RZ\n"
      "IMAD R7, R4, R5, RZ\nIMAD.HI.U32 R3, R3, R7, R2\nIMAD.HI.U32 R6, R3, c[0x0][0x210], RZ\nIMAD.MOV R8, RZ, RZ, "
      "-R6\nIMAD R8, R5, R8, c[0x0][0x210]\n"
      "ISETP.GE.U32.AND P0, PT, R8, R5, PT\n@P0 IADD3 R8, R8, -R5, RZ\n@P0 IADD3 R6, R6, 0x1, RZ\nISETP.GE.U32.AND P1, "
      "PT, R8, R5, PT\n@P1 IADD3 R6, R6, 0x1, RZ\n"
      "LBB0:\nIADD3 R6, R6, -0x1, RZ\nISETP.NE.AND P0, PT, R6, RZ, PT\n@P0 BRA LBB0\nEXIT";
  EXPECT_EQ(Small(code, {i32(1000)}).at(17).warps, 142);
}

TEST(Emulation, TellsWhatItAssumesOfABranchByALoadedValue) {
  const std::string code =
      "LDC.64 R2, c[0x0][0x210]\nLDG.E R0, desc[UR4][R2.64]\nISETP.GT.AND P0, PT, R0, RZ, PT\n@P0 BRA LBB0\nMOV R1, "
      "R1\nLBB0:\nEXIT";
  Small assumed(code, {buffer(4096)});
  EXPECT_EQ(assumed.at(4).warps, 1);
  ASSERT_EQ(assumed.profile->assumptions.size(), 1u);
  Small given(code, {buffer(4096)});
  given.launch.assumptions[0x30] = {-1, {}};
  EXPECT_EQ(given.at(4).warps, 0);
}

TEST(Emulation, CountsSectorsAndWavefrontsFromAddresses) {
  // Lanes 128 bytes apart in global memory, 8 bytes apart in shared memory.
  const std::string code =
      "S2R R0, SR_LANEID\nLDC.64 R2, c[0x0][0x210]\nIMAD.WIDE.U32 R4, R0, 0x80, R2\nLDG.E R6, "
      "desc[UR4][R4.64]\nIMAD.SHL.U32 R1, R0, 0x8, RZ\nSTS [R1], R6\nEXIT";
  Small small(code, {buffer(4096)});
  EXPECT_EQ(small.at(3).sectors, 32);
  EXPECT_EQ(small.at(5).wavefronts, 2);
}

TEST(Emulation, FindsTheClassesOfCtasOfARaggedGrid) {
  const std::string code =
      "S2R R0, SR_CTAID.X\nS2R R1, SR_TID.X\nIMAD R0, R0, 0x20, R1\nISETP.GE.AND P0, PT, R0, c[0x0][0x210], PT\n@P0 "
      "EXIT\nMOV R2, R2\nEXIT";
  Small small(code, {i32(1000)}, {32, 1, 1}, {40, 1, 1});
  EXPECT_EQ(small.at(5).warps, 32);  // 31 whole warps and one of 8 threads
  EXPECT_EQ(small.at(5).threads, 1000);
  EXPECT_EQ(small.profile->classes.size(), 3u);
  EXPECT_FALSE(small.profile->sampled);
}

TEST(Emulation, ComparesAndRoundsNumbersThatAreKnown) {
  // trunc(max(2.75, -2 * 3)), as many iterations; an integer among floating-point operands is a number.
  const std::string code =
      "MOV R0, 0x40400000\nFMUL R0, R0, -2\nMOV R1, 0x40300000\nFMNMX R0, R0, R1, !PT\nFRND.FLOOR R0, R0\n"
      "F2I.TRUNC.NTZ R0, R0\nLBB0:\nIADD3 R0, R0, -0x1, RZ\nISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 BRA LBB0\nEXIT";
  EXPECT_EQ(Small(code).at(6).warps, 2);
}

TEST(Emulation, ATicketIsThePlaceInTheGrid) {
  // The CTA that comes last goes on.
  const std::string code =
      "LDC.64 R2, c[0x0][0x210]\nMOV R1, 0x1\nS2R R4, SR_TID.X\nISETP.NE.AND P0, PT, R4, RZ, PT\n@P0 EXIT\n"
      "ATOMG.E.ADD.STRONG.GPU PT, R0, desc[UR4][R2.64], R1\nISETP.NE.AND P0, PT, R0, 0x1f, PT\n@P0 EXIT\n"
      "MOV R5, R5\nEXIT";
  Small small(code, {buffer(4096)}, {32, 1, 1}, {32, 1, 1});
  EXPECT_EQ(small.at(8).warps, 1);
  EXPECT_EQ(small.profile->assumptions.size(), 1u);
}

TEST(Emulation, CountersInSharedMemoryAreFollowed) {
  // 32 lanes take places of a list: the last one of them goes around 31 times.
  const std::string code =
      "MOV R1, 0x400\nSTS [R1], RZ\nMOV R2, 0x1\nATOMS.ADD R0, [R1], R2\nLBB0:\nIADD3 R0, R0, -0x1, RZ\n"
      "ISETP.GT.AND P0, PT, R0, RZ, PT\n@P0 BRA LBB0\nEXIT";
  EXPECT_EQ(Small(code).at(4).warps, 31);
}

TEST(Emulation, UnknownPlacesOfABufferAreGuessed) {
  const std::string code =
      "S2R R0, SR_LANEID\nLDC.64 R2, c[0x0][0x210]\nIMAD.WIDE.U32 R4, R0, 0x4, R2\nLDG.E R6, desc[UR4][R4.64]\n"
      "FFMA R6, R6, 1000, 1000\nF2I.TRUNC.NTZ R6, R6\nIMAD.WIDE.U32 R4, R6, 0x20, R2\n"
      "LDG.E R6, desc[UR4][R4.64]\nEXIT";
  Argument numbers = buffer(65536);
  numbers.content = Content::f32;
  Small small(code, {numbers});
  EXPECT_GT(small.at(7).sectors, 24);
  EXPECT_EQ(Small(code, {buffer(65536)}).at(7).sectors, 1);  // nothing is known, not even that these are numbers
}

TEST(Emulation, ATriangleOfTilesIsCounted) {
  const std::string code =
      "S2R R0, SR_CTAID.X\nS2R R1, SR_CTAID.Y\nISETP.GT.AND P0, PT, R1, R0, PT\n@P0 EXIT\nISETP.NE.AND P0, PT, R1, "
      "R0, PT\n@P0 BRA LBB0\nMOV R2, R2\nLBB0:\nEXIT";
  Small small(code, {}, {32, 1, 1}, {24, 24, 1});
  EXPECT_EQ(small.at(4).warps, 24 * 25 / 2);
  EXPECT_EQ(small.at(6).warps, 24);
}

// nvcc lays out the bodies of a switch from the last to the first; an entry behind them leads behind the switch.
TEST(Emulation, ASwitchGoesByTheOrderOfItsBodies) {
  Small small(
      "S2R R0, SR_TID.X\nSHF.R.U32.HI R1, RZ, 0x5, R0\nSHF.L.U32 R1, R1, 0x2, RZ\nLDC R2, c[0x2][R1]\nBRX R2 -0x50\n"
      "MOV R3, 0x1\nBRA LBB1\nMOV R3, 0x2\nMOV R4, 0x2\nBRA LBB1\nLBB1:\nEXIT",
      {}, {96, 1, 1});
  EXPECT_EQ(small.at(7).warps, 1);  // warp 0
  EXPECT_EQ(small.at(5).warps, 1);  // warp 1
  EXPECT_EQ(small.at(10).warps, 3);
  EXPECT_EQ(small.profile->assumptions.size(), 1u);
}

TEST(Emulation, APointerNamesFunctionsInTheirOrder) {
  Small small(
      "S2R R0, SR_TID.X\nSHF.R.U32.HI R1, RZ, 0x5, R0\nSHF.L.U32 R1, R1, 0x3, RZ\nLDC.64 R2, c[0x2][R1]\nMOV R20, "
      "0x60\n"
      "CALL.REL.NOINC R2 `(k)\nEXIT\nFADD R4, R4, R4\nRET.REL.NODEC R20 `(k)\nFMUL R4, R4, R4\n"
      "RET.REL.NODEC R20 `(k)",
      {}, {64, 1, 1});
  EXPECT_EQ(small.at(6).warps, 2);
  EXPECT_EQ(small.at(7).warps, 1);
  EXPECT_EQ(small.at(9).warps, 1);
}

TEST(Emulation, ANumberOf16BitsIsKnownBesideAnUnknownHalf) {
  Small small(
      "LDC.64 R2, c[0x0][0x210]\nLDG.E R1, desc[UR4][R2.64]\nMOV R4, 0x5\nPRMT R1, R4, 0x7610, R1\n"
      "PRMT R5, R1, 0x9910, RZ\nISETP.EQ.AND P0, PT, R5, 0x5, PT\n@P0 BRA LBB1\nMOV R6, RZ\nLBB1:\nEXIT",
      {buffer(4096)});
  EXPECT_EQ(small.at(7).warps, 0);
  EXPECT_TRUE(small.profile->assumptions.empty());
}

TEST(Emulation, AGenericAddressInTheSharedWindowIsSharedMemory) {
  Small small(
      "S2R R5, SR_SWINHI\nS2R R0, SR_TID.X\nSHF.L.U32 R4, R0, 0x2, RZ\nMOV R6, 0x1\n"
      "ATOM.E.ADD.STRONG.GPU PT, RZ, desc[UR6][R4.64], R6\nEXIT");
  EXPECT_EQ(small.at(4).wavefronts, 1);
  EXPECT_EQ(small.at(4).sectors, 0);
}

TEST(Emulation, RefusesAKernelThatDoesNotEnd) {
  Small small("LBB0:\nBRA LBB0");
  const LaunchMemory memory(small.launch, 90);
  EXPECT_FALSE(noteg::compiled::profile(small.listing, small.listing.kernels.at(0), small.launch, memory, {10'000, 4}));
}

TEST(TimedProgram, FoldsLoopsAndKeepsControlBits) {
  const std::string loop =
      "MOV R0, RZ\nLBB0:\nIADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, c[0x0][0x210], PT\n@P0 BRA LBB0\nEXIT";
  Small small(loop, {i32(500)}, {64, 1, 1});
  static_cast<void>(small.at(0));
  const auto timed = program_of(*small.profile, small.profile->classes.at(0), small.launch, {});
  ASSERT_TRUE(timed) << to_string(timed.errors());
  std::int64_t executed = static_cast<std::int64_t>(timed->program.code.size());
  for (const kernels::Loop& each : timed->program.loops)
    executed += (each.iterations - 1) * (each.branch - each.begin + 1);
  EXPECT_EQ(executed, 1 + 3 * 500 + 1);
  EXPECT_LT(timed->program.code.size(), 20u);
  EXPECT_EQ(timed->program.warps, 2);
}

TEST(TimedProgram, LoopsMayBeManyButNotTooDeepInEachOther) {
  const auto timed = [](const std::string& text) {
    Small small(text + "EXIT");
    static_cast<void>(small.at(0));
    return program_of(*small.profile, small.profile->classes.at(0), small.launch, {});
  };
  std::string in_a_row;
  for (int i = 0; i < 300; ++i)
    in_a_row += fmt::format(
        "MOV R0, RZ\nLBB{0}:\nIADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, 0x64, PT\n@P0 BRA LBB{0}\n", i);
  const auto many = timed(in_a_row);
  ASSERT_TRUE(many) << to_string(many.errors());
  EXPECT_EQ(many->program.loops.size(), 300u);

  for (const int depth : {most_nested_loops, most_nested_loops + 1}) {
    std::string begin, end;
    for (int i = 0; i < depth; ++i) {
      begin += fmt::format("MOV R{0}, RZ\nLBB{0}:\n", i);
      end = fmt::format("IADD3 R{0}, R{0}, 0x1, RZ\nISETP.LT.AND P0, PT, R{0}, 0x2, PT\n@P0 BRA LBB{0}\n", i) + end;
    }
    const auto nested = timed(begin + end);
    ASSERT_EQ(bool(nested), depth <= most_nested_loops) << to_string(nested.errors());
    if (!nested) {
      EXPECT_NE(to_string(nested.errors()).find("at most 16 loops in each other"), std::string::npos);
    }
  }
}

// R2UR with a predicate gives the value of one lane and says which lanes have another: the loop ends after as many
// iterations as there are values.
TEST(Emulation, ALoopOverTheValuesOfLanesEndsWithTheLastOne) {
  Small kernel(
      "S2R R1, SR_LANEID\nSHF.R.U32.HI R2, RZ, 0x3, R1\nPLOP3.LUT P3, PT, PT, PT, PT, 0x80, 0x0\n"
      "LBB0:\nPLOP3.LUT P0, PT, P0, P3, PT, 0xa2, 0x0\n@P3 R2UR P0, UR4, R2\n"
      "@P3 PLOP3.LUT P3, PT, P0, PT, PT, 0x80, 0x0\n@P3 BRA.U.ANY LBB0\nEXIT\n");
  EXPECT_EQ(kernel.at(4).warps, 4);
  EXPECT_EQ(kernel.at(7).threads, 32);
}

// Lanes take turns: one of those that are left is elected in each iteration. All go on together behind it.
TEST(Emulation, ALoopThatElectsEachLaneKeepsTheWarpTogether) {
  Small kernel(
      "PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0\nLBB0:\n@P0 ELECT P1, URZ, PT\n"
      "@P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0\nPLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0\n@P0 BRA.U.ANY LBB0\n"
      "NOP\nEXIT\n");
  EXPECT_EQ(kernel.at(4).warps, 32);
  EXPECT_EQ(kernel.at(5).warps, 1);
  EXPECT_EQ(kernel.at(5).threads, 32);
}

// Numbers that are not known are not equal; whether one is a number at all is not known.
TEST(Emulation, NumbersThatAreNotKnownAreNotEqual) {
  const std::string load = "LDC.64 R4, c[0x0][0x210]\nLDG.E R8, desc[UR4][R4.64]\n";
  const std::string store = "STG.E desc[UR4][R4.64], R8\nEXIT\n";
  const auto stores = [&](const std::string& text) {
    return Small(load + text + store, {buffer(1 << 20)}).at(4).threads;
  };
  EXPECT_EQ(stores("FSETP.NEU.AND P0, PT, R8, 3, PT\n@P0 EXIT\n"), 0);
  EXPECT_EQ(stores("FSETP.EQ.AND P0, PT, R8, 3, PT\n@!P0 EXIT\n"), 0);
  EXPECT_EQ(stores("FSETP.EQ.AND P0, PT, R8, 3, PT\n@P0 EXIT\n"), 32);
  EXPECT_EQ(stores("FSETP.NEU.AND P0, PT, R8, R8, PT\n@P0 EXIT\n"), 32);
}

// Their magnitudes are ordinary: a sine is reduced the short way, and nothing is a denormal.
TEST(Emulation, NumbersThatAreNotKnownAreOfOrdinaryMagnitude) {
  const auto stores = [](const std::string& compare) {
    return Small("LDC.64 R4, c[0x0][0x210]\nLDG.E R8, desc[UR4][R4.64]\nFSETP." + compare +
                     ", PT\n@!P0 BRA LBB0\nSTG.E desc[UR4][R4.64], R8\nLBB0:\nEXIT\n",
                 {buffer(1 << 20)})
        .at(4)
        .threads;
  };
  EXPECT_EQ(stores("GE.AND P0, PT, |R8|, 105615"), 0);
  EXPECT_EQ(stores("LTU.AND P0, PT, |R8|, +INF"), 32);
  EXPECT_EQ(stores("GT.AND P0, PT, |R8|, 1.1754943508222875e-38"), 32);
  EXPECT_EQ(stores("GEU.AND P0, PT, R8, -1000000"), 32);
  EXPECT_EQ(stores("GEU.AND P0, PT, R8, 1000000"), 0);
}

// A branch past a slow path is taken; one past something that has a slow path of its own is not.
TEST(Emulation, OnlyWhatIsNothingButASlowPathIsPassedOver) {
  const auto executed = [](const std::string& body, std::size_t instruction) {
    return Small("LDC.64 R4, c[0x0][0x210]\nLDG.E R8, desc[UR4][R4.64]\nFSETP.GT.AND P0, PT, R8, 1, PT\n" + body +
                     "EXIT\nLBB2:\nRET.ABS.NODEC R20 0x0\n",
                 {buffer(1 << 20)})
        .at(instruction)
        .threads;
  };
  EXPECT_EQ(executed("@P0 BRA LBB0\nNOP\nCALL.REL.NOINC LBB2\nLBB0:\n", 4), 0);
  EXPECT_EQ(executed("@P0 BRA LBB0\nNOP\n@P0 BRA LBB1\nCALL.REL.NOINC LBB2\nLBB1:\nNOP\nLBB0:\n", 4), 32);
}

// A matrix instruction writes the registers of its form and no others.
TEST(Emulation, ALimitBehindTheSumsOfAWarpgroupIsKept) {
  Small kernel(
      "MOV R100, 0x3\nMOV R1, RZ\nLBB0:\nHGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24\nIADD3 R1, R1, 0x1, RZ\n"
      "ISETP.NE.AND P0, PT, R1, R100, PT\n@P0 BRA LBB0\nEXIT\n",
      {}, {128, 1, 1});
  EXPECT_EQ(kernel.at(2).warps, 4 * 3);
}

// A loop's way is one node however often it is gone through.
TEST(PathBuilder, ALoopOfManyTurnsTakesFewNodes) {
  PathNodes nodes;
  PathBuilder path(nodes);
  for (int turn = 0; turn < 10'000; ++turn) {
    path.enter(1);
    for (int inner = 0; inner < 3; ++inner) path.enter(2);
  }
  ASSERT_EQ(path.path().size(), 1u);
  EXPECT_EQ(nodes[path.path()[0]].count, 10'000);
  EXPECT_LT(nodes.of_block(3), 20);
}

}  // namespace
}  // namespace noteg::compiled
