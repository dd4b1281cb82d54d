// Rules of the clblast family, which are those of CLBlast's tuner; part of resolve().
#pragma once

#include "kernels/config/config.hpp"

namespace noteg::kernels {

[[nodiscard]] Result<KernelConfig> resolve_clblast(const KernelConfig& config, const GemmShape& shape);

}  // namespace noteg::kernels
