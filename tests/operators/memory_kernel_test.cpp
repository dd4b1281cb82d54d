// Kernels that move bytes: a closed bound from DRAM, what more bytes cost, what a line may say.
#include "sim/operators/memory_kernel.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arch/load.hpp"

namespace noteg::operators {
namespace {

const arch::GpuSpec& a100() {
  static const arch::GpuSpec gpu = *arch::load_gpu("a100-sxm4-80gb", {});
  return gpu;
}

gpu::SimReport cold(const std::string& line) {
  const Result<MemoryKernel> kernel = memory_kernel_from(line);
  EXPECT_TRUE(kernel) << to_string(kernel.errors());
  gpu::SimOptions options;
  options.l2 = gpu::L2State::cold;
  gpu::SmCache cache;
  Result<gpu::SimReport> report = simulate_memory(a100(), *kernel, options, cache);
  EXPECT_TRUE(report) << to_string(report.errors());
  return std::move(*report);
}

TEST(MemoryKernel, TakesNoLessThanItsBytesTakeInDram) {
  const gpu::SimReport report = cold("elementwise rows=16384 columns=16384 in=f16 out=f16");
  const double bytes = 2.0 * 2 * 16384 * 16384;
  const double least_us = bytes / a100().dram.bandwidth.value * 1e6;
  EXPECT_GT(report.time_us, least_us);
  EXPECT_LT(report.time_us, 1.6 * least_us);
  EXPECT_EQ(report.bottleneck.name, "dram_bandwidth");
}

TEST(MemoryKernel, TakesAboutTwiceAsLongForTwiceTheRows) {
  const double one = cold("softmax rows=32768 columns=4096").time_us;
  const double two = cold("softmax rows=65536 columns=4096").time_us;
  EXPECT_NEAR(two / one, 2, 0.1);
}

TEST(MemoryKernel, OfFewBytesTakesTheLaunchAndALatency) {
  const gpu::SimReport report = cold("elementwise rows=1 columns=64");
  EXPECT_GT(report.time_us, a100().launch.kernel.value * 1e6);
  EXPECT_LT(report.time_us, 5);
}

TEST(MemoryKernel, ReportsAllMistakesOfALine) {
  const Result<MemoryKernel> kernel = memory_kernel_from("softmax rows=0 colums=4 in=f99");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.errors().size(), 4u);  // three wrong words, columns missing
  EXPECT_FALSE(memory_kernel_from("sofmax rows=1"));
  EXPECT_FALSE(memory_kernel_from(""));
}

TEST(MemoryKernel, NeedsRowsAndColumnsOnceEach) {
  const auto errors = [](const char* line) { return to_string(memory_kernel_from(line).errors()); };
  EXPECT_NE(errors("softmax").find("rows: expected a number such as rows=4096, found nothing"), std::string::npos);
  EXPECT_NE(errors("softmax rows=4").find("columns: expected a number"), std::string::npos);
  EXPECT_NE(errors("softmax rows=2 columns=8 rows=5").find("rows: expected it once, found it again"),
            std::string::npos);
}

TEST(MemoryKernel, ReadsEveryKindThatItLists) {
  for (const MemoryKind& kind : memory_kinds())
    EXPECT_TRUE(memory_kernel_from(std::string(kind.name) + " rows=64 columns=256")) << kind.name;
}

// tests/data/h100_launches.csv: a thread asks for its second value when its first has come.
TEST(MemoryKernel, CastsAsLongAsMeasured) {
  const arch::GpuSpec h100 = *arch::load_gpu("h100-sxm5-80gb", {});
  gpu::SmCache cache;
  gpu::SimOptions options;
  options.l2 = gpu::L2State::cold;
  const auto report = simulate_memory(h100, *memory_kernel_from("cast rows=16384 columns=4096"), options, cache);
  ASSERT_TRUE(report);
  EXPECT_NEAR(report->time_us / 177, 1, 0.15);
}

// tests/data/h100_launches.csv: a CTA of 512 threads a token, of which a few warps copy.
TEST(MemoryKernel, WritesACacheAsLongAsMeasured) {
  struct Case {
    int tokens, values;
    double warm_us, cold_us;
  };
  const arch::GpuSpec h100 = *arch::load_gpu("h100-sxm5-80gb", {});
  for (const Case& c : {Case{8192, 64, 6.9, 10.8},
                        {2048, 256, 6.2, 10.4},
                        {8192, 512, 48.9, 68.5},
                        {32768, 512, 252, 255},
                        {8192, 1024, 71.8, 74.1},
                        {32768, 8192, 804, 807}}) {
    const std::string line = fmt::format("cache_write rows={} columns={}", c.tokens, 2 * c.values);
    gpu::SmCache cache;
    for (const gpu::L2State state : {gpu::L2State::warm, gpu::L2State::cold}) {
      gpu::SimOptions options;
      options.l2 = state;
      const auto report = simulate_memory(h100, *memory_kernel_from(line), options, cache);
      ASSERT_TRUE(report) << line;
      const double measured = state == gpu::L2State::warm ? c.warm_us : c.cold_us;
      EXPECT_NEAR(report->time_us / measured, 1, state == gpu::L2State::warm ? 0.2 : 0.22) << line;
    }
  }
}

}  // namespace
}  // namespace noteg::operators
