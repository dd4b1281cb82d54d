// What an SM does, cycle by cycle, with a few instructions.
#include "sim/sm/sm.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernels/assembly/assembly.hpp"
#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm {
namespace {

struct Setup {
  int resident = 1;
  std::int64_t ctas = 1;
  double latency = 272;
};

SmResult run_text(const std::string& text, const Setup& setup = {}) {
  const Result<kernels::Program> program = kernels::parse_assembly(text, "engine.nsass");
  EXPECT_TRUE(program) << to_string(program.errors());
  if (!program) return {};
  const arch::SmSpec& sm = sm_of("h200-sxm-141gb");
  MemoryPort port;
  port.latency = setup.latency;
  SmWork work;
  work.resident = setup.resident;
  work.ctas = setup.ctas;
  return run_sm(decode(*program, sm), sm, {}, port, work);
}

double cycles(const std::string& text, const Setup& setup = {}) {
  const SmResult result = run_text(text, setup);
  EXPECT_FALSE(result.deadlock);
  return result.cycles;
}

double last_issue(const std::string& text, double latency) {
  MicroKernel kernel{.text = text};
  kernel.memory_port.latency = latency;
  return last_issue_before_exit(kernel);
}

const std::string exit_now = "[B------:R-:W-:-:S01] EXIT ;\n";

TEST(Machine, AStallCountHoldsTheNextInstructionThatLong) {
  const double one = cycles("[B------:R-:W-:-:S01] NOP ;\n" + exit_now);
  for (int stall = 2; stall <= 15; ++stall) {
    const std::string text = fmt::format("[B------:R-:W-:{}:S{:02}] NOP ;\n", stall > 11 ? 'Y' : '-', stall);
    EXPECT_EQ(cycles(text + exit_now), one + stall - 1) << stall;
  }
}

// A load that leaves the SM: one cycle more of latency, one cycle more of run.
TEST(Machine, ADependentInstructionIssuesExactlyAtTheLatencyOfItsLoad) {
  const std::string text = "[B------:R-:W0:-:S02] LDG.E R4, [R2] ;\n[B0-----:R-:W-:-:S01] NOP ;\n" + exit_now;
  const double base = cycles(text, {.latency = 300});
  EXPECT_GE(base, 300);
  EXPECT_LE(base, 310);
  EXPECT_EQ(cycles(text, {.latency = 301}), base + 1);
  EXPECT_EQ(cycles(text, {.latency = 800}), base + 500);
}

TEST(Machine, AnIndependentInstructionDoesNotWaitForALoad) {
  const std::string text = "[B------:R-:W0:-:S02] LDG.E R4, [R2] ;\n[B------:R-:W-:-:S01] NOP ;\n" + exit_now;
  EXPECT_LT(last_issue(text, 300), 10);
}

// Loads whose results nobody uses, copies, committed or not, and stores that still read their sources.
const std::string load = "[B------:R-:W0:-:S02] LDG.E R4, [R2] ;\n";
const std::string copy = "[B------:R-:W-:-:S02] LDGSTS.E [R8], [R2] ;\n";
const std::string commit = "[B------:R-:W-:-:S02] LDGDEPBAR ;\n";
const std::string store = "[B------:R1:W-:-:S02] STG.E [R2], R4 ;\n";

TEST(Machine, ExitWaitsForEveryAccessOfItsWarp) {
  for (const std::string& text : {load, copy, copy + commit, load + store + copy}) {
    const double base = cycles(text + exit_now, {.latency = 300});
    EXPECT_GE(base, 300) << text;
    EXPECT_EQ(cycles(text + exit_now, {.latency = 301}), base + 1) << text;
  }
  EXPECT_GT(cycles(store + exit_now), cycles("[B------:R-:W-:-:S02] NOP ;\n" + exit_now));
}

// A slot's next CTA starts with no counter, copy or register held by the one before: it takes as long as that.
TEST(Machine, ACtaLeavesNothingBehindForItsSuccessor) {
  const std::string part = "[B------:R-:W0:-:S02] LDS R6, [R10] ;\n[B012345:R-:W-:-:S04] NOP ;\n" + copy + commit +
                           "[B------:R-:W-:-:S04] DEPBAR.LE SB0, 0x0 ;\n";
  const std::string begin = part + part;  // what comes late arrives in the first and is missed in the second
  for (const Dependence dependence : {Dependence::control_bits, Dependence::scoreboard}) {
    for (const std::string& end : {load, store, load + store, copy, copy + commit}) {
      MicroKernel kernel{.text = begin + end + exit_now, .ctas = 1, .cta_launch_latency = 2};
      kernel.switches.dependence = dependence;
      const SmResult one = run_micro(kernel, 1);
      kernel.ctas = 5;
      const SmResult five = run_micro(kernel, 1);
      EXPECT_EQ(five.ctas, 5) << end;
      EXPECT_NEAR(five.cycles, 5 * one.cycles, 20) << end;
    }
  }
}

TEST(Machine, ACtaKeepsItsSlotUntilItsStoresHaveLeft) {
  MicroKernel kernel{.text = store + exit_now, .ctas = 5, .cta_launch_latency = 2};
  kernel.memory_port.write_bytes_per_cycle = 0.01;
  EXPECT_NEAR(run_micro(kernel, 1).cycles, 5 * 128 / 0.01, 0.02 * 5 * 128 / 0.01);
}

// It issues itself, and what stands behind it waits.
TEST(Machine, DepbarWaitsForAllButSoManyCopyGroups) {
  const auto with_groups = [](int outstanding) {
    std::string text;
    for (int group = 0; group < 3; ++group) {
      text += "[B------:R-:W-:-:S01] LDGSTS.E [R8], [R2] ;\n[B------:R-:W-:-:S01] LDGDEPBAR ;\n";
      for (int i = 0; i < 10; ++i) text += "[B------:R-:W-:-:S10] NOP ;\n";  // groups start 100 cycles apart
    }
    return text + "[B------:R-:W-:-:S04] DEPBAR.LE SB0, " + std::to_string(outstanding) +
           " ;\n[B------:R-:W-:-:S01] NOP ;\n" + exit_now;
  };
  const double all = last_issue(with_groups(0), 1000), two = last_issue(with_groups(1), 1000);
  const double one = last_issue(with_groups(2), 1000), none = last_issue(with_groups(3), 1000);
  EXPECT_NEAR(all - two, 102, 3);
  EXPECT_NEAR(two - one, 102, 3);
  EXPECT_LT(none, 330);
  EXPECT_GT(one, 1000);
}

TEST(Machine, ABarrierReleasesEveryWarpWhenTheLastOneHasArrived) {
  const auto text = [](int warps) {
    return ".warps " + std::to_string(warps) + "\n[B------:R-:W-:-:S06] BAR.SYNC.DEFER_BLOCKING 0x0 ;\n" + exit_now;
  };
  for (const int warps : {1, 2, 5, 32}) {
    const SmResult result = run_text(text(warps));
    EXPECT_FALSE(result.deadlock) << warps;
    EXPECT_EQ(result.counters.warp_instructions, 2 * warps);
  }
}

// BAR.SYNC.DEFER_BLOCKING holds the first instruction that is no arithmetic of vector registers.
TEST(Machine, ABarrierLetsArithmeticPassAndNothingElse) {
  const auto behind = [](const char* instruction) {
    std::string text = "[B------:R-:W-:-:S06] BAR.SYNC.DEFER_BLOCKING 0x0 ;\n";
    for (int i = 0; i < 5; ++i) text += fmt::format("[B------:R-:W-:-:S01] {} ;\n", instruction);
    return cycles(text + exit_now);
  };
  const double alone = cycles("[B------:R-:W-:-:S06] BAR.SYNC.DEFER_BLOCKING 0x0 ;\n" + exit_now);
  EXPECT_EQ(behind("FADD R4, R6, R7"), alone);
  EXPECT_EQ(behind("NOP"), alone + 5);
}

// BSYNC names the next instruction anew, whatever its stall count.
TEST(Machine, WhereLanesMeetTheirWarpGoesOnAfterTheTimeOfConvergence) {
  const double one = cycles("[B------:R-:W-:-:S01] NOP ;\n" + exit_now);
  const double convergence = sm_of("h200-sxm-141gb").front_end.convergence.value;
  EXPECT_EQ(cycles("[B------:R-:W-:-:S05] BSYNC B0 ;\n" + exit_now), one + convergence - 1);
}

TEST(Machine, ProgramsThatCanGoOnAreNoDeadlock) {
  EXPECT_FALSE(run_text("[B012345:R-:W-:-:S01] NOP ;\n" + exit_now).deadlock);
}

TEST(Machine, ACounterThatNobodyReleasesIsReportedAndDoesNotHang) {
  const arch::SmSpec& sm = sm_of("h200-sxm-141gb");
  DecodedProgram program =
      decode(*kernels::parse_assembly("[B------:R-:W0:-:S02] NOP ;\n[B0-----:R-:W-:-:S01] NOP ;\n", "stuck.nsass"), sm);
  EXPECT_FALSE(run_sm(program, sm, {}, {}, {}).deadlock);
  program.code[0].commit = 1;  // the counter of a commit is not released by the instruction itself
  const SmResult stuck = run_sm(program, sm, {}, {}, {});
  EXPECT_TRUE(stuck.deadlock);
  ASSERT_EQ(stuck.blocked.size(), 1U);
  EXPECT_EQ(stuck.blocked[0].pc, 1);
  EXPECT_EQ(stuck.blocked[0].reason, Stall::short_scoreboard);
}

TEST(Machine, EveryCtaRunsToItsEnd) {
  const std::string text = ".warps 4\n[B------:R-:W0:-:S02] LDG.E R4, [R2] ;\n[B0-----:R-:W-:-:S01] NOP ;\n" + exit_now;
  const SmResult one = run_text(text);
  for (const int resident : {1, 2, 3}) {
    const SmResult five = run_text(text, {.resident = resident, .ctas = 5});
    EXPECT_FALSE(five.deadlock);
    EXPECT_EQ(five.counters.warp_instructions, 5 * one.counters.warp_instructions) << resident;
  }
  // Two CTAs at a time hide each other's latency.
  EXPECT_LT(cycles(text, {.resident = 2, .ctas = 2}), 1.2 * one.cycles);
  EXPECT_GT(cycles(text, {.resident = 1, .ctas = 2}), 1.9 * one.cycles);
}

// Four warps of one sub-core (16 warps over four): each cycle somebody issues, nobody waits for another sub-core.
TEST(Machine, EachSubCoreIssuesOneInstructionACycle) {
  std::string body;
  for (int i = 0; i < 50; ++i) body += "[B------:R-:W-:-:S01] NOP ;\n";
  EXPECT_EQ(cycles(".warps 4\n" + body + exit_now), cycles(body + exit_now));
  EXPECT_EQ(cycles(".warps 16\n" + body + exit_now), 4 * 51);
}

// Greedy: the warp that issued last goes on while it can, so equal warps of a sub-core end one after the other, and the
// wait for the choice falls on the older ones: 0 + 51 + 102 + 153 cycles (warp i of a sub-core waits for i others).
TEST(Machine, StaysWithAWarpWhileItCanIssue) {
  std::string body;
  for (int i = 0; i < 50; ++i) body += "[B------:R-:W-:-:S01] NOP ;\n";
  const SmResult r = run_text(".warps 16\n" + body + exit_now);
  const double waited = r.counters.stall_cycles[static_cast<std::size_t>(Stall::not_selected)];
  EXPECT_NEAR(waited, 4 * 51 * (1 + 2 + 3), 16);
}

TEST(Machine, StallCyclesAreAllTheCyclesOfAllWarps) {
  const SmResult r =
      run_text(".warps 8\n[B------:R-:W0:-:S02] LDG.E R4, [R2] ;\n[B0-----:R-:W-:-:S01] NOP ;\n" + exit_now);
  double sum = 0;
  for (const double s : r.counters.stall_cycles) sum += s;
  EXPECT_NEAR(sum, 8 * r.cycles, 8);
}

}  // namespace
}  // namespace noteg::sm
