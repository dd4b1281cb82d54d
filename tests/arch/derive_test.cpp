#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "arch/derive.hpp"
#include "arch/field.hpp"
#include "arch/print.hpp"

namespace noteg::arch {

namespace {

SourcedGpu whole() { return *load_sourced_gpu("h100-sxm5-80gb"); }

TEST(ScaledGpu, HasAShareOfWhatIsSharedAndTheSmAsItIs) {
  const SourcedGpu h100 = whole();
  const Result<SourcedGpu> lite = scaled_gpu(h100, *factor_from("1/4"));
  ASSERT_TRUE(lite) << to_string(lite.errors());
  const GpuSpec &g = h100.gpu, &q = lite->gpu;
  EXPECT_EQ(q.sms, 33);
  EXPECT_DOUBLE_EQ(q.l2.size.value * 4, g.l2.size.value);
  EXPECT_DOUBLE_EQ(q.dram.bandwidth.value * 4, g.dram.bandwidth.value);
  EXPECT_EQ(q.dram.bus_bits * 4, g.dram.bus_bits);
  EXPECT_DOUBLE_EQ(q.power.limit.value * 4, g.power.limit.value);
  EXPECT_DOUBLE_EQ(q.power.thermal_resistance.value, g.power.thermal_resistance.value * 4) << "as warm at the limit";
  EXPECT_EQ(q.l2.partitions, 1);
  EXPECT_DOUBLE_EQ(q.l2.far_latency.value, q.l2.latency.value);
  EXPECT_TRUE(q.sm == g.sm);
}

TEST(ScaledGpu, MarksWhatChangedAsDerived) {
  const Result<SourcedGpu> lite = scaled_gpu(whole(), *factor_from("1/4"));
  for (const char* key : {"sms", "l2.size", "dram.bandwidth", "power.limit"}) {
    const Provenance& from = lite->provenance[*find_field(key)];
    EXPECT_EQ(from.source, "DERIVED: 1/4 of the H100 SXM5 80GB") << key;
    EXPECT_FALSE(from.guess.empty()) << key;
  }
}

TEST(ScaledGpu, ReadsBackFromItsFile) {
  const Result<SourcedGpu> lite =
      scaled_gpu(*load_sourced_gpu("h100-sxm5-80gb", {{"clock.boost", "2.1 GHz"}}), *factor_from("0.5"));
  ASSERT_TRUE(lite);
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "noteg_scaled_gpu.yaml";
  std::ofstream(file) << to_yaml(*lite, "half");
  const Result<SourcedGpu> read = load_sourced_gpu(file.string());
  std::filesystem::remove(file);
  ASSERT_TRUE(read) << to_string(read.errors());
  for (const Field& field : fields()) EXPECT_EQ(field.get(read->gpu), field.get(lite->gpu)) << field.key;
}

TEST(ScaledGpu, LeavesNoFractionOfAnSm) {
  const Result<SourcedGpu> fifth = scaled_gpu(whole(), *factor_from("1/5"));
  ASSERT_FALSE(fifth);
  EXPECT_NE(to_string(fifth.errors()).find("26/132 or 27/132"), std::string::npos) << to_string(fifth.errors());
}

TEST(Factor, IsAFractionOrANumber) {
  EXPECT_DOUBLE_EQ(factor_from("1/4")->value, 0.25);
  EXPECT_DOUBLE_EQ(factor_from("2")->value, 2);
  for (const char* wrong : {"", "1/0", "a", "-1", "100", "1/1000", "1/4/2"}) EXPECT_FALSE(factor_from(wrong)) << wrong;
}

}  // namespace

// A GPU without the constants that were fitted on its own rows, and products of generations that are not modelled.

namespace {

bool names(const Overrides& overrides, std::string_view key) {
  return std::ranges::any_of(overrides, [&](const auto& each) { return each.first == key; });
}

TEST(LeaveOut, TakesBackWhatWasFittedOnTheGpuAlone) {
  const Result<Overrides> a100 = without_own_fits("A100-SXM4-80GB"), h200 = without_own_fits("NVIDIA H200");
  ASSERT_TRUE(a100 && h200);
  EXPECT_TRUE(names(*a100, "sm.energy.tensor"));
  EXPECT_TRUE(names(*h200, "sm.energy.fma"));
  EXPECT_FALSE(names(*a100, "sm.energy.fma"));
  EXPECT_TRUE(without_own_fits("a40")->empty());
  EXPECT_TRUE(without_own_fits("rtx4090")->empty());
}

TEST(LeaveOut, GivesValuesThatTheFilesTake) {
  for (const std::string& id : list_gpu_ids()) {
    const Result<Overrides> overrides = without_own_fits(id);
    ASSERT_TRUE(overrides) << id;
    const Result<GpuSpec> gpu = load_gpu(id, *overrides);
    EXPECT_TRUE(gpu) << id << ' ' << to_string(gpu.errors());
  }
}

TEST(LeaveOut, GenerationsThatAreNotModelledSayWhy) {
  for (const auto& [name, generation] :
       {std::pair{"t4", "sm_75"}, {"Tesla T4", "sm_75"}, {"Tesla V100-SXM2-32GB", "sm_70"}}) {
    const Result<GpuSpec> gpu = load_gpu(name);
    ASSERT_FALSE(gpu) << name;
    EXPECT_NE(to_string(gpu.errors()).find(generation), std::string::npos) << to_string(gpu.errors());
  }
}

}  // namespace

}  // namespace noteg::arch
