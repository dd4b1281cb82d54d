// Launches of kernels of public libraries on an H200 (own runs; tests/data/compiled/README.md), measured before the
// model saw them. Bounds guard what was reached then.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& all() { return validated("h200-sxm-141gb", "public/h200_launches.csv"); }

const LaunchOutcome& launch(std::string_view name) {
  const auto at = std::ranges::find(all().outcomes, name, &LaunchOutcome::launch);
  if (at == all().outcomes.end()) throw std::invalid_argument(std::string(name));
  return *at;
}

TEST(PublicLaunches, TimesStayWithinTheirBounds) { expect_times_within(all(), 0.54, 0.071); }
TEST(PublicLaunches, TimesOfBenchmarksToo) {
  expect_times_within(validated("h200-sxm-141gb", "hecbench/h200_launches.csv"), 0.69, 0.113);
}

// Kernels that serve language models. Barriers of all of them are followed.
const LaunchValidation& serving() { return validated("h200-sxm-141gb", "serving/h200_launches.csv"); }

TEST(ServingLaunches, TimesStayWithinTheirBounds) { expect_times_within(serving(), 0.34, 0.089); }
TEST(ServingLaunches, BarriersAreFollowed) {
  for (const LaunchOutcome& each : serving().outcomes)
    for (const std::string& text : each.run->assumptions)
      EXPECT_EQ(text.find("could not be followed"), std::string::npos) << each.launch << ": " << text;
}

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
