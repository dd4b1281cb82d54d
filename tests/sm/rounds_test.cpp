// Rounds of CTAs that repeat exactly are passed over; where they do not, a run may end once the throughput of CTAs is
// steady, or pass over trips that are but nearly alike once it has lost its patience.
#include <gtest/gtest.h>

#include "kernels/assembly/assembly.hpp"
#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm {
namespace {

const char* const loads_and_waits =
    ".warps 2\n.access R2 global 4 lane*4\nloop:\n"
    "[B------:R-:W0:-:S01] LDG.E R8, [R2] ;\n"
    "[B0-----:R-:W-:-:S04] FADD R4, R8, R8 ;\n"
    "[B------:R-:W-:-:S01] BRA loop ;\n";

SmResult run_text(const char* text, const SmWork& work, const MemoryEnvironment& environment = {}) {
  const Result<kernels::Program> program = kernels::parse_assembly(text, "rounds.nsass");
  EXPECT_TRUE(program) << to_string(program.errors());
  if (!program) return {};
  const arch::SmSpec& sm = sm_of("h200-sxm-141gb");
  return run_sm(decode(*program, sm), sm, {}, environment, work);
}

SmResult run_rounds(int resident, std::int64_t ctas, bool sampled, double read_bytes_per_cycle) {
  SmWork work;
  work.resident = resident;
  work.ctas = ctas;
  work.sample_ctas = sampled;
  work.trips = 5;
  work.cta_launch_latency = 100;
  work.skip_periodic = true;
  return run_text(loads_and_waits, work, {.read_bytes_per_cycle = read_bytes_per_cycle});
}

// One CTA leaves half of the sub-cores without any work.
TEST(Rounds, ThatRepeatArePassedOver) {
  for (const int resident : {1, 2}) {
    const SmResult all = run_rounds(resident, 200, false, 64), some = run_rounds(resident, 200, true, 64);
    ASSERT_TRUE(all.rounds_repeat) << resident;
    EXPECT_EQ(all.ctas, 200);
    EXPECT_LT(all.stepped_cycles, all.cycles / 5);
    EXPECT_NEAR(some.cycles + some.cta_cycles * static_cast<double>(200 - some.ctas), all.cycles, 1) << resident;
  }
}

// More is asked for than such a share of L2 brings, which leaves other fractions of a cycle with each load: no state
// comes back.
constexpr double odd_share = 1.0 / 2.718281828;

TEST(Rounds, ThatDoNotRepeatEndOnceTheirThroughputIsSteady) {
  const SmResult some = run_rounds(2, 201, true, odd_share), all = run_rounds(2, 201, false, odd_share);
  ASSERT_FALSE(some.rounds_repeat);
  EXPECT_LT(some.ctas, 40);
  EXPECT_EQ(some.ctas % 2, 1) << "the end is that of all CTAs";
  const double cycles = some.cycles + some.cta_cycles * static_cast<double>(201 - some.ctas);
  EXPECT_NEAR(cycles / all.cycles, 1, 0.01);
  const SmResult as_many = run_rounds(2, some.ctas, false, odd_share);
  EXPECT_EQ(some.cycles, as_many.cycles);
  EXPECT_EQ(some.emptied_together, as_many.emptied_together);
  EXPECT_EQ(some.counters.warp_instructions, as_many.counters.warp_instructions);
}

// Three CTAs of 50 trips in three rounds: 2,700 instructions of warps, and what lies around the loop.
SmResult run_without_repetition(double patience, double haste) {
  const char* const with_a_prologue =
      ".warps 2\n.access R2 global 4 lane*4\n"
      "[B------:R-:W-:-:S04] FADD R4, R8, R8 ;\nloop:\n"
      "[B------:R-:W0:-:S01] LDG.E R8, [R2] ;\n"
      "[B0-----:R-:W-:-:S04] FADD R4, R8, R8 ;\n"
      "[B------:R-:W-:-:S01] BRA loop ;\n";
  SmWork work;
  work.resident = 3;
  work.ctas = 9;
  work.trips = 50;
  work.skip_periodic = true;
  work.patience = patience;
  work.haste = haste;
  return run_text(with_a_prologue, work, {.read_bytes_per_cycle = odd_share});
}

TEST(Rounds, ThatCostMuchAreSteppedThroughInPartOnly) {
  const SmResult whole = run_without_repetition(0, 0);
  ASSERT_FALSE(whole.rounds_repeat);
  EXPECT_EQ(whole.stepped_warp_instructions, whole.counters.warp_instructions);
  double stepped = whole.stepped_warp_instructions;
  for (const double haste : {0.0, 1000.0}) {
    const SmResult some = run_without_repetition(500, haste);
    EXPECT_EQ(some.ctas, whole.ctas);
    EXPECT_NEAR(some.cycles / whole.cycles, 1, 0.01) << haste;
    EXPECT_NEAR(some.counters.warp_instructions / whole.counters.warp_instructions, 1, 0.01) << haste;
    EXPECT_LT(some.stepped_warp_instructions, stepped) << haste;
    stepped = some.stepped_warp_instructions;
  }
}

TEST(Rounds, WithinTheirPatienceAreSteppedThrough) {
  const SmResult whole = run_without_repetition(0, 0);
  const SmResult patient = run_without_repetition(1e4, 2e4);
  EXPECT_EQ(patient.cycles, whole.cycles);
  EXPECT_EQ(patient.stepped_warp_instructions, whole.stepped_warp_instructions);
}

}  // namespace
}  // namespace noteg::sm
