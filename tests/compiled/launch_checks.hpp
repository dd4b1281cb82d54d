// Measured launches of tests/data/compiled, simulated, and the bounds that their times are held to.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "arch/load.hpp"
#include "sim/compiled/measured_launches.hpp"
#include "sim/support/text.hpp"

namespace noteg::compiled {

// The launches of a file, run once.
inline const LaunchValidation& validated(const std::string& gpu_name, const std::string& file) {
  static std::map<std::string, arch::GpuSpec> gpus;  // outcomes refer to theirs
  static std::map<std::string, LaunchValidation> done;
  const auto [known, is_new] = done.try_emplace(gpu_name + " " + file);
  if (!is_new) return known->second;
  const auto gpu = gpus.try_emplace(gpu_name, *arch::load_gpu(gpu_name, {})).first;
  Result<LaunchValidation> out =
      validate_launches(NOTEG_SOURCE_DIR "/tests/data/compiled/" + file, {&gpu->second, false, 1});
  EXPECT_TRUE(out) << to_string(out.errors());
  if (out) known->second = std::move(*out);
  return known->second;
}

// Of the predicted time: positive where it is too long.
inline double error_of(const LaunchOutcome& each) { return each.run->report.time_us / 1e3 / *each.measured_ms - 1; }

inline double counted(const LaunchValidation& all, std::size_t row, std::string_view column) {
  return parse_number(all.table.rows.at(row, *all.table.column(column))).value_or(0);
}

inline void expect_times_within(const LaunchValidation& all, double each_bound, double mean_bound) {
  ASSERT_FALSE(all.outcomes.empty());
  double sum = 0;
  for (const LaunchOutcome& each : all.outcomes) {
    ASSERT_TRUE(each.run) << each.launch << ": " << each.skipped;
    const double off = std::abs(error_of(each));
    EXPECT_LE(off, each_bound) << each.launch;
    sum += off;
  }
  EXPECT_LE(sum / static_cast<double>(all.outcomes.size()), mean_bound);
}

// Those that cannot be followed are timed as if fewer were there.
inline void expect_barriers_followed(const LaunchValidation& all) {
  for (const LaunchOutcome& each : all.outcomes) {
    ASSERT_TRUE(each.run) << each.launch;
    for (const std::string& text : each.run->assumptions)
      EXPECT_EQ(text.find("could not be followed"), std::string::npos) << each.launch << ": " << text;
  }
}

// Of the launches of one kernel.
inline void expect_kernel_within(const LaunchValidation& all, std::string_view kernel, double bound) {
  int launches = 0;
  for (const LaunchOutcome& each : all.outcomes) {
    if (each.kernel != kernel) continue;
    ++launches;
    EXPECT_NEAR(error_of(each), 0, bound) << each.launch;
  }
  EXPECT_GT(launches, 0) << kernel;
}

// bound_of(outcome): how far off executed warp instructions may be, as a share.
template <class BoundOf>
void expect_instructions_within(const LaunchValidation& all, BoundOf bound_of) {
  for (std::size_t i = 0; i < all.outcomes.size(); ++i) {
    const LaunchOutcome& each = all.outcomes[i];
    ASSERT_TRUE(each.run) << each.launch;
    EXPECT_NEAR(each.run->cold.warp_instructions / counted(all, i, "smsp__inst_executed.sum"), 1, bound_of(each))
        << each.launch;
  }
}

}  // namespace noteg::compiled
