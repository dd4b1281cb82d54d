// A GPU without the constants that were fitted on its own rows, and products of generations that are not modelled.
#include "arch/derive.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "arch/field.hpp"

namespace noteg::arch {
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
