// The emulation against Nsight Compute's counters of an H200: executed instructions are exact.
#include <gtest/gtest.h>

#include <map>

#include "kernels/compiled/profile.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

namespace noteg::compiled {
namespace {

const std::string folder = NOTEG_SOURCE_DIR "/tests/data/compiled/";

std::map<std::string, Profile> profiles() {
  std::map<std::string, Profile> out;
  const auto listing = read_listing(folder + "own_sm90a.sass.gz");
  const auto rows = read_csv(folder + "h200_launches.csv");
  EXPECT_TRUE(listing && rows);
  const auto field = [&](std::size_t row, std::string_view name) { return rows->rows.at(row, *rows->column(name)); };
  for (std::size_t i = 0; i < rows->rows.size(); ++i) {
    const auto launch =
        launch_from_row({field(i, "kernel"), field(i, "grid"), field(i, "block"), field(i, "dynamic_shared"),
                         field(i, "args"), field(i, "static_shared"), field(i, "regs")},
                        "rows.csv", rows->lines[i]);
    EXPECT_TRUE(launch);
    const LaunchMemory memory(*launch, listing->sm);
    Result<Profile> profile = noteg::compiled::profile(*listing, **listing->kernel(launch->kernel), *launch, memory);
    EXPECT_TRUE(profile);
    if (const auto measured = noteg::parse_number(field(i, "smsp__inst_executed.sum"))) {
      EXPECT_EQ(profile->warp_instructions(), *measured) << field(i, "launch");
    }
    out.emplace(field(i, "launch"), std::move(*profile));
  }
  return out;
}

TEST(MeasuredCounts, ExecutedInstructionsWavefrontsAndSectorsAreThoseOfTheCounters) {
  const std::map<std::string, Profile> all = profiles();
  const auto rows = read_csv(folder + "h200_instructions.csv");
  ASSERT_TRUE(rows);
  const auto number = [&](std::size_t row, std::string_view name) {
    return noteg::parse_number(rows->rows.at(row, *rows->column(name))).value_or(0);
  };
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < rows->rows.size(); ++i) {
    const Profile& profile = all.at(std::string(rows->rows.at(i, *rows->column("launch"))));
    const auto at =
        static_cast<std::size_t>(std::stoul(std::string(rows->rows.at(i, *rows->column("address"))), nullptr, 16) / 16);
    const InstructionCounts& counts = profile.counts.at(at);
    EXPECT_EQ(counts.warps, number(i, "warp_instructions"));
    EXPECT_EQ(counts.threads, number(i, "thread_instructions"));
    EXPECT_EQ(counts.wavefronts, number(i, "shared_wavefronts"));
    wrong += counts.sectors != number(i, "l2_sectors_theoretical") ? 1 : 0;
  }
  EXPECT_LE(wrong, 1u);  // of the gather: its indices are random, and others than those that were measured
}

// sm_100 writes two predicates more beside a minimum; a quotient behind one decides how a loop is unrolled.
TEST(Profile, OfBlackwellDecidesEachBranch) {
  const auto listing = read_listing(folder + "quant4_sm100a.sass.gz");
  ASSERT_TRUE(listing);
  const auto launch =
      launch_from_row({"quant4", "592x1x1", "256x1x1", "0",
                       "i=1184 i=4096 p=in:9699328:u8 p=g:4:f32 p=out:2424832:zero p=sf:368640:zero", "0", "32"},
                      "rows.csv", 1);
  ASSERT_TRUE(launch) << to_string(launch.errors());
  const LaunchMemory memory(*launch, listing->sm);
  const Result<Profile> all = noteg::compiled::profile(*listing, **listing->kernel("quant4"), *launch, memory);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->assumptions.empty()) << all->assumptions.front();
}

}  // namespace
}  // namespace noteg::compiled
