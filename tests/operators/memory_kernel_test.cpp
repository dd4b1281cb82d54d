// Kernels that move bytes: a closed bound from DRAM, what more bytes cost, what a line may say.
#include "sim/operators/memory_kernel.hpp"

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
  EXPECT_EQ(kernel.errors().size(), 3u);
  EXPECT_FALSE(memory_kernel_from("sofmax rows=1"));
  EXPECT_FALSE(memory_kernel_from(""));
}

TEST(MemoryKernel, ReadsEveryKindThatItLists) {
  for (const MemoryKind& kind : memory_kinds())
    EXPECT_TRUE(memory_kernel_from(std::string(kind.name) + " rows=64 columns=256")) << kind.name;
}

}  // namespace
}  // namespace noteg::operators
