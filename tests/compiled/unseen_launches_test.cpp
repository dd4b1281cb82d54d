// Launches of an H200 (own runs; tests/data/compiled/README.md): stencils, convolutions, a naive product, small batched
// products, rotations. Some helped to find the laws of L1, so they guard what was reached and judge nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "arch/load.hpp"
#include "sim/compiled/measured_launches.hpp"
#include "sim/support/text.hpp"

namespace noteg::compiled {
namespace {

const LaunchValidation& unseen() {
  static const LaunchValidation all = [] {
    static const arch::GpuSpec gpu = *arch::load_gpu("h200-sxm-141gb", {});
    Result<LaunchValidation> out =
        validate_launches(NOTEG_SOURCE_DIR "/tests/data/compiled/h200_unseen_launches.csv", {&gpu, false, 1});
    EXPECT_TRUE(out) << to_string(out.errors());
    return std::move(*out);
  }();
  return all;
}

double measured(std::size_t row, std::string_view column) {
  const CsvTable& table = unseen().table;
  return parse_number(table.rows.at(row, *table.column(column))).value_or(0);
}

TEST(UnseenLaunches, TimesStayWithinTheirBounds) {
  double sum = 0;
  for (const LaunchOutcome& each : unseen().outcomes) {
    ASSERT_TRUE(each.run) << each.launch << ": " << each.skipped;
    const double off = std::abs(each.run->report.time_us / 1e3 / *each.measured_ms - 1);
    EXPECT_LE(off, 0.4) << each.launch;
    sum += off;
  }
  EXPECT_LE(sum / static_cast<double>(unseen().outcomes.size()), 0.16);
}

TEST(UnseenLaunches, CountersAreThoseOfTheCard) {
  for (std::size_t i = 0; i < unseen().outcomes.size(); ++i) {
    const LaunchOutcome& each = unseen().outcomes[i];
    ASSERT_TRUE(each.run) << each.launch;
    const auto ratio = [&](double of, std::string_view column) { return of / measured(i, column); };
    EXPECT_NEAR(ratio(each.run->cold.warp_instructions, "smsp__inst_executed.sum"), 1, 0.001) << each.launch;
    EXPECT_NEAR(ratio(each.run->cold.dram_read_bytes, "dram__bytes_read.sum"), 1, 0.12) << each.launch;
    EXPECT_NEAR(ratio(each.run->cold.l2_sectors, "lts__t_sectors_srcunit_tex.sum"), 1, 0.3) << each.launch;
  }
}

TEST(MoreLaunches, TimesStayWithinTheirBounds) {
  static const arch::GpuSpec gpu = *arch::load_gpu("h200-sxm-141gb", {});
  const Result<LaunchValidation> all =
      validate_launches(NOTEG_SOURCE_DIR "/tests/data/compiled/h200_more_launches.csv", {&gpu, false, 1});
  ASSERT_TRUE(all) << to_string(all.errors());
  double sum = 0;
  for (const LaunchOutcome& each : all->outcomes) {
    ASSERT_TRUE(each.run) << each.launch << ": " << each.skipped;
    const double off = std::abs(each.run->report.time_us / 1e3 / *each.measured_ms - 1);
    EXPECT_LE(off, 0.4) << each.launch;
    sum += off;
  }
  EXPECT_LE(sum / static_cast<double>(all->outcomes.size()), 0.14);
}

// Four CTAs and more store to each sector of scales; each of them is written back once.
TEST(Quant4Launches, TimesStayWithinTheirBounds) {
  static const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb", {});
  const Result<LaunchValidation> all =
      validate_launches(NOTEG_SOURCE_DIR "/tests/data/compiled/h100_quant4_launches.csv", {&gpu, false, 1});
  ASSERT_TRUE(all) << to_string(all.errors());
  double sum = 0;
  for (const LaunchOutcome& each : all->outcomes) {
    ASSERT_TRUE(each.run) << each.launch << ": " << each.skipped;
    const double off = std::abs(each.run->report.time_us / 1e3 / *each.measured_ms - 1);
    EXPECT_LE(off, 0.15) << each.launch;
    sum += off;
  }
  EXPECT_LE(sum / static_cast<double>(all->outcomes.size()), 0.09);
}

}  // namespace
}  // namespace noteg::compiled
