// Environments rounded so that shapes and clocks share first looks at a kernel, which need no more.
#pragma once

#include "sim/sm/sm.hpp"

namespace noteg::gpu {

[[nodiscard]] sm::MemoryEnvironment coarse(sm::MemoryEnvironment environment);
[[nodiscard]] sm::SmWork coarse(sm::SmWork work);

}  // namespace noteg::gpu
