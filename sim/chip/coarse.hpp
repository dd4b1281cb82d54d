// Environments rounded so that shapes and clocks share first looks at a kernel, which need no more.
#pragma once

#include "sim/core/engine.hpp"

namespace noteg::chip {

[[nodiscard]] core::MemoryEnvironment coarse(core::MemoryEnvironment environment);
[[nodiscard]] core::SmWork coarse(core::SmWork work);

}  // namespace noteg::chip
