// One kernel on one GPU, ready to simulate: what every benchmark starts from. Reading the architecture file is left
// out of the time. A set-up that fails says why, and the benchmark reports it instead of a figure.
#pragma once

#include <cstdint>
#include <string>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/support/result.hpp"

namespace noteg::bench {

struct Setup {
  arch::GpuSpec gpu;             // RTX 4070
  kernels::KernelConfig kernel;  // simt, 128 x 128 x 8
};

[[nodiscard]] Result<Setup> main_job();

// A100, mma f16, 128 x 128 x 32.
[[nodiscard]] Result<Setup> tensor_job();

// M = N = K for a single edge.
[[nodiscard]] kernels::GemmShape square(std::int64_t edge);

}  // namespace noteg::bench
