// Launches of an H200 (own runs; tests/data/compiled/README.md) of bulk copies, warpgroup products and clusters,
// measured before the model saw them: 20.7 % off at first sight. Bounds guard what was reached then.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& bulk() { return validated("h200-sxm-141gb", "bulk/h200_launches.csv"); }

TEST(BulkLaunches, TimesStayWithinTheirBounds) { expect_times_within(bulk(), 0.28, 0.067); }

// Consumers free a stage for a peer behind a memory barrier of GPU scope, in each step.
TEST(BulkLaunches, ArrivalsAtAPeerWaitForAMemoryBarrier) { expect_kernel_within(bulk(), "z_cl64x128s6", 0.14); }

// Each round reads a peer's shared memory eight times and ends at a barrier of the cluster.
TEST(BulkLaunches, PeersAnswerLaterThanTheOwnSm) { expect_kernel_within(bulk(), "z_ring", 0.23); }

}  // namespace
}  // namespace noteg::compiled
