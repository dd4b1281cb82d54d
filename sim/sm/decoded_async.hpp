// What instructions of the asynchronous units take: bulk copies, barriers, multiplications of warpgroups.
#pragma once

#include "arch/spec.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/sm/decoded.hpp"

namespace noteg::sm {

// Of a program whose other instructions are decoded: its barriers, asynchronous operations and tiles of persistent
// CTAs.
void decode_asynchronous(DecodedProgram& out, const kernels::Program& program, const arch::SmSpec& sm);

// Main loops of warpgroups beside the leading one: from the first to the last of their multiplications, the loop around
// them included.
void decode_other_main_loops(DecodedProgram& out, const kernels::Program& program);

}  // namespace noteg::sm
