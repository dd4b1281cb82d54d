// Defaults and rules of the tensor-core families; part of resolve().
#pragma once

#include "kernels/families/rules.hpp"

namespace noteg::kernels {

// What both begin with: shape, types that multiply together, ranges, K of the tile.
[[nodiscard]] Diagnostics check_tensor_basics(KernelConfig& config, const GemmShape& shape);

// Elements per global access: what is written down if it divides the extent, else the widest of up to 16 bytes.
void settle_tensor_alignment(KernelConfig& config, const GemmShape& shape, Diagnostics& errors);

// K of one matrix instruction: 32 bytes of each operand. And the shape of mma.sync that is deepest for the type.
[[nodiscard]] int instruction_depth(const KernelConfig& config);
[[nodiscard]] Tile mma_instruction(const KernelConfig& config);

}  // namespace noteg::kernels
