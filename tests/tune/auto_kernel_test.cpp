#include "sim/tune/auto_kernel.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "arch/load.hpp"
#include "sim/support/text_file.hpp"
#include "sim/tune/menu.hpp"

namespace noteg::tune {
namespace {

Problem sgemm(std::int64_t m, std::int64_t n, std::int64_t k) { return {{m, n, k, 1}, {}}; }

double time_of(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const Problem& problem,
               chip::SmCache& cache) {
  return chip::simulate(gpu, kernel, problem.shape, {}, cache)->time_us;
}

TEST(Menu, EveryKernelResolvesForItsTypes) {
  for (const char* name : {"a100-pcie-40gb", "rtx3090", "l4", "h100-sxm5-80gb"}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    const std::vector<kernels::KernelConfig> kernels = library_kernels(gpu, {});
    EXPECT_GE(kernels.size(), 8U) << name;
    for (const kernels::KernelConfig& kernel : kernels) {
      const Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, {4096, 4096, 4096, 1});
      EXPECT_TRUE(resolved) << kernel.name << ": " << (resolved ? "" : to_string(resolved.errors()));
    }
  }
}

TEST(Menu, ThePageIsUpToDate) {
  const std::string path = std::string(NOTEG_SOURCE_DIR) + "/docs/library-menu.md";
  if (std::getenv("NOTEG_UPDATE_GENERATED") != nullptr) std::ofstream(path, std::ios::binary) << menu_reference();
  const Result<std::string> found = read_text_file(path);
  ASSERT_TRUE(found) << to_string(found.errors());
  EXPECT_TRUE(*found == menu_reference()) << "run test_tune with NOTEG_UPDATE_GENERATED=1";
}

TEST(Slices, OnlyWhereTheGridLeavesSmsIdleAndSlicesKeepDepth) {
  kernels::KernelConfig kernel;
  kernel.tile = {128, 128, 8};
  EXPECT_EQ(slice_counts(kernel, {8192, 8192, 4096, 1}, 108), std::vector<int>{1});
  EXPECT_EQ(slice_counts(kernel, {128, 128, 16, 1}, 108), std::vector<int>{1});
  const std::vector<int> deep = slice_counts(kernel, {128, 128, 65536, 1}, 108);
  EXPECT_EQ(deep.back(), 32);
}

TEST(KernelChooser, TakesLargeTilesForLargeProblemsAndSplitsDeepOnes) {
  KernelChooser chooser;
  const arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  const kernels::KernelConfig large = *chooser.best(gpu, sgemm(8192, 8192, 512), {});
  EXPECT_GE(large.tile.m * large.tile.n, 128 * 128);
  EXPECT_EQ(large.split_k, 1);
  EXPECT_GT(chooser.best(gpu, sgemm(128, 128, 32768), {})->split_k, 1);
}

// The rough grade may miss the best by a little, not by much.
TEST(KernelChooser, TheChosenKernelIsCloseToTheBestOfTheMenu) {
  KernelChooser chooser;
  chip::SmCache cache;
  for (const char* name : {"a100-pcie-40gb", "h100-sxm5-80gb"}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    const Problem problem = sgemm(1024, 768, 256);
    double best = 1e30;
    for (const kernels::KernelConfig& kernel : library_choices(gpu, problem))
      if (const Result<chip::SimReport> report = chip::simulate(gpu, kernel, problem.shape, {}, cache))
        best = std::min(best, report->time_us);
    EXPECT_LE(time_of(gpu, *chooser.best(gpu, problem, {}), problem, cache), 1.08 * best) << name;
  }
}

TEST(KernelChooser, WhatItRemembersDoesNotShow) {
  const arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  KernelChooser used, fresh;
  static_cast<void>(used.best(gpu, sgemm(4096, 4096, 4096), {}));
  static_cast<void>(used.best(gpu, sgemm(64, 4096, 1024), {}));
  EXPECT_EQ(*used.best(gpu, sgemm(512, 1024, 2048), {}), *fresh.best(gpu, sgemm(512, 1024, 2048), {}));
}

TEST(KernelChooser, SaysWhereTheMenuHasNothing) {
  arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  gpu.sm.name = "sm_70";
  const Result<kernels::KernelConfig> none = KernelChooser().best(gpu, sgemm(64, 64, 64), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.errors().front().to_string().find("sm_70"), std::string::npos);
}

}  // namespace
}  // namespace noteg::tune
