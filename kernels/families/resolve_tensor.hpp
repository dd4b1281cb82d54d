// Defaults and rules of the tensor-core families; part of resolve().
#pragma once

#include "kernels/config/config.hpp"

namespace noteg::kernels {

[[nodiscard]] Result<KernelConfig> resolve_mma(const KernelConfig& config, const GemmShape& shape);
[[nodiscard]] Result<KernelConfig> resolve_triton(const KernelConfig& config, const GemmShape& shape);
[[nodiscard]] Result<KernelConfig> resolve_wgmma(const KernelConfig& config, const GemmShape& shape);
[[nodiscard]] Result<KernelConfig> resolve_tcgen05(const KernelConfig& config, const GemmShape& shape);

// What both begin with: shape, types that multiply together, ranges, K of the tile.
[[nodiscard]] Diagnostics check_tensor_basics(KernelConfig& config, const GemmShape& shape);

// Elements per global access: what is written down if it divides the extent, else the widest of up to 16 bytes.
void settle_tensor_alignment(KernelConfig& config, const GemmShape& shape, Diagnostics& errors);

[[nodiscard]] std::string tile_text(const Tile& tile);

}  // namespace noteg::kernels
