// What a compiler made of configurations that people launch; others go by the rule of triton_plan.
#pragma once

#include <optional>

#include "kernels/config/config.hpp"

namespace noteg::kernels {

struct TritonRegisters {
  int registers = 0;
  int stack_bytes = 0;  // per thread: what was spilled
};

[[nodiscard]] std::optional<TritonRegisters> known_triton_registers(const KernelConfig& config);

}  // namespace noteg::kernels
