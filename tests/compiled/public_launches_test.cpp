// Launches of kernels of public libraries on an H200 (own runs; tests/data/compiled/README.md), measured before the
// model saw them. Bounds guard what was reached then.
#include <numeric>

#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& all() { return validated("h200-sxm-141gb", "public/h200_launches.csv"); }

const LaunchOutcome& launch(std::string_view name) {
  const auto at = std::ranges::find(all().outcomes, name, &LaunchOutcome::launch);
  if (at == all().outcomes.end()) throw std::invalid_argument(std::string(name));
  return *at;
}

TEST(PublicLaunches, TimesStayWithinTheirBounds) { expect_times_within(all(), 0.24, 0.049); }
TEST(PublicLaunches, TimesOfBenchmarksToo) {
  expect_times_within(validated("h200-sxm-141gb", "hecbench/h200_launches.csv"), 0.48, 0.076);
  expect_times_within(validated("h200-sxm-141gb", "hecbench/h200_second_launches.csv"), 0.2, 0.061);
}

TEST(PublicLaunches, TimesOfAttentionToo) {
  expect_times_within(validated("h200-sxm-141gb", "attention/h200_launches.csv"), 0.285, 0.082);
}

TEST(PublicLaunches, TimesOfInferenceToo) {
  expect_times_within(validated("h200-sxm-141gb", "inference/h200_launches.csv"), 0.61, 0.056);
}

// Kernels that serve language models. Barriers of all of them are followed.
const LaunchValidation& serving() { return validated("h200-sxm-141gb", "serving/h200_launches.csv"); }

TEST(ServingLaunches, TimesStayWithinTheirBounds) { expect_times_within(serving(), 0.34, 0.0595); }

TEST(ServingLaunches, EnergyIsPowerTimesTimePhasesSumToTheTimeAndAllWorkIsCounted) {
  for (const LaunchOutcome& each : serving().outcomes) {
    ASSERT_TRUE(each.run) << each.launch;
    const gpu::SimReport& r = each.run->report;
    const double energy = std::accumulate(r.energy_stack_mj.begin(), r.energy_stack_mj.end(), 0.0);
    EXPECT_NEAR(r.energy_mj, energy, 1e-9 * energy) << each.launch;
    EXPECT_NEAR(r.energy_mj, 1e-3 * r.power_w * r.time_us, 1e-9 * energy) << each.launch;
    const gpu::Phases& p = r.phases_us;
    EXPECT_NEAR(p.launch + p.prologue + p.mainloop + p.epilogue + p.tail, r.time_us, 1e-6 * r.time_us) << each.launch;
    EXPECT_NEAR(r.cycles, r.time_us * r.sm_clock_mhz, 1e-9 * r.cycles) << each.launch;
    EXPECT_LE(r.pct_of_peak, 100) << each.launch;
    const double executed = each.run->cold.warp_instructions;
    EXPECT_NEAR(r.warp_instructions, executed, 1e-9 * executed) << each.launch;
  }
}

TEST(ServingLaunches, BarriersAreFollowed) { expect_barriers_followed(serving()); }

// A CTA that lets dependents start takes as long again of who launches CTAs.
TEST(PublicLaunches, DependentsThatMayStartTakeTheirTime) {
  for (const char* name : {"gg_elem/0", "gg_elem/5", "gg_elem/7", "gg_quant_cpy/5", "gg_norm_soft/5"})
    EXPECT_NEAR(error_of(launch(name)), 0, 0.04) << name;
}

// Lanes write pieces of sectors one after the other.
TEST(PublicLaunches, PiecesOfSectorsGoToL2Together) {
  for (const char* name : {"gg_convert/6", "gg_rope_rows/6", "gg_rope_rows/7"})
    EXPECT_NEAR(error_of(launch(name)), 0, 0.18) << name;
}

// How far a CTA goes lies in local memory for a while: registers were spilled. Counted: smsp__inst_executed.sum.
TEST(PublicLaunches, SpilledRegistersTellCtasApart) {
  EXPECT_NEAR(launch("fa_hdim128_causal/0").run->cold.warp_instructions, 9982720, 1);
  EXPECT_NEAR(launch("fa_hdim128_causal/1").run->cold.warp_instructions, 65973632, 65);
}

}  // namespace
}  // namespace noteg::compiled
