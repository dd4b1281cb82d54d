// The best rate that an SM has for a kernel's types.
#pragma once

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"

namespace noteg::gpu {

// Multiply-accumulates per cycle of one SM; 0 where it has no such instruction.
[[nodiscard]] double peak_rate(const arch::SmSpec& sm, const kernels::KernelConfig& kernel);

}  // namespace noteg::gpu
