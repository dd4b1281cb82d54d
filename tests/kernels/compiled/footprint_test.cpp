#include "kernels/compiled/footprint.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/kernels/compiled/small_listing.hpp"

namespace noteg::compiled {
namespace {

Footprints footprints_of(Small& kernel, const L1Spec& l1 = {128 * 1024, 4, 1}) {
  static_cast<void>(kernel.at(0));
  const LaunchMemory memory(kernel.launch, kernel.listing.sm);
  return footprints(*kernel.profile, kernel.listing, kernel.listing.kernels.at(0), kernel.launch, memory, l1);
}

// The result of a CTA that it reads again is not fetched from DRAM.
TEST(Footprints, WhatACtaHasStoredItselfIsOfTheFootprintOnce) {
  Small kernel(
      "S2R R1, SR_TID.X\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R1, 0x4, R4\nSTG.E desc[UR4][R6.64], R1\n"
      "BAR.SYNC.DEFER_BLOCKING 0x0\nLDG.E R8, desc[UR4][R6.64]\nEXIT\n",
      {buffer(1 << 20)}, {64, 1, 1});
  for (const FootprintGroup& group : footprints_of(kernel).groups) EXPECT_EQ(group.unique_sectors, group.store ? 8 : 0);
}

// Four tiles a row of eight: no rule in the CTA's coordinate, but each has bytes of its own. Rows at random have not.
TEST(Footprints, WhoDividesABufferUpReadsAllOfIt) {
  Argument rows = buffer(1 << 16);
  rows.name = "rows";
  rows.content = Content::index;
  rows.below = 4096;
  const auto affine = [&](const std::string& row) {
    Small kernel("S2R R1, SR_TID.X\nS2R R2, SR_CTAID.X\nLDC.64 R4, c[0x0][0x210]\nLDC.64 R10, c[0x0][0x218]\n" + row +
                     "LEA R3, R3, R1, 0x5\nIMAD.WIDE R6, R3, 0x4, R4\nLDG.E R8, desc[UR4][R6.64]\nEXIT\n",
                 {buffer(1 << 20), rows}, {32, 1, 1}, {512, 1, 1});
    for (const FootprintGroup& group : footprints_of(kernel).groups)
      if (group.buffer == 0) return group.is_affine;
    return false;
  };
  EXPECT_TRUE(affine("SHF.R.U32.HI R3, RZ, 0x2, R2\nLOP3.LUT R9, R2, 0x3, RZ, 0xc0, !PT\nIMAD R3, R3, 0x9, R9\n"));
  EXPECT_FALSE(affine("IMAD.WIDE R12, R2, 0x4, R10\nLDG.E R3, desc[UR4][R12.64]\n"));
}

// Each CTA reads a row twice. What it reads again lies behind the rows of all CTAs of its SM, and behind no more of L1
// than is its own, though all these rows are more than a walk looks at.
TEST(Footprints, LoadsBehindALongLoopAreComeTo) {
  const auto pass = [](const std::string& label) {
    return "MOV R3, RZ\nMOV R6, R4\nMOV R7, R5\n" + label + ":\nLDG.E R8, desc[UR4][R6.64]\n" +
           "IADD3 R6, P0, R6, 0x80, RZ\nIADD3.X R7, R7, RZ, RZ, P0, !PT\nIADD3 R3, R3, 0x1, RZ\n" +
           "ISETP.NE.AND P0, PT, R3, 0xc00, PT\n@P0 BRA " + label + "\n";
  };
  Small kernel(
      "S2R R1, SR_LANEID\nS2R R2, SR_CTAID.X\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R4, R2, 0x60000, R4\n"
      "IMAD.WIDE R4, R1, 0x4, R4\n" +
          pass("LBB0") + pass("LBB1") + "EXIT\n",
      {buffer(64 * 0x60000)}, {32, 1, 1}, {64, 1, 1});
  const Footprints prints = footprints_of(kernel, {128 * 1024, 4, 16});
  const double row = 0xc00 * 4;
  double again = 0;
  for (std::size_t i = 0; i < prints.loads.size(); ++i) {
    const L1Behaviour& load = prints.loads[i];
    again += prints.passed[i] * load.again;
    if (load.again <= 0) continue;
    EXPECT_DOUBLE_EQ(load.again, 1);
    EXPECT_NEAR(load.since, 16 * row, 0.02 * 16 * row);
  }
  EXPECT_NEAR(again, row, 0.02 * row);
}

// A row that a loop reads in every turn of another comes to L1 in the first of these turns; the others find it. The
// program has that turn by itself.
TEST(Footprints, ALoopOverLoopsHasItsFirstTurnApart) {
  constexpr std::int64_t passes = 5, lines = 64;
  Small kernel(
      "S2R R1, SR_LANEID\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R4, R1, 0x4, R4\nMOV R2, RZ\nLBB0:\nMOV R3, RZ\n"
      "MOV R6, R4\nMOV R7, R5\nLBB1:\nLDG.E R8, desc[UR4][R6.64]\nIADD3 R6, P0, R6, 0x80, RZ\n"
      "IADD3.X R7, R7, RZ, RZ, P0, !PT\nIADD3 R3, R3, 0x1, RZ\nISETP.NE.AND P0, PT, R3, 0x40, PT\n@P0 BRA LBB1\n"
      "IADD3 R2, R2, 0x1, RZ\nISETP.NE.AND P0, PT, R2, 0x5, PT\n@P0 BRA LBB0\nEXIT\n",
      {buffer(1 << 20)}, {32, 1, 1});
  const Footprints prints = footprints_of(kernel);
  ASSERT_EQ(prints.turns.size(), 1u);
  const auto& [at, turns] = *prints.turns.begin();
  EXPECT_DOUBLE_EQ(turns.first_share, 1.0 / passes);
  EXPECT_DOUBLE_EQ(turns.first.hit_rate, 0);
  EXPECT_DOUBLE_EQ(turns.later.hit_rate, 1);
  EXPECT_DOUBLE_EQ(prints.loads[static_cast<std::size_t>(at)].hit_rate, 1 - turns.first_share);

  const auto timed =
      program_of(*kernel.profile, kernel.profile->classes.at(0), kernel.launch, prints.loads, prints.turns);
  ASSERT_TRUE(timed);
  std::vector<kernels::Matrix> loads;
  for (const kernels::Instruction& in : timed->program.code)
    if (in.op == kernels::Opcode::ldg)
      loads.push_back(timed->program.patterns[static_cast<std::size_t>(in.pattern)].matrix);
  EXPECT_EQ(loads, (std::vector{kernels::Matrix::none, kernels::Matrix::a}));
  std::vector<std::int64_t> iterations;
  for (const kernels::Loop& loop : timed->program.loops) iterations.push_back(loop.iterations);
  EXPECT_EQ(iterations, (std::vector{lines, lines, passes - 1}));
}

// CTAs at the edge leave lanes out; their steps are those of lanes that take part on both sides.
TEST(Footprints, AddressesAreAffineWhereTheEdgeLeavesLanesOut) {
  Small kernel(
      "S2R R1, SR_TID.X\nS2R R2, SR_CTAID.X\nIMAD R3, R2, 0x20, R1\nISETP.LT.AND P0, PT, R3, 0x1, PT\n@P0 EXIT\n"
      "LDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R3, 0x4, R4\nLDG.E R8, desc[UR4][R6.64]\nEXIT\n",
      {buffer(1 << 20)}, {32, 1, 1}, {64, 1, 1});
  const Footprints prints = footprints_of(kernel);
  ASSERT_EQ(prints.groups.size(), 1u);
  EXPECT_TRUE(prints.groups[0].is_affine);
  EXPECT_EQ(prints.groups[0].step[0], 32 * 4);
}

// What an answer was waited for behind is there: the second load finds all, though it is of the same turn.
TEST(Footprints, WhatWasWaitedForIsThere) {
  const auto joined = [](const std::string& between) {
    Small kernel(
        "S2R R1, SR_LANEID\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R1, 0x4, R4\nLDG.E R8, desc[UR4][R6.64]\n" +
            between + "LDG.E R9, desc[UR4][R6.64]\nEXIT\n",
        {buffer(1 << 20)}, {64, 1, 1});
    const L1Behaviour& load = footprints_of(kernel).loads.at(5);
    EXPECT_DOUBLE_EQ(load.hit_rate, 1);
    return load.joined;
  };
  EXPECT_DOUBLE_EQ(joined("FADD R2, R1, R1\n"), 1);
  EXPECT_DOUBLE_EQ(joined("FADD R2, R8, R1\n"), 0);
}

// Two warps ask for the same line in the same turn: who comes second finds it on its way. What a turn before brought
// is there.
TEST(Footprints, WhatANeighbourAsksForInTheSameTurnIsOnItsWay) {
  Small kernel(
      "S2R R1, SR_LANEID\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R1, 0x4, R4\nLDG.E R8, desc[UR4][R6.64]\n"
      "BRA LBB0\nLBB0:\nLDG.E R9, desc[UR4][R6.64]\nEXIT\n",
      {buffer(1 << 20)}, {64, 1, 1});
  const Footprints prints = footprints_of(kernel);
  EXPECT_DOUBLE_EQ(prints.loads[3].hit_rate, 0.5);
  EXPECT_DOUBLE_EQ(prints.loads[3].joined, 1);
  EXPECT_DOUBLE_EQ(prints.loads[5].hit_rate, 1);
  EXPECT_DOUBLE_EQ(prints.loads[5].joined, 0);
}

// Sixteen CTAs follow each other on an SM: what all of them read is fetched by the first, what each reads for itself by
// each.
TEST(Footprints, TheNextCtaFindsInL1WhatTheFirstOneLeft) {
  Small kernel(
      "S2R R1, SR_LANEID\nS2R R2, SR_CTAID.X\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R1, 0x4, R4\n"
      "IMAD.WIDE R8, R2, 0x80, R6\nLDG.E R10, desc[UR4][R6.64]\nLDG.E R11, desc[UR4][R8.64+0x1000]\nEXIT\n",
      {buffer(1 << 20)}, {32, 1, 1}, {64, 1, 1});
  const Footprints prints = footprints_of(kernel);
  EXPECT_DOUBLE_EQ(prints.loads[5].hit_rate, 15.0 / 16);
  EXPECT_DOUBLE_EQ(prints.loads[5].joined, 0);
  EXPECT_DOUBLE_EQ(prints.loads[6].hit_rate, 0);
}

// Lanes that add to one word take turns at its sector; those that add to words beside each other do not.
TEST(Footprints, AtomicOperationsOnAWordTakeTurns) {
  for (const auto& [shift, turns, words] : {std::tuple{"0x0", 1.0, 8.0}, {"0x2", 4.0, 8.0}, {"0x5", 32.0, 1.0}}) {
    Small kernel("S2R R1, SR_LANEID\nSHF.R.U32.HI R1, RZ, " + std::string(shift) +
                     ", R1\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R1, 0x4, R4\n"
                     "RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R8\nEXIT\n",
                 {buffer(1 << 20)});
    const Footprints prints = footprints_of(kernel);
    ASSERT_EQ(prints.groups.size(), 1u);
    EXPECT_DOUBLE_EQ(prints.groups[0].turns, turns) << shift;
    EXPECT_DOUBLE_EQ(prints.groups[0].words, words) << shift;
  }
}

// At the scope of the SM L1 is coherent and answers; beyond it L2 does.
TEST(Footprints, StrongLoadsHitL1WithinTheirSm) {
  for (const auto& [scope, hits] : {std::pair{"SM", 1.0}, {"GPU", 0.0}}) {
    Small kernel(
        "S2R R1, SR_LANEID\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R1, 0x4, R4\nLDG.E R8, desc[UR4][R6.64]\n"
        "LDG.E.STRONG." +
            std::string(scope) + " R9, desc[UR4][R6.64]\nEXIT\n",
        {buffer(1 << 20)});
    EXPECT_DOUBLE_EQ(footprints_of(kernel).loads[4].hit_rate, hits) << scope;
  }
}

// Rows far from each other are streams of their own where their loads wait together, neighbours are not; a use of the
// first answer ends a wait.
TEST(Footprints, LoadsThatWaitTogetherReadFromSoManyStreams) {
  const auto streams = [](const std::string& apart, const std::string& between) {
    Small kernel(fmt::format("S2R R1, SR_TID.X\nLDC.64 R4, c[0x0][0x210]\nIMAD.WIDE R6, R1, 0x4, R4\n"
                             "LDG.E R8, desc[UR4][R6.64]\n{1}LDG.E R9, desc[UR4][R6.64+{0}]\nFADD R10, R8, R9\nEXIT\n",
                             apart, between),
                 {buffer(1 << 20)});
    return footprints_of(kernel).streams;
  };
  EXPECT_DOUBLE_EQ(streams("0x4000", ""), 2);
  EXPECT_DOUBLE_EQ(streams("0x80", ""), 1);
  EXPECT_DOUBLE_EQ(streams("0x4000", "FADD R11, R8, R8\n"), 1);
}

}  // namespace
}  // namespace noteg::compiled
