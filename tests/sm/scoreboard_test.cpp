// The scoreboard waits for what registers say, whatever the control bits are; schedulers choose as named.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm {
namespace {

const std::string exit_now = "[B------:R-:W-:-:S01] EXIT ;\n";

double cycles(const std::string& text, Dependence dependence, double latency = 272) {
  MicroKernel kernel{.text = text + exit_now, .gpu = "rtx-a6000"};
  kernel.memory_port.latency = latency;
  kernel.switches.dependence = dependence;
  return last_issue_before_exit(kernel);
}

double by_registers(const std::string& text, double latency = 272) {
  return cycles(text, Dependence::scoreboard, latency);
}

// Distances without any control bits are those that a compiler would have written (NAK80).
TEST(Scoreboard, FixedLatenciesHoldWithoutStallCounts) {
  const auto pair = [](const std::string& second) {
    return by_registers("[B------:R-:W-:-:S01] FADD R4, R8, R9 ;\n[B------:R-:W-:-:S01] " + second + " ;\n");
  };
  const double independent = pair("FADD R12, R8, R9");
  EXPECT_EQ(pair("FADD R12, R4, R9") - independent, 3);                     // FMA to FMA 4
  EXPECT_EQ(pair("LOP3.LUT R12, R4, R9, RZ, 0xc0, !PT") - independent, 4);  // FMA to ALU 5
}

TEST(Scoreboard, ALoadHoldsItsReader) {
  const std::string text = "[B------:R-:W-:-:S01] LDG.E R4, [R2] ;\n[B------:R-:W-:-:S01] FADD R5, R4, R4 ;\n";
  EXPECT_EQ(by_registers(text, 800) - by_registers(text, 300), 500);
  // Nobody else.
  const std::string other = "[B------:R-:W-:-:S01] LDG.E R4, [R2] ;\n[B------:R-:W-:-:S01] FADD R5, R6, R6 ;\n";
  EXPECT_LT(by_registers(other, 800), 20);
}

TEST(Scoreboard, AWriterWaitsForEarlierReadersAndWriters) {
  const std::string load = "[B------:R-:W-:-:S01] LDG.E R4, [R2] ;\n";
  const double free = by_registers(load + "[B------:R-:W-:-:S01] MOV R6, R7 ;\n");
  const double war = by_registers(load + "[B------:R-:W-:-:S01] MOV R2, R7 ;\n");
  EXPECT_NEAR(war - free, 10, 1);  // MICRO25 table 2: LDG frees a regular address register after 11 cycles
  EXPECT_GT(by_registers(load + "[B------:R-:W-:-:S01] MOV R4, R7 ;\n"), war + 200);
}

TEST(Scoreboard, WaitMasksAndStallCountsDoNotMatter) {
  const std::string plain = "[B------:R-:W-:-:S01] LDG.E R4, [R2] ;\n[B------:R-:W-:-:S01] FADD R5, R4, R4 ;\n";
  const std::string bits = "[B------:R0:W1:-:S09] LDG.E R4, [R2] ;\n[B01----:R-:W-:-:S15] FADD R5, R4, R4 ;\n";
  EXPECT_EQ(by_registers(plain), by_registers(bits));
}

// With the bits that a compiler writes both ways of handling dependences take the same time.
TEST(Scoreboard, AgreesWithProperControlBits) {
  const std::string text =
      "[B------:R-:W0:-:S02] LDS R4, [R2] ;\n[B0-----:R-:W-:-:S04] FFMA R5, R4, R4, R4 ;\n"
      "[B------:R-:W-:-:S05] FADD R6, R5, R5 ;\n[B------:R-:W-:-:S01] IADD3 R7, R6, R6, R6 ;\n";
  EXPECT_NEAR(by_registers(text), cycles(text, Dependence::control_bits), 1);
}

// --- schedulers --------------------------------------------------------------------------------------------------

// Two warps of a sub-core; one load each at the start, then arithmetic. Who goes first shows in nothing but the order,
// so the laws are about sums: no scheduler loses or invents work.
TEST(Schedulers, AllIssueTheSameInstructions) {
  std::string body;
  for (int i = 0; i < 32; ++i) body += fmt::format("[B------:R-:W-:-:S04] FADD R{}, R{}, R{} ;\n", 4 + i, 4 + i, 4 + i);
  for (const Scheduler s : {Scheduler::cggty, Scheduler::gto, Scheduler::lrr}) {
    MicroKernel kernel{.text = ".warps 16\n" + body + exit_now};
    kernel.switches.scheduler = s;
    const SmResult result = run_micro(kernel, 1);
    EXPECT_EQ(result.counters.warp_instructions, 16 * 33);
    EXPECT_NEAR(result.cycles, 4 * 33, 4);  // four warps fill stalls of four cycles
  }
}

// A round robin moves on after each instruction: both warps end together, so the second barrier of a pair that the
// greedy scheduler staggers opens sooner. Here only that the order differs.
TEST(Schedulers, RoundRobinTakesTurns) {
  std::string body;
  for (int i = 0; i < 64; ++i) body += "[B------:R-:W-:-:S01] NOP ;\n";
  const auto idle_of_finished = [&](Scheduler s) {
    MicroKernel kernel{.text = ".warps 8\n" + body + exit_now};
    kernel.switches.scheduler = s;
    return run_micro(kernel, 1).counters.stall_cycles[static_cast<std::size_t>(Stall::drained)];
  };
  EXPECT_GT(idle_of_finished(Scheduler::cggty), 200);  // one warp ends 65 cycles before the other, on four sub-cores
  EXPECT_LT(idle_of_finished(Scheduler::lrr), 20);
  EXPECT_EQ(idle_of_finished(Scheduler::cggty), idle_of_finished(Scheduler::gto));
}

// --- what can be switched off ------------------------------------------------------------------------------------

TEST(Switches, WithoutBarriersNobodyWaits) {
  std::string text = ".warps 8\n";
  for (int i = 0; i < 8; ++i) text += "[B------:R-:W-:-:S06] BAR.SYNC.DEFER_BLOCKING 0x0 ;\n";
  MicroKernel kernel{.text = text + exit_now};
  const double with = run_micro(kernel, 1).cycles;
  kernel.switches.barriers = false;
  EXPECT_LT(run_micro(kernel, 1).cycles, 0.6 * with);
}

TEST(Switches, AnEndlessQueueNeverStopsIssue) {
  std::string text;
  for (int i = 0; i < 32; ++i) text += "[B------:R-:W-:-:S01] LDS.128 R4, [R2] ;\n";
  MicroKernel kernel{.text = text + exit_now};
  const auto queue_stalls = [&] {
    return run_micro(kernel, 1).counters.stall_cycles[static_cast<std::size_t>(Stall::memory_queue)];
  };
  EXPECT_GT(queue_stalls(), 50);
  kernel.switches.memory_queue = false;
  EXPECT_EQ(queue_stalls(), 0);
}

TEST(Switches, WithoutBankConflictsAStrideCostsWhatItsBytesNeed) {
  std::string text = ".access R2 shared 4 lane*128\nloop:\n";
  for (int i = 0; i < 16; ++i) text += "[B------:R-:W-:-:S01] LDS R4, [R2] ;\n";
  text += "[B------:R-:W-:-:S05] BRA loop ;\n";
  MicroKernel kernel{.text = ".warps 4\n" + text};
  const double with = cycles_per_iteration(kernel);
  kernel.switches.bank_conflicts = false;
  EXPECT_GT(with, 10 * cycles_per_iteration(kernel));
}

// MICRO25 section 4.1: odd combinations of stall and yield.
TEST(ControlBits, OddCombinations) {
  const auto after = [](const char* bits) {
    return run_micro({.text = fmt::format("[B------:R-:W-:{}] NOP ;\n", bits) + exit_now}, 1).cycles;
  };
  const double one = after("-:S01");
  EXPECT_EQ(after("Y:S01") - one, 1);  // the next cycle belongs to others
  EXPECT_EQ(after("Y:S04") - one, 3);  // no effect on a longer stall
  EXPECT_EQ(after("Y:S13") - one, 12);
  EXPECT_EQ(after("-:S13") - one, 1);   // more than 11 without yield: two cycles
  EXPECT_EQ(after("Y:S00") - one, 44);  // none with yield: 45
}

}  // namespace
}  // namespace noteg::sm
