// Rounds of CTAs that repeat exactly are passed over; where they do not, a run may end after as many CTAs as the work
// calls enough, or with one CTA that has a single trip, or pass over trips that are but nearly alike once it has lost
// its patience.
#include <gtest/gtest.h>

#include "kernels/assembly.hpp"
#include "tests/core/micro_kernel.hpp"

namespace noteg::core {
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

SmResult run_rounds(int resident, std::int64_t ctas, std::int64_t enough, double read_bytes_per_cycle) {
  SmWork work;
  work.resident = resident;
  work.ctas = ctas;
  work.enough = enough;
  work.trips = 5;
  work.relaunch = 100;
  work.skip_periodic = true;
  return run_text(loads_and_waits, work, {.read_bytes_per_cycle = read_bytes_per_cycle});
}

// One CTA leaves half of the sub-cores without any work.
TEST(Rounds, ThatRepeatAreAllRun) {
  for (const int resident : {1, 2}) {
    const SmResult some = run_rounds(resident, 200, 12, 64), all = run_rounds(resident, 200, 0, 64);
    ASSERT_TRUE(all.rounds_repeat) << resident;
    EXPECT_EQ(some.ctas, 200);
    EXPECT_EQ(some.cycles, all.cycles);
    EXPECT_EQ(some.counters.warp_instructions, all.counters.warp_instructions);
    EXPECT_LT(all.stepped_cycles, all.cycles / 5);
  }
}

// More is asked for than such a share of L2 brings, which leaves other fractions of a cycle with each load: no state
// comes back.
constexpr double odd_share = 1.0 / 2.718281828;

TEST(Rounds, ThatDoNotRepeatEndWithWhatIsEnough) {
  const SmResult some = run_rounds(2, 200, 12, odd_share), twelve = run_rounds(2, 12, 0, odd_share);
  ASSERT_FALSE(some.rounds_repeat);
  EXPECT_EQ(some.ctas, 12);
  EXPECT_EQ(some.cycles, twelve.cycles);
  EXPECT_EQ(some.cta_cycles, twelve.cta_cycles);
  EXPECT_GT(some.cta_cycles, 0);
  EXPECT_EQ(some.emptied_together, twelve.emptied_together);
  EXPECT_EQ(some.counters.warp_instructions, twelve.counters.warp_instructions);
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

// Among others that go on for ever, on the sub-cores that slot 2 shares with slot 0.
TEST(Rounds, EndWithTheirBriefCta) {
  SmWork work;
  work.resident = 3;
  work.ctas = 3;
  work.trips = std::int64_t{1} << 20;
  work.brief_slot = 2;
  const SmResult among = run_text(loads_and_waits, work);
  work.resident = 1;
  work.ctas = 1;
  work.brief_slot = 0;
  const SmResult alone = run_text(loads_and_waits, work);
  EXPECT_EQ(alone.counters.warp_instructions, 2 * (3 + 1));  // with EXIT
  EXPECT_GE(among.cycles, alone.cycles);
  EXPECT_LT(among.counters.warp_instructions, 3.1 * alone.counters.warp_instructions);
}

}  // namespace
}  // namespace noteg::core
