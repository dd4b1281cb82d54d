#include <gtest/gtest.h>

#include "kernels/ir/emitter.hpp"
#include "kernels/passes/dependence_graph.hpp"
#include "kernels/passes/passes.hpp"

namespace noteg::kernels {
namespace {

Value physical(int r, int count = 1) { return {r, count}; }

void ffma(Emitter& e, int d, int a, int b, int c) {
  e.emit(Opcode::ffma, "", {reg(physical(d))}, {reg(physical(a)), reg(physical(b)), reg(physical(c))});
}
void lds(Emitter& e, int to, int address) {
  AccessPattern p;
  e.memory(Opcode::lds, "", reg(physical(to)), {reg(physical(address))}, 4, e.add_pattern(p));
}

int distance(const Program& p, int from, int to) {
  int cycles = 0;
  for (int i = from; i < to; ++i) cycles += p.code[static_cast<std::size_t>(i)].control.stall;
  return cycles;
}

TEST(Stalls, CoverTheLatencyOfAFixedProducer) {
  Emitter e;
  ffma(e, 0, 1, 2, 3);
  ffma(e, 4, 0, 5, 6);
  assign_control_bits(e.program(), {});
  EXPECT_EQ(distance(e.program(), 0, 1), 4);
}

TEST(Stalls, AreShorterByTheInstructionsInBetween) {
  Emitter e;
  ffma(e, 0, 1, 2, 3);
  ffma(e, 7, 1, 2, 7);
  ffma(e, 8, 1, 2, 8);
  ffma(e, 4, 0, 5, 6);
  assign_control_bits(e.program(), {});
  EXPECT_EQ(distance(e.program(), 0, 3), 4);
  EXPECT_EQ(distance(e.program(), 0, 2), 2);
}

TEST(Stalls, AreTwoForEveryFfmaOnSixteenLanes) {
  Emitter e;
  for (int i = 0; i < 8; ++i) ffma(e, 16 + i, 1, 2, 16 + i);
  LatencyModel sixteen_lanes;
  sixteen_lanes.fma_interval = 2;
  assign_control_bits(e.program(), sixteen_lanes);
  EXPECT_EQ(distance(e.program(), 0, 7), 14);
}

TEST(Stalls, LetAPredicateReachItsGuardAfterThirteenCycles) {
  Emitter e;
  e.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(0)}, {reg(physical(1)), imm(3)});
  e.emit(Opcode::iadd3, "", {reg(physical(2))}, {reg(physical(3)), imm(1), reg(zero_value)}).guard = pred(0);
  assign_control_bits(e.program(), {});
  EXPECT_EQ(distance(e.program(), 0, 1), 13);
  EXPECT_TRUE(e.program().code[0].control.yield);
}

TEST(Stalls, HoldAcrossTheBackwardBranch) {
  Emitter e;
  const int loop = e.begin_loop(true, 1);
  ffma(e, 4, 0, 5, 4);
  ffma(e, 0, 1, 2, 0);
  e.end_loop(loop, pred(6));
  LatencyModel slow;
  slow.fma = 9;
  assign_control_bits(e.program(), slow);
  EXPECT_GE(distance(e.program(), 1, 3), 9);
  EXPECT_TRUE(check_control_bits(e.program(), slow).empty());
}

TEST(Counters, AConsumerWaitsForItsLoad) {
  Emitter e;
  lds(e, 4, 8);
  ffma(e, 0, 4, 5, 6);
  assign_control_bits(e.program(), {});
  const Control& load = e.program().code[0].control;
  ASSERT_GE(load.write_barrier, 0);
  EXPECT_EQ(e.program().code[1].control.wait_mask, 1 << load.write_barrier);
  EXPECT_GE(load.stall, 2) << "the counter is visible only in the second cycle";
}

TEST(Counters, AnOverwriterOfAStoredRegisterWaitsForTheRead) {
  Emitter e;
  e.memory(Opcode::sts, "", {}, {reg(physical(8)), reg(physical(4))}, 4, e.add_pattern({}));
  ffma(e, 4, 1, 2, 3);
  assign_control_bits(e.program(), {});
  const Control& store = e.program().code[0].control;
  ASSERT_GE(store.read_barrier, 0);
  EXPECT_EQ(e.program().code[1].control.wait_mask, 1 << store.read_barrier);
}

