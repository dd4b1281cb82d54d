// Launches of an H100 (own runs; tests/data/compiled/README.md) in the manner of libraries, which the model had not
// seen: a triangle of tiles, gathers by coordinates, lists filled by counters, ciphers, attention. Bounds guard what
// was reached; the worst of these are a scan in which CTAs wait for one another and a scatter of words.
#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& library() { return validated("h100-sxm5-80gb", "h100_library_launches.csv"); }

TEST(LibraryLaunches, TimesStayWithinTheirBounds) { expect_times_within(library(), 0.46, 0.0625); }

// But for a scan that polls, slow paths of square roots, and a large triangle, of which a part is run.
TEST(LibraryLaunches, InstructionsAreThoseOfTheCard) {
  expect_instructions_within(library(), [](const LaunchOutcome& each) {
    if (each.launch == "y_nms/8192") return 0.03;
    // How often a CTA looks for what others have not written yet is not known: the card executes a sixth more.
    return each.kernel == "y_lookback" ? 0.17 : each.kernel == "y_adam" ? 0.004 : 0.001;
  });
}

}  // namespace
}  // namespace noteg::compiled
