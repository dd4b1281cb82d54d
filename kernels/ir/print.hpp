// A Program as text, in the form of disassembly listings with decoded control bits, with the directives that
// kernels/assembly/assembly.hpp explains: parse_assembly() reads it back to the same program.
//   [B0-----:R-:W1:-:S04] LDS.128 R4, [R8+0x10] ; /*0120*/
#pragma once

#include <string>

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// One instruction without address: control bits, guard, mnemonic, operands. `at` is its index, for branch targets.
[[nodiscard]] std::string to_text(const Program& program, int at);

// The whole program, an instruction a line.
[[nodiscard]] std::string to_text(const Program& program);

inline constexpr int instruction_bytes = 16;

}  // namespace noteg::kernels
