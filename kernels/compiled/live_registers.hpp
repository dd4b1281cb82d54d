// How many registers of a thread hold a value that something still reads, before each instruction: backward over the
// basic blocks until nothing changes. Widths of operands are those of the opcode table.
#pragma once

#include <vector>

#include "kernels/compiled/emulator/code.hpp"

namespace noteg::compiled {

[[nodiscard]] std::vector<int> live_registers(const EmulatedCode& code);

}  // namespace noteg::compiled
