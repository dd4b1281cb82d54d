// One simulation in one line, for the tests of the chip model.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "arch/load.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::gpu {

inline arch::GpuSpec gpu_of(const std::string& id, const arch::Overrides& overrides = {}) {
  const Result<arch::GpuSpec> spec = arch::load_gpu(id, overrides);
  EXPECT_TRUE(spec) << to_string(spec.errors());
  return spec ? *spec : arch::GpuSpec{};
}

inline kernels::KernelConfig kernel_of(const std::string& name) {
  const Result<kernels::KernelConfig> config = kernels::config_from_name(name);
  EXPECT_TRUE(config) << to_string(config.errors());
  return config ? *config : kernels::KernelConfig{};
}

inline SimOptions exact_mode() {
  SimOptions options;
  options.exact = true;
  return options;
}

inline SimOptions starting_from(L2State l2) {
  SimOptions options;
  options.l2 = l2;
  return options;
}

inline SimReport run(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape,
                     SimOptions options, SmCache& cache) {
  const Result<SimReport> report = simulate(gpu, kernel, shape, options, cache);
  EXPECT_TRUE(report) << to_string(report.errors());
  return report ? *report : SimReport{};
}

inline SimReport run(const arch::GpuSpec& gpu, const std::string& kernel, const kernels::GemmShape& shape,
                     SimOptions options = {}) {
  SmCache cache;
  return run(gpu, kernel_of(kernel), shape, options, cache);
}

}  // namespace noteg::gpu
