#include "kernels/assembly/assembly.hpp"

#include <gtest/gtest.h>

#include "kernels/access/wavefronts.hpp"

namespace noteg::kernels {
namespace {

Program assembled(std::string_view text) {
  Result<Program> program = parse_assembly(text, "t.nsass");
  EXPECT_TRUE(program) << to_string(program.errors());
  return program ? *program : Program{};
}

std::string mistakes(std::string_view text) {
  const Result<Program> program = parse_assembly(text, "t.nsass");
  EXPECT_FALSE(program);
  return program ? "" : to_string(program.errors());
}

TEST(Assembly, ReadsControlBitsAsListingsPrintThem) {
  const Program p = assembled("[B0--3--:R2:W5:Y:S11] LDS.128 R4, [R8+0x10] ;");
  const Instruction& in = p.code.at(0);
  EXPECT_EQ(in.op, Opcode::lds);
  EXPECT_EQ(in.modifiers, ".128");
  EXPECT_EQ(in.access_bytes, 16);
  EXPECT_EQ(in.control.wait_mask, 0b001001);
  EXPECT_EQ(in.control.read_barrier, 2);
  EXPECT_EQ(in.control.write_barrier, 5);
  EXPECT_TRUE(in.control.yield);
  EXPECT_EQ(in.control.stall, 11);
}

TEST(Assembly, KeepsReuseFlagsAtTheirOperandPositions) {
  const Program p = assembled("[B------:R-:W-:-:S01] FFMA R125, R32, R48.reuse, R91 ;");
  const Instruction& in = p.code.at(0);
  EXPECT_EQ(in.dst[0].index, 125);
  EXPECT_EQ(in.src[0].index, 32);
  EXPECT_FALSE(in.src[0].reuse);
  EXPECT_EQ(in.src[1].index, 48);
  EXPECT_TRUE(in.src[1].reuse);
  EXPECT_EQ(in.src[2].index, 91);
}

TEST(Assembly, ABackwardBranchIsALoopAndAForwardOneIsNot) {
  const Program p = assembled("loop:\nFADD R1, R2, R3\nBRA out\nBRA loop\nout:\nEXIT\n");
  ASSERT_EQ(p.loops.size(), 1U);
  EXPECT_EQ(p.loops[0].begin, 0);
  EXPECT_EQ(p.loops[0].branch, 2);
  EXPECT_TRUE(p.loops[0].is_main);
  EXPECT_EQ(p.code[1].loop, -1);
  EXPECT_EQ(p.code[2].loop, 0);
}

TEST(Assembly, AddressesInCommentsAreBranchTargets) {
  const Program p = assembled("FADD R1, R2, R3 ; /*0090*/\n@P0 BRA 0x90 ; /*00a0*/\n");
  ASSERT_EQ(p.loops.size(), 1U);
  EXPECT_EQ(p.loops[0].begin, 0);
}

TEST(Assembly, AddsTheExitThatIsMissing) { EXPECT_EQ(assembled("NOP\n").code.back().op, Opcode::exit); }

TEST(Assembly, UnrollRepeatsItsLines) { EXPECT_EQ(assembled(".unroll 5\nNOP\nNOP\n.end\n").code.size(), 11U); }

TEST(Assembly, AccessGivesEachLaneItsOffset) {
  const Program p = assembled(".access R8 shared 16 (lane/16)*32\nLDS.128 R4, [R8+0x10]\n");
  const AccessPattern& pattern = p.patterns.at(0);
  EXPECT_EQ(pattern.offset[15], 0U);
  EXPECT_EQ(pattern.offset[16], 32U);
}

TEST(Assembly, TellsFileAndLineOfEveryMistake) {
  const std::string text =
      mistakes("NOP\nFROBNICATE R1\n.warps 99\n[B------:R-:W-:-:S99] NOP\n.access R1 nowhere 4 lane\n");
  EXPECT_NE(text.find("t.nsass:2:1: expected a known opcode, found FROBNICATE"), std::string::npos) << text;
  EXPECT_NE(text.find("t.nsass:3:8: expected 1 to 32 warps"), std::string::npos) << text;
  EXPECT_NE(text.find("t.nsass:4:18: expected a stall count"), std::string::npos) << text;
  EXPECT_NE(text.find("t.nsass:5:12: expected shared or global"), std::string::npos) << text;
}

TEST(Assembly, RefusesEmptyTextAndOpenUnroll) {
  EXPECT_NE(mistakes("").find("at least one instruction"), std::string::npos);
  EXPECT_NE(mistakes("NOP\n.unroll 3\nNOP\n").find(".end"), std::string::npos);
}

TEST(LaneExpression, FollowsPrecedence) {
  EXPECT_EQ(evaluate_lane_expression("lane%8*16+lane/8", 19), 3 * 16 + 2);
  EXPECT_EQ(evaluate_lane_expression("(lane ^ 1) & 3", 6), 3);
  EXPECT_EQ(evaluate_lane_expression("0x10 - 2 - 3", 0), 11);
}

TEST(LaneExpression, RefusesWhatIsNoExpression) {
  for (const char* text : {"", "lane +", "(lane", "lane/0", "lane lane", "9999999999999", "x"}) {
    EXPECT_FALSE(evaluate_lane_expression(text, 1)) << text;
  }
  EXPECT_FALSE(evaluate_lane_expression(std::string(1000, '('), 1));
}

}  // namespace
}  // namespace noteg::kernels
