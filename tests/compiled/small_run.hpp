// Kernels of a few lines, simulated on an H200.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "arch/load.hpp"
#include "sim/compiled/simulate_compiled.hpp"
#include "tests/kernels/compiled/small_listing.hpp"

namespace noteg::compiled {

inline gpu::SimReport simulated(const Small& kernel, std::optional<double> clock_mhz = {}) {
  static const arch::GpuSpec gpu = *arch::load_gpu("h200-sxm-141gb", {});
  CompiledRequest request;
  request.listing = &kernel.listing;
  request.launch = kernel.launch;
  request.launch.kernel = kernel.listing.kernels.at(0).name;
  request.gpu = &gpu;
  request.options.sm_clock_mhz = clock_mhz;
  const Result<CompiledRun> run = simulate_compiled(request);
  EXPECT_TRUE(run) << to_string(run.errors());
  return run ? run->report : gpu::SimReport{};
}

}  // namespace noteg::compiled
