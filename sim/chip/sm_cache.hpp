// Built kernels by configuration and GPU, so that rows of a measured file share them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "arch/spec.hpp"
#include "kernels/build.hpp"
#include "sim/chip/simulate.hpp"
#include "sim/chip/sm_timer.hpp"

namespace noteg::chip {

struct BuiltKernel {
  kernels::Program program;
  std::unique_ptr<SmTimer> timer;
};

struct SmCache::Impl {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<BuiltKernel>> kernels;
};

// The program of a resolved configuration on a GPU's SM, built once for all shapes whose addresses behave alike.
[[nodiscard]] Result<std::shared_ptr<BuiltKernel>> built_kernel(const arch::GpuSpec& gpu,
                                                                const kernels::KernelConfig& config,
                                                                const kernels::GemmShape& shape, SmCache& cache);

[[nodiscard]] kernels::LatencyModel latency_model(const arch::SmSpec& sm);

}  // namespace noteg::chip