TEST(Counters, AStoreWhoseSourcesLiveOnNeedsNone) {
  Emitter e;
  e.memory(Opcode::sts, "", {}, {reg(physical(8)), reg(physical(4))}, 4, e.add_pattern({}));
  ffma(e, 5, 4, 2, 3);
  assign_control_bits(e.program(), {});
  EXPECT_EQ(e.program().code[0].control.read_barrier, -1);
  EXPECT_EQ(e.program().code[1].control.wait_mask, 0);
}

TEST(Counters, LoadsWithDifferentConsumersDoNotShareWhileCountersAreFree) {
  Emitter e;
  for (int i = 0; i < 4; ++i) lds(e, 4 + i, 8);
  for (int i = 0; i < 4; ++i) ffma(e, 20 + i, 4 + i, 2, 20 + i);
  assign_control_bits(e.program(), {});
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_NE(e.program().code[i].control.write_barrier, e.program().code[i - 1].control.write_barrier);
  }
}

TEST(Checker, SeesAStallThatIsOneTooShort) {
  Emitter e;
  ffma(e, 0, 1, 2, 3);
  ffma(e, 4, 0, 5, 6);
  assign_control_bits(e.program(), {});
  EXPECT_TRUE(check_control_bits(e.program(), {}).empty());
  e.program().code[0].control.stall = 3;
  EXPECT_EQ(check_control_bits(e.program(), {}).size(), 1u);
}

TEST(Checker, SeesAMissingWait) {
  Emitter e;
  lds(e, 4, 8);
  ffma(e, 0, 4, 5, 6);
  assign_control_bits(e.program(), {});
  e.program().code[1].control.wait_mask = 0;
  EXPECT_FALSE(check_control_bits(e.program(), {}).empty());
}

TEST(Reuse, IsSetWhereTheNextReaderOfTheSlotWantsTheSameRegister) {
  Emitter e;
  ffma(e, 20, 0, 5, 20);
  ffma(e, 21, 0, 7, 21);
  ffma(e, 22, 2, 7, 22);
  assign_control_bits(e.program(), {});
  const auto& code = e.program().code;
  EXPECT_TRUE(code[0].src[0].reuse);
  EXPECT_FALSE(code[0].src[1].reuse);
  EXPECT_FALSE(code[1].src[0].reuse);
  EXPECT_TRUE(code[1].src[1].reuse);
}

TEST(Reuse, IsNotSetAcrossAWrite) {
  Emitter e;
  ffma(e, 0, 0, 5, 20);
  ffma(e, 21, 0, 7, 21);
  assign_control_bits(e.program(), {});
  EXPECT_FALSE(e.program().code[0].src[0].reuse);
}

TEST(Registers, AreAlignedInWishedBanksAndApartWhileAlive) {
  Emitter e;
  const Value quad = e.fresh(4), odd = e.fresh(1, Bank::odd), even = e.fresh(1, Bank::even), address = e.fresh();
  e.emit(Opcode::s2r, "", {reg(address)}, {});
  e.memory(Opcode::lds, ".128", reg(quad), {reg(address)}, 16, e.add_pattern({}));
  e.emit(Opcode::mov, "", {reg(odd)}, {imm(1)});
  e.emit(Opcode::mov, "", {reg(even)}, {imm(2)});
  e.emit(Opcode::ffma, "", {reg(odd)}, {reg(quad.part(0)), reg(quad.part(3)), reg(odd)});
  e.emit(Opcode::ffma, "", {reg(even)}, {reg(quad.part(1)), reg(odd), reg(even)});
  ASSERT_TRUE(assign_registers(e.program(), e.groups()));
  const auto& code = e.program().code;
  EXPECT_EQ(code[1].dst[0].index % 4, 0);
  EXPECT_EQ(code[2].dst[0].index % 2, 1);
  EXPECT_EQ(code[3].dst[0].index % 2, 0);
  EXPECT_LE(e.program().registers, 8 + 2);
}

