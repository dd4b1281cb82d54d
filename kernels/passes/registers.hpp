// Virtual to physical registers: liveness over the loops, then greedy colouring of the interference graph in
// order of definition. Wide groups are aligned; a bank wish is kept where a register of that parity is free.
#pragma once

#include <vector>

#include "kernels/ir/emitter.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

// Rewrites the program's registers and sets Program::registers (with the two that the hardware adds). Fails if
// more than 253 are needed at once: the kernel would spill, which is not modelled.
[[nodiscard]] Result<int> assign_registers(Program& program, const std::vector<VirtualGroup>& groups);

}  // namespace noteg::kernels
