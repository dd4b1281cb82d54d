// Kernels that pass over rows again and again, on an H200 (own runs; tests/data/compiled/README.md). The law of L1 was
// found beside the launches rows/*; blind/* judge it.
#include <cmath>

#include "tests/compiled/launch_checks.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& passes() { return validated("h200-sxm-141gb", "rows/h200_launches.csv"); }

TEST(RowsLaunches, TimesStayWithinTheirBounds) { expect_times_within(passes(), 0.21, 0.0545); }

TEST(RowsLaunches, ThoseThatTheLawOfL1DidNotKnowAreNoFurtherOff) {
  double off = 0;
  int blind = 0;
  for (const LaunchOutcome& each : passes().outcomes) {
    if (!each.launch.starts_with("blind/")) continue;
    off += std::abs(error_of(each));
    ++blind;
  }
  EXPECT_EQ(blind, 45);
  EXPECT_LT(off / blind, 0.068);
}

// Counters beside them: what loads find in L1, and what DRAM brings and takes.
TEST(RowsLaunches, L1AndL2KeepWhatTheyDoOnTheCard) {
  double hits_off = 0, dram_off = 0, dram = 0;
  for (std::size_t row = 0; row < passes().outcomes.size(); ++row) {
    const gpu::MemoryTraffic& m = passes().outcomes[row].run->report.memory;
    const double hit_rate = 1 - m.l2_read_bytes / (m.l1_bytes - m.l2_write_bytes);
    hits_off += std::abs(hit_rate - counted(passes(), row, "l1_hit_rate"));
    const double measured = counted(passes(), row, "dram_read_bytes") + counted(passes(), row, "dram_write_bytes");
    dram_off += std::abs(m.dram_read_bytes + m.dram_write_bytes - measured);
    dram += measured;
  }
  EXPECT_LT(hits_off / static_cast<double>(passes().outcomes.size()), 0.08);
  EXPECT_LT(dram_off / dram, 0.04);
}

}  // namespace
}  // namespace noteg::compiled
