// A run of compiled code as JSON: the keys of noteg simulate, with the launch in place of a GEMM's configuration, what
// Nsight Compute would count with cold caches, and what was assumed.
#pragma once

#include <string>

#include "sim/compiled/simulate_compiled.hpp"

namespace noteg::compiled {

[[nodiscard]] std::string to_json(const CompiledRun& run, const Launch& launch);

}  // namespace noteg::compiled
