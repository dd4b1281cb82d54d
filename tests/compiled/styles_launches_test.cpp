// Launches of an H100 (own runs; tests/data/compiled/README.md) of kernels written in other styles than those before:
// bank conflicts that vary, causal attention, a query against a cache, sorts, scans, clusters. Bounds guard what was
// reached: some of these launches showed which laws were missing.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& styles() { return validated("h100-sxm5-80gb", "h100_styles_launches.csv"); }

TEST(StylesLaunches, TimesStayWithinTheirBounds) { expect_times_within(styles(), 0.3, 0.1); }

// Each CTA has two iterations more than its neighbour, and the longest come last.
TEST(StylesLaunches, CausalAttentionTakesTheTimeOfItsSchedule) { expect_kernel_within(styles(), "a_causal128", 0.12); }

// Strides of 1 to 1024 words: one wavefront or two. The most frequent access alone would be a quarter too fast.
TEST(StylesLaunches, ConflictsThatVaryTakeTheirMean) { expect_kernel_within(styles(), "o_bitonic", 0.06); }

// Its rows would fit L1 when they are read again, but for the barrier of the cluster in between, an acquire.
TEST(StylesLaunches, AnAcquireEmptiesL1) {
  for (std::size_t i = 0; i < styles().outcomes.size(); ++i) {
    const LaunchOutcome& each = styles().outcomes[i];
    if (each.kernel != "c_norm") continue;
    EXPECT_NEAR(each.run->cold.l2_sectors, counted(styles(), i, "lts__t_sectors_srcunit_tex.sum"), 1e5);
  }
}

TEST(StylesLaunches, CountersAreThoseOfTheCard) {
  for (std::size_t i = 0; i < styles().outcomes.size(); ++i) {
    const LaunchOutcome& each = styles().outcomes[i];
    ASSERT_TRUE(each.run) << each.launch;
    const auto ratio = [&](double of, std::string_view column) { return of / counted(styles(), i, column); };
    EXPECT_NEAR(ratio(each.run->cold.warp_instructions, "smsp__inst_executed.sum"), 1, 1e-6) << each.launch;
    // 1.59 in the smallest launch, whose SMs ask for the same sectors at the same time.
    EXPECT_NEAR(ratio(each.run->cold.l2_sectors, "lts__t_sectors_srcunit_tex.sum"), 1, 0.6) << each.launch;
  }
}

}  // namespace
}  // namespace noteg::compiled
