// One kernel on one GPU, ready to simulate: what every benchmark starts from. Reading the architecture file is left
// out of the time. A set-up that fails says why, and the benchmark reports it instead of a figure.
#pragma once

#include <cstdint>
#include <string>

#include "arch/load.hpp"
#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/support/result.hpp"

namespace noteg::bench {

struct Setup {
  arch::GpuSpec gpu;             // RTX 4070
  kernels::KernelConfig kernel;  // simt, 128 x 128 x 8
};

inline Result<Setup> main_job() {
  auto gpu = arch::load_gpu("rtx4070");
  if (!gpu) return gpu.errors();
  Setup setup;
  setup.gpu = *gpu;
  setup.kernel.family = kernels::Family::simt;
  setup.kernel.tile = {128, 128, 8};
  return setup;
}

// A100, mma f16, 128 x 128 x 32.
inline Result<Setup> tensor_job() {
  auto gpu = arch::load_gpu("a100-pcie-40gb");
  if (!gpu) return gpu.errors();
  Setup setup;
  setup.gpu = *gpu;
  setup.kernel.family = kernels::Family::mma;
  setup.kernel.dtype_in = setup.kernel.dtype_out = kernels::DataType::f16;
  setup.kernel.tile = {128, 128, 32};
  return setup;
}

// M = N = K for a single edge.
inline kernels::GemmShape square(std::int64_t edge) { return {.m = edge, .n = edge, .k = edge}; }

}  // namespace noteg::bench
