// A run of a small kernel, watched.
#pragma once

#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "sim/trace/recording.hpp"

namespace noteg::test {

inline constexpr int k_extent = 256;  // 32 iterations of 8

inline gpu::SimReport simulated(const std::string& gpu, kernels::Family family = kernels::Family::simt,
                                const kernels::GemmShape& shape = {512, 512, k_extent, 1}) {
  kernels::KernelConfig kernel;
  kernel.family = family;
  kernel.tile = {64, 64, 8};
  if (family != kernels::Family::simt) {
    kernel.tile = {128, 128, 64};
    kernel.dtype_in = kernel.dtype_out = kernels::DataType::f16;
    kernel.layout = kernels::Layout::tn;
  }
  gpu::SmCache cache;
  const Result<gpu::SimReport> report = gpu::simulate(*arch::load_gpu(gpu), kernel, shape, {}, cache);
  EXPECT_TRUE(report) << to_string(report.errors());
  return *report;
}

inline gpu::Recording watched(const gpu::SimReport& report, const gpu::IterationWindow& window = {}) {
  const Result<gpu::Recording> recording = gpu::record(report, window);
  EXPECT_TRUE(recording) << to_string(recording.errors());
  return *recording;
}

}  // namespace noteg::test
