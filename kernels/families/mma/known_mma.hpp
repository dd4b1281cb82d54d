// Registers of tensor-core kernels as the compiler reported them.
#pragma once

#include <optional>

#include "kernels/config/config.hpp"

namespace noteg::kernels {

// Nothing where nobody has compiled such a kernel.
[[nodiscard]] std::optional<int> known_mma_registers(const KernelConfig& config);

}  // namespace noteg::kernels
