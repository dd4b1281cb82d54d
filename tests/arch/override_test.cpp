// --set arch.KEY=VALUE goes through the table that reads the files.
#include <gtest/gtest.h>

#include "arch/field.hpp"
#include "arch/load.hpp"

namespace noteg::arch {
namespace {

std::string override_mistakes(const Overrides& overrides) {
  const Result<GpuSpec> gpu = load_gpu("tiny", overrides);
  return gpu ? "" : to_string(gpu.errors());
}

TEST(Overrides, ReplaceTheNumberOfTheFile) {
  const Result<GpuSpec> gpu = load_gpu("tiny", {{"l2.size", "2 MiB"},
                                                {"arch.sms", "8"},
                                                {"sm.has_tma", "true"},
                                                {"dram.type", "HBM3"},
                                                {"sm.occupancy.shared_configs", "0 KiB, 32 KiB,100 KiB"}});
  ASSERT_TRUE(gpu) << to_string(gpu.errors());
  EXPECT_EQ(gpu->l2.size.value, 2.0 * 1024 * 1024);
  EXPECT_EQ(gpu->sms, 8);
  EXPECT_TRUE(gpu->sm.has_tma);
  EXPECT_EQ(gpu->dram.type, "HBM3");
  EXPECT_EQ(gpu->sm.occupancy.shared_configs.size(), 3U);
}

TEST(Overrides, AllMistakesInOneRun) {
  EXPECT_EQ(override_mistakes({{"l2.size", "2 GB/s"}, {"l2.sizr", "1 MiB"}, {"sms", "0"}}),
            "--set arch.l2.size: expected a size such as 36 MiB (in B, KiB, MiB, GiB, TiB, KB, MB, GB, TB), found "
            "\"2 GB/s\", which is a bandwidth\n"
            "--set arch.l2.sizr: expected a key of an architecture file, found an unknown one (did you mean l2.size?)\n"
            "--set arch.sms: expected an integer from 1 to 1024, found \"0\"\n");
}

TEST(Overrides, RulesHoldForThemToo) {
  EXPECT_EQ(override_mistakes({{"power.idle", "30 W"}}),
            "--set arch.power.idle: expected less than power.limit, found 30 W (power.limit is 20 W)\n");
}

TEST(Overrides, ARuleThatNoLongerHoldsPointsIntoTheFile) {
  const Result<GpuSpec> gpu = load_gpu("tiny", {{"power.limit", "4 W"}});
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.errors().front().key, "power.idle");
  EXPECT_GT(gpu.errors().front().line, 0);
}

TEST(Overrides, TheLastOneWins) { EXPECT_EQ(load_gpu("tiny", {{"sms", "2"}, {"sms", "3"}})->sms, 3); }

TEST(Overrides, SectionsAndIdentityCannotBeSet) {
  for (const char* key : {"l2", "names", "base", "id", "", "arch.", "sm"}) {
    EXPECT_NE(override_mistakes({{key, "1"}}), "") << key;
  }
}

TEST(Overrides, ShowAsSuch) {
  const Result<SourcedGpu> gpu = load_sourced_gpu("tiny", {{"sms", "2"}});
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->provenance[*find_field("sms")].file, "--set");
}

}  // namespace
}  // namespace noteg::arch
