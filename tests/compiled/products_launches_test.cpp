// Launches of an H200 (own runs; tests/data/compiled/README.md) of products and attention in many styles, measured
// before the model saw them: 6.6 % off at first sight. Bounds guard what was reached then.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& products() {
  static const LaunchValidation all = validated("h200-sxm-141gb", "products/h200_launches.csv");
  return all;
}

TEST(ProductLaunches, TimesStayWithinTheirBounds) { expect_times_within(products(), 0.27, 0.0616); }

// Rows 144 bytes apart in shared memory: copies ask L2's port 10.5 times each, and loads of fragments wait behind them.
TEST(ProductLaunches, FragmentsWaitBehindCopies) {
  for (const LaunchOutcome& each : products().outcomes) {
    if (!each.kernel.starts_with("v_tf32")) continue;
    EXPECT_NEAR(error_of(each), 0, 0.08) << each.launch;
  }
}

// A third pair of loads has a guard that is false in all lanes.
TEST(ProductLaunches, LoadsThatNoLaneMakesCostNoLatency) {
  for (const LaunchOutcome& each : products().outcomes) {
    if (each.kernel != "v_wmma64") continue;
    EXPECT_NEAR(error_of(each), 0, 0.06) << each.launch;
  }
}

}  // namespace
}  // namespace noteg::compiled
