// Limits of an SM that no field of its file can take away: what the machine would be without them.
#pragma once

#include "arch/spec.hpp"
#include "sim/gpu/limits/switches.hpp"
#include "sim/sm/decoded.hpp"

namespace noteg::gpu {

// core.fma, memory.path.
[[nodiscard]] arch::SmSpec sm_without_limits(arch::SmSpec sm, const Switches& switches);

// core.tensor, core.pipe_latency, memory.path, memory.shared_latency.
void remove_limits(sm::DecodedProgram& program, const Switches& switches);

}  // namespace noteg::gpu
