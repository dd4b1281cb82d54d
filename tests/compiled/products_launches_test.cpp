// Launches of an H200 (own runs; tests/data/compiled/README.md) of products and attention in many styles, measured
// before the model saw them: 6.6 % off at first sight. Bounds guard what was reached then.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& products() { return validated("h200-sxm-141gb", "products/h200_launches.csv"); }

TEST(ProductLaunches, TimesStayWithinTheirBounds) { expect_times_within(products(), 0.27, 0.046); }

// Rows 144 bytes apart in shared memory: copies ask L2's port 10.5 times each, and loads of fragments wait behind them.
TEST(ProductLaunches, FragmentsWaitBehindCopies) { expect_kernel_within(products(), "v_tf32_128x64x32_s2", 0.08); }

// A third pair of loads has a guard that is false in all lanes.
TEST(ProductLaunches, LoadsThatNoLaneMakesCostNoLatency) { expect_kernel_within(products(), "v_wmma64", 0.06); }

}  // namespace
}  // namespace noteg::compiled
