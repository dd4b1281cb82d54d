// One kernel on one GPU, ready to simulate: what every benchmark starts from. Reading the architecture file is left
// out of the time. A set-up that fails says why, and the benchmark reports it instead of a figure.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "arch/load.hpp"
#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/support/result.hpp"

namespace noteg::bench {

struct Setup {
  arch::GpuSpec gpu;
  kernels::KernelConfig kernel;
};

inline Result<Setup> job(std::string_view gpu_name, kernels::KernelConfig kernel) {
  auto gpu = arch::load_gpu(gpu_name);
  if (!gpu) return gpu.errors();
  return Setup{std::move(*gpu), std::move(kernel)};
}

// RTX 4070, simt, 128 x 128 x 8.
inline Result<Setup> main_job() {
  kernels::KernelConfig kernel;
  kernel.family = kernels::Family::simt;
  kernel.tile = {128, 128, 8};
  return job("rtx4070", std::move(kernel));
}

// A100, mma f16, 128 x 128 x 32.
inline Result<Setup> tensor_job() {
  kernels::KernelConfig kernel;
  kernel.family = kernels::Family::mma;
  kernel.dtype_in = kernel.dtype_out = kernels::DataType::f16;
  kernel.tile = {128, 128, 32};
  return job("a100-pcie-40gb", std::move(kernel));
}

// M = N = K for a single edge.
inline kernels::GemmShape square(std::int64_t edge) { return {.m = edge, .n = edge, .k = edge}; }

}  // namespace noteg::bench
