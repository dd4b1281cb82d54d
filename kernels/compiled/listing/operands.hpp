// The text of one instruction: guard, mnemonic, operands.
#pragma once

#include <string_view>

#include "kernels/compiled/listing/instruction.hpp"

namespace noteg::compiled {

// Text of a listing without the blanks around it.
[[nodiscard]] bool is_space(char c);
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Fills base, modifiers, guard and operands of `out` from text such as "@!P0 IMAD.WIDE R2, R9, 0x4, R2". False: no
// mnemonic, or more operands than an instruction has.
[[nodiscard]] bool parse_instruction(std::string_view text, Instruction& out);

// Whether no thread goes on to the instruction behind it: an exit, a return or a branch that every thread takes.
[[nodiscard]] bool ends_its_path(const Instruction& in);

// A number as disassemblers print it: 0x1f, -0x4, 12, 1.5, +INF, -QNAN; floats as the bits of a binary32.
struct Number {
  std::int64_t value = 0;
  bool is_float = false;
};
[[nodiscard]] std::optional<Number> parse_number(std::string_view text);

}  // namespace noteg::compiled
