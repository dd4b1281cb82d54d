// Launches of an H200 (own runs; tests/data/compiled/README.md): stencils, convolutions, a naive product, small batched
// products, rotations. Some helped to find the laws of L1, so they guard what was reached and judge nothing.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& unseen() { return validated("h200-sxm-141gb", "h200_unseen_launches.csv"); }

TEST(UnseenLaunches, TimesStayWithinTheirBounds) { expect_times_within(unseen(), 0.12, 0.0415); }

TEST(UnseenLaunches, CountersAreThoseOfTheCard) {
  for (std::size_t i = 0; i < unseen().outcomes.size(); ++i) {
    const LaunchOutcome& each = unseen().outcomes[i];
    ASSERT_TRUE(each.run) << each.launch;
    const auto ratio = [&](double of, std::string_view column) { return of / counted(unseen(), i, column); };
    EXPECT_NEAR(ratio(each.run->cold.warp_instructions, "smsp__inst_executed.sum"), 1, 0.001) << each.launch;
    EXPECT_NEAR(ratio(each.run->cold.dram_read_bytes, "dram__bytes_read.sum"), 1, 0.12) << each.launch;
    EXPECT_NEAR(ratio(each.run->cold.l2_sectors, "lts__t_sectors_srcunit_tex.sum"), 1, 0.3) << each.launch;
  }
}

TEST(MoreLaunches, TimesStayWithinTheirBounds) {
  expect_times_within(validated("h200-sxm-141gb", "h200_more_launches.csv"), 0.36, 0.0765);
}

// Four CTAs and more store to each sector of scales; each of them is written back once.
// A launch takes 0.8 us on an H100 since that is measured: 1.6 % of the shortest one, which is 15.5 % too slow.
TEST(Quant4Launches, TimesStayWithinTheirBounds) {
  expect_times_within(validated("h100-sxm5-80gb", "h100_quant4_launches.csv"), 0.16, 0.09);
}

}  // namespace
}  // namespace noteg::compiled