TEST(Registers, ThatAreDeadAreGivenAgain) {
  Emitter e;
  for (int i = 0; i < 300; ++i) {
    const Value v = e.fresh();
    e.emit(Opcode::mov, "", {reg(v)}, {imm(i)});
    e.emit(Opcode::iadd3, "", {reg(e.fresh())}, {reg(v), imm(1), reg(zero_value)});
  }
  ASSERT_TRUE(assign_registers(e.program(), e.groups()));
  EXPECT_LE(e.program().registers, 4);
}

TEST(Registers, MoreThanTheFileHoldsIsAnError) {
  Emitter e;
  std::vector<Value> all;
  for (int i = 0; i < 260; ++i) {
    all.push_back(e.fresh());
    e.emit(Opcode::mov, "", {reg(all.back())}, {imm(i)});
  }
  for (const Value& v : all) e.emit(Opcode::iadd3, "", {reg(zero_value)}, {reg(v), imm(1), reg(zero_value)});
  EXPECT_FALSE(assign_registers(e.program(), e.groups()));
}

TEST(Dependences, GiveTheCriticalPath) {
  Emitter e;
  ffma(e, 0, 1, 2, 0);
  ffma(e, 0, 1, 2, 0);
  ffma(e, 9, 1, 2, 9);
  ffma(e, 0, 1, 2, 0);
  EXPECT_EQ(critical_path(e.program(), 0, 4, {}), 4 + 4 + 1);
}

TEST(Dependences, CriticalChainIsInOrderAndEndsWithThePath) {
  Emitter e;
  ffma(e, 0, 1, 2, 0);
  ffma(e, 9, 1, 2, 9);
  ffma(e, 0, 1, 2, 0);
  const DependenceGraph graph(e.program(), 0, 3, {});
  EXPECT_EQ(graph.critical_chain(), (std::vector<int>{0, 2}));
  EXPECT_EQ(graph.earliest(), (std::vector<int>{0, 0, 4}));
  EXPECT_EQ(graph.critical_length(), graph.earliest().back() + 1);
}

TEST(Dependences, AreDrawnWithTheirLatencies) {
  Emitter e;
  ffma(e, 0, 1, 2, 0);
  ffma(e, 0, 1, 2, 0);
  const DependenceGraph graph(e.program(), 0, 2, {});
  EXPECT_NE(to_dot(graph, e.program()).find("i0 -> i1 [label=\"4\""), std::string::npos);
  const std::string svg = to_svg(graph, e.program());
  EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("read after write, 4 cycles"), std::string::npos);
}

TEST(Schedule, HoistsALoadOverIndependentArithmetic) {
  Emitter e;
  for (int i = 0; i < 6; ++i) ffma(e, 20 + i, 1, 2, 20 + i);
  lds(e, 4, 8);
  ffma(e, 30, 4, 2, 30);
  schedule(e.program(), e.releases(), {});
  EXPECT_EQ(e.program().code.front().op, Opcode::lds);
  EXPECT_EQ(e.program().code.back().dst[0].index, 30);
}

TEST(Schedule, KeepsALoadBehindItsRelease) {
  Emitter e;
  for (int i = 0; i < 6; ++i) ffma(e, 20 + i, 1, 2, 20 + i);
  e.release_after(3);
  lds(e, 4, 8);
  schedule(e.program(), e.releases(), {});
  EXPECT_EQ(e.program().code[3].op, Opcode::lds);
}

TEST(Schedule, NeverPassesABarrierWithMemory) {
  Emitter e;
  e.memory(Opcode::sts, "", {}, {reg(physical(8)), reg(physical(4))}, 4, e.add_pattern({}));
  e.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)});
  lds(e, 4, 9);
  schedule(e.program(), e.releases(), {});
  EXPECT_EQ(e.program().code[0].op, Opcode::sts);
  EXPECT_EQ(e.program().code[1].op, Opcode::bar_sync);
  EXPECT_EQ(e.program().code[2].op, Opcode::lds);
}

TEST(Trace, WalksEveryLoopTwice) {
  Emitter e;
  const int loop = e.begin_loop(true, 1);
  ffma(e, 0, 1, 2, 0);
  e.end_loop(loop, pred(0));
  e.emit(Opcode::exit, "", {}, {});
  EXPECT_EQ(two_iteration_walk(e.program()), (std::vector<int>{0, 1, 0, 1, 2}));
}

}  // namespace
}  // namespace noteg::kernels
