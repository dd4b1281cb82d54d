// Layers of experts: histograms, the sum of a grouped product's tiles, bounds.
#include "sim/operators/expert_layer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "arch/load.hpp"

namespace noteg::operators {
namespace {

const arch::GpuSpec& h100() {
  static const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb", {});
  return gpu;
}

std::int64_t sum(const Histogram& loads) { return std::accumulate(loads.begin(), loads.end(), std::int64_t{0}); }

TEST(Routing, DealsOutEveryChoice) {
  for (const Routing routing : {Routing::balanced, Routing::power_law})
    for (const std::int64_t tokens : {1, 7, 512, 16384}) {
      const Histogram loads = route(tokens, 128, 8, routing);
      EXPECT_EQ(sum(loads), tokens * 8);
      EXPECT_LE(*std::ranges::max_element(loads), tokens);  // an expert takes a token once
    }
}

TEST(Routing, ByAPowerLawIsUneven) {
  const Histogram even = route(4096, 64, 4, Routing::balanced), uneven = route(4096, 64, 4, Routing::power_law);
  EXPECT_EQ(*std::ranges::max_element(even), *std::ranges::min_element(even));
  EXPECT_GT(*std::ranges::max_element(uneven), 20 * *std::ranges::min_element(uneven));
}

TEST(GroupedGemm, HasTheTilesOfEachExpert) {
  GroupedGemm gemm{expert_config(64, kernels::DataType::bf16), 1024, 2048, {1, 64, 65, 0, 130}};
  gpu::SmCache cache;
  const Result<gpu::KernelLaunch> launch = grouped_launch(h100(), gemm, gpu::L2State::warm, cache);
  ASSERT_TRUE(launch) << to_string(launch.errors());
  EXPECT_EQ(launch->geometry.ctas, (1 + 1 + 2 + 0 + 3) * (1024 / 64));
  EXPECT_DOUBLE_EQ(launch->arithmetic.operations, 2.0 * 260 * 1024 * 2048);
}

// As many reads more as lines of A's tiles lie in pages that are not translated: none within reach, 1.3 a line of the
// 64 of a tile far beyond, beside the 128 reads of both tiles.
TEST(GroupedGemm, WaitsForTranslationWhereItsRowsLieFurtherApartThanTranslationReaches) {
  arch::GpuSpec gpu = h100();
  gpu.l2.translation_reach = Bytes{32e6};
  gpu.l2.translation_reads = 1.3;
  GroupedGemm gemm{early_expert_config(4096, 8, kernels::DataType::bf16), 2048, 4096, Histogram(8, 1024), 3906};
  gpu::SmCache cache;
  const auto beats = [&] { return grouped_launch(gpu, gemm, gpu::L2State::warm, cache)->traffic.read_beats; };
  const double within = beats();
  gemm.rows_read = 3907;  // 32.005 MB
  EXPECT_GT(beats(), within);
  EXPECT_LT(beats(), 1.001 * within);
  gemm.rows_read = 1e12;
  EXPECT_NEAR(beats() / within, 1 + 1.3 * 64 / 128, 1e-6);
}

TEST(ExpertLayer, TakesNoLessThanItsWeightsTakeInDram) {
  const Result<ExpertLayer> layer =
      expert_layer_from("tokens=64 experts=64 topk=4 hidden=4096 intermediate=1024 routing=balanced");
  ASSERT_TRUE(layer) << to_string(layer.errors());
  gpu::SimOptions options;
  gpu::SmCache cache;
  const Result<std::vector<Step>> steps = simulate_experts(h100(), *layer, options, cache);
  ASSERT_TRUE(steps) << to_string(steps.errors());
  double time_us = 0;
  for (const Step& step : *steps) time_us += step.report.time_us;
  const double weights = 2.0 * 64 * 3 * 1024 * 4096;
  EXPECT_GT(time_us, weights / h100().dram.bandwidth.value * 1e6);
  EXPECT_LT(time_us, 2.5 * weights / h100().dram.bandwidth.value * 1e6);
}

// 232 numbers are 29 vectors of 16 bytes, but no multiple of 16 numbers: Triton then reads each on its own.
TEST(ExpertLayer, PaysForStridesThatSixteenDoesNotDivide) {
  const auto second_product = [](const std::string& intermediate) {
    gpu::SmCache cache;
    const auto steps = simulate_experts(
        h100(), *expert_layer_from("tokens=512 experts=16 topk=4 hidden=2048 intermediate=" + intermediate), {}, cache);
    const auto found = std::ranges::find(*steps, std::string_view("second product"), &Step::name);
    return found->report.time_us;
  };
  EXPECT_GT(second_product("232"), 1.5 * second_product("240"));
  EXPECT_NEAR(second_product("256"), second_product("240"), 0.2 * second_product("240"));
}

TEST(ExpertLayer, ReadsAHistogramAndReportsAllMistakes) {
  const Result<ExpertLayer> layer = expert_layer_from("tokens=9 topk=1 hidden=64 intermediate=64 loads=2:0:7");
  ASSERT_TRUE(layer) << to_string(layer.errors());
  EXPECT_EQ(layer->loads, (Histogram{2, 0, 7}));
  const Result<ExpertLayer> wrong = expert_layer_from("tokens=0 hidden=64 routing=even experts=8 colour=1");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.errors().size(), 5u);  // three wrong words, topk and intermediate missing
  const Result<ExpertLayer> twice =
      expert_layer_from("tokens=9 tokens=10 topk=1 hidden=64 intermediate=64 loads=2:0:7");
  ASSERT_FALSE(twice);
  EXPECT_NE(to_string(twice.errors()).find("tokens: expected it once, found it again"), std::string::npos);
}

}  // namespace
}  // namespace noteg::operators
