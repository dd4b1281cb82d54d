#include "sim/compare/compare.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace noteg::compare {
namespace {

kernels::KernelConfig sgemm() {
  kernels::KernelConfig kernel;
  kernel.family = kernels::Family::simt;
  kernel.tile = {64, 64, 8};
  return kernel;
}

Result<Comparison> compared(const std::vector<std::string>& gpus, unsigned jobs,
                            const kernels::KernelConfig& kernel = sgemm()) {
  gpu::SmCache cache;
  CompareOptions options;
  options.jobs = jobs;
  return compare(
      *load_variants(gpus, {}), [&](const arch::GpuSpec&) { return kernel; }, {512, 512, 128, 1}, options, cache);
}

TEST(Compare, TheWaterfallEndsAtTheOtherGpusOwnTime) {
  const Result<Comparison> result = compared({"l4", "a100-pcie-40gb", "l4:l2.size=24MiB"}, 1);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->waterfalls.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Waterfall& w = result->waterfalls[i];
    EXPECT_EQ(w.from_us, result->reports[0].time_us);
    EXPECT_EQ(w.steps.back().time_us, result->reports[i + 1].time_us);
    double product = 1;
    for (const Step& step : w.steps) product *= step.ratio;
    EXPECT_NEAR(product * w.from_us / w.to_us, 1, 8 * std::numeric_limits<double>::epsilon());
  }
}

// The machine with all of the other side's groups is the other side: were a field forgotten, the times would differ.
TEST(Compare, AllGroupsTogetherRunAsTheOtherGpu) {
  gpu::SmCache cache;
  arch::GpuSpec gpu = *arch::load_gpu("l4");
  const arch::GpuSpec other = *arch::load_gpu("h200-sxm-141gb");
  for (std::size_t i = 0; i < arch::field_group_count; ++i)
    arch::take_group(gpu, other, static_cast<arch::FieldGroup>(i));
  const kernels::GemmShape shape{512, 512, 128, 1};
  EXPECT_EQ(gpu::simulate(gpu, sgemm(), shape, {}, cache)->time_us,
            gpu::simulate(other, sgemm(), shape, {}, cache)->time_us);
}

TEST(Compare, TheSameBytesForAnyNumberOfJobs) {
  const std::vector<std::string> gpus{"l4", "rtx4070", "l4:sms=40"};
  EXPECT_EQ(to_json(*compared(gpus, 1)), to_json(*compared(gpus, 4)));
}

TEST(Compare, TextStaysWithinItsMarginAndNamesWhatDiffers) {
  const Result<Comparison> result =
      compared({"h200-sxm-141gb", "a100-pcie-40gb", "l4", "h200-sxm-141gb:l2.size=24MiB", "rtx4070", "l40s"}, 2);
  ASSERT_TRUE(result);
  const std::string text = to_text(*result);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 100U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
  EXPECT_NE(text.find("what if  h200-sxm-141gb (2): l2.size=24MiB"), std::string::npos);
  EXPECT_NE(text.find("power.limit"), std::string::npos);
  EXPECT_EQ(text.find("l2.sector "), std::string::npos);  // the same everywhere
}

TEST(Compare, JsonHoldsWhatSimulatePrintsOfEachGpu) {
  const nlohmann::json json = nlohmann::json::parse(to_json(*compared({"l4", "l4:l2.size=24MiB"}, 1)));
  ASSERT_EQ(json["gpus"].size(), 2U);
  EXPECT_EQ(json["gpus"][1]["what_if"], "l2.size=24MiB");
  EXPECT_TRUE(json["gpus"][0].contains("stalls"));
  ASSERT_EQ(json["differences"].size(), 1U);
  EXPECT_EQ(json["differences"][0]["values"]["l4 (2)"], "24 MiB");
  EXPECT_EQ(json["waterfalls"][0]["steps"].size(), arch::field_group_count + 1);
}

TEST(Compare, AKernelThatOneCannotRunNamesIt) {
  kernels::KernelConfig kernel = sgemm();
  kernel.shared_bytes = 150000;
  const Result<Comparison> result = compared({"a100-pcie-40gb", "l4"}, 1, kernel);
  ASSERT_FALSE(result);
  ASSERT_EQ(result.errors().size(), 1U);
  EXPECT_TRUE(result.errors().front().key.starts_with("l4: ")) << result.errors().front().to_string();
}

}  // namespace
}  // namespace noteg::compare
