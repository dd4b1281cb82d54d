// What a memory instruction costs on its way through the load/store path, from its lane addresses, its width and the
// kind of its address register (MICRO25, section 7 and table 2).
#pragma once

#include "arch/spec.hpp"
#include "kernels/access/wavefronts.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/sm/decoded.hpp"

namespace noteg::sm {

// Of L1, as patterns are counted by.
[[nodiscard]] kernels::LineSizes line_sizes(const arch::MemoryPipeSpec& memory);

// none: not a matter of the load/store path.
[[nodiscard]] MemoryKind memory_kind(kernels::Opcode op);

// bank_conflicts false: a shared-memory access takes the wavefronts that its bytes alone need.
[[nodiscard]] MemoryCost memory_cost(const kernels::Instruction& instruction, const kernels::Program& program,
                                     const arch::SmSpec& sm, const AddressFacts& facts, bool bank_conflicts);

}  // namespace noteg::sm
