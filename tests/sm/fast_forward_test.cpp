// Sampled runs against exact ones: what repeats is skipped without an error, work within the budget is stepped through,
// and of more than that a part tells the rest, whatever loops it is made of.
#include "sim/sm/sampling/fast_forward.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "kernels/assembly/assembly.hpp"
#include "sim/sm/sm.hpp"
#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm {
namespace {

const char* const loads_and_waits =
    ".warps 2\n.access R2 global 4 lane*4\nloop:\n"
    "[B------:R-:W0:-:S01] LDG.E R8, [R2] ;\n"
    "[B0-----:R-:W-:-:S04] FADD R4, R8, R8 ;\n"
    "[B------:R-:W-:-:S01] BRA loop ;\n";

// A loop in a loop, and another behind them: none is the main loop of anything.
const char* const nested_and_in_sequence =
    ".warps 4\n.access R2 global 4 lane*4\nouter:\n"
    "[B------:R-:W0:-:S01] LDG.E R8, [R2] ;\n"
    ".iterations 5\ninner:\n"
    "[B------:R-:W-:-:S04] FADD R4, R4, R4 ;\n"
    "[B------:R-:W-:-:S01] BRA inner ;\n"
    "[B0-----:R-:W-:-:S04] FADD R4, R8, R8 ;\n"
    ".iterations 150\n[B------:R-:W-:-:S01] BRA outer ;\nlast:\n"
    "[B------:R-:W0:-:S01] LDG.E R8, [R2] ;\n"
    "[B0-----:R-:W-:-:S02] FADD R4, R8, R8 ;\n"
    ".iterations 300\n[B------:R-:W-:-:S01] BRA last ;\n";

// More is asked for than such a share of L2 brings, which leaves other fractions of a cycle with each load: states come
// back late, if at all.
constexpr double odd_share = 1.0 / 2.718281828;

struct Both {
  SmResult exact, sampled;
};

Both run_both(const char* text, SmWork work, double read_bytes_per_cycle) {
  const Result<kernels::Program> program = kernels::parse_assembly(text, "loops.nsass");
  EXPECT_TRUE(program) << to_string(program.errors());
  if (!program) return {};
  const arch::SmSpec& sm = sm_of("h200-sxm-141gb");
  const DecodedProgram decoded = decode(*program, sm);
  const MemoryPort port{.read_bytes_per_cycle = read_bytes_per_cycle};
  work.cta_launch_latency = 100;
  Both out;
  out.exact = run_sm(decoded, sm, {}, port, work);
  work.fidelity = Fidelity::sampled;
  out.sampled = run_sm(decoded, sm, {}, port, work);
  return out;
}

void expect_all_work(const Both& both, const SmWork& work) {
  EXPECT_EQ(both.sampled.ctas, work.ctas);
  EXPECT_NEAR(both.sampled.counters.warp_instructions / both.exact.counters.warp_instructions, 1, 1e-9);
}

TEST(FastForward, SkipsWhatRepeatsWithoutAnError) {
  for (const int resident : {1, 2}) {
    const SmWork work{.resident = resident, .ctas = 200, .iterations = 50};
    const Both both = run_both(loads_and_waits, work, 64);
    EXPECT_EQ(both.sampled.cycles, both.exact.cycles) << resident;
    EXPECT_LT(both.sampled.stepped_cycles, both.exact.cycles / 20) << resident;
    expect_all_work(both, work);
  }
}

// A period that the first CTA went through is known to the next, and that CTAs repeat shows at the third.
TEST(FastForward, KnowsInTheNextCtaWhatRepeatedInTheFirst) {
  const SmWork alone{.resident = 1, .ctas = 1, .iterations = 500}, work{.resident = 1, .ctas = 50, .iterations = 500};
  const Both one = run_both(loads_and_waits, alone, 64), many = run_both(loads_and_waits, work, 64);
  EXPECT_EQ(many.sampled.cycles, many.exact.cycles);
  EXPECT_LT(many.sampled.stepped_warp_instructions, 3 * one.sampled.stepped_warp_instructions);
  expect_all_work(many, work);
}

TEST(FastForward, EstimatesNothingWithinTheBudget) {
  const SmWork work{.resident = 3, .ctas = 9, .iterations = 500};
  const Both both = run_both(loads_and_waits, work, odd_share);
  EXPECT_LT(both.exact.counters.warp_instructions, SamplingRules{}.budget);
  EXPECT_EQ(both.sampled.cycles, both.exact.cycles);
  expect_all_work(both, work);
}

TEST(FastForward, StepsThroughAPartOfMoreThanTheBudget) {
  for (const SmWork& work : {SmWork{.resident = 3, .ctas = 300, .iterations = 600},      // many CTAs
                             SmWork{.resident = 3, .ctas = 3, .iterations = 60'000},     // long loops
                             SmWork{.resident = 3, .ctas = 60'000, .iterations = 3}}) {  // short ones
    const Both both = run_both(loads_and_waits, work, odd_share);
    EXPECT_GT(both.exact.counters.warp_instructions, 2 * SamplingRules{}.budget);
    EXPECT_LT(both.sampled.stepped_warp_instructions, SamplingRules{}.budget);
    EXPECT_NEAR(both.sampled.cycles / both.exact.cycles, 1, 0.005) << work.ctas;
    expect_all_work(both, work);
  }
}

// CTAs that lie apart end one by one: what the first turnovers cost, the others do too.
TEST(FastForward, StepsThroughTheFirstTurnoversOnly) {
  const SmWork some{.resident = 3, .ctas = 12, .iterations = 60'000, .start_interval = 300'000};
  SmWork more = some;
  more.ctas = 48;
  const Both few = run_both(loads_and_waits, some, odd_share), many = run_both(loads_and_waits, more, odd_share);
  EXPECT_NEAR(many.sampled.cycles / many.exact.cycles, 1, 0.005);
  EXPECT_LT(many.sampled.stepped_warp_instructions, 1.1 * few.sampled.stepped_warp_instructions);
  expect_all_work(few, some);
  expect_all_work(many, more);
}

TEST(FastForward, KnowsNoMainLoop) {
  for (const int resident : {1, 3}) {
    for (const double share : {64.0, odd_share}) {
      const SmWork work{.resident = resident, .ctas = 150 * resident};
      const Both both = run_both(nested_and_in_sequence, work, share);
      EXPECT_LT(both.sampled.stepped_warp_instructions, both.exact.counters.warp_instructions / 2);
      EXPECT_NEAR(both.sampled.cycles / both.exact.cycles, 1, 0.005) << resident << " " << share;
      expect_all_work(both, work);
    }
  }
}

// One CTA, in windows of 1000 instructions that take so many cycles.
SteadyState measured(std::initializer_list<double> windows) {
  SteadyState out;
  for (const double cycles : windows) {
    Window window{cycles, {}, {1000}, {}};
    window.count.warp_instructions = 1000;
    out.add(std::move(window));
  }
  return out;
}

// A CTA that has ended leaves a backlog of stores, for which the first window behind its end waits.
TEST(SteadyState, LeavesOutWhatAChangeLeftBehindWhenTheBudgetIsSpent) {
  const SamplingRules rules;
  EXPECT_FALSE(measured({2200, 460}).learn(rules, true, 1));
  SteadyState rate = measured({2200, 460, 470});
  ASSERT_TRUE(rate.learn(rules, true, 1));
  EXPECT_EQ(rate.sum().cycles / rate.sum().instructions(), 0.465);
}

TEST(SteadyState, IsKnownByTwoWindowsThatAgreeWhenTheBudgetIsSpent) {
  const SamplingRules rules;
  SteadyState rate = measured({460, 461});
  EXPECT_FALSE(rate.learn(rules, false, 1));
  EXPECT_TRUE(rate.learn(rules, true, 1));
}

}  // namespace
}  // namespace noteg::sm
