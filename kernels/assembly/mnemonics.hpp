// What a mnemonic says: opcode, modifiers, bytes per lane, registers per operand.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

struct Mnemonic {
  Opcode op = Opcode::nop;
  std::string modifiers;
};

// FFMA, LDS.128, IMAD.WIDE.U32, ...; mnemonics that are not modelled by themselves are read as the opcode of the table
// that takes the same way through the core (IMNMX as IADD3). Nothing for others.
[[nodiscard]] std::optional<Mnemonic> read_mnemonic(std::string_view text);

// Bytes per lane of a memory instruction, from its modifiers; nothing where they do not tell.
[[nodiscard]] std::optional<int> bytes_per_lane(Opcode op, std::string_view modifiers);

// Registers that an operand stands for, where the operand does not say.
enum class Place : std::uint8_t { destination, source };
[[nodiscard]] int registers_of(const Instruction& in, Place place, std::size_t position);

// How many leading sources are addresses, and the space of the memory that an opcode touches.
[[nodiscard]] std::size_t address_operands(Opcode op);
[[nodiscard]] Space space_of(Opcode op);
[[nodiscard]] bool is_store(Opcode op);

// Special register that stands for an operand that the IR leaves out: S2R without source reads SR_TID.X.
[[nodiscard]] std::string_view implied_source(Opcode op);

// Comparisons: a predicate is the first destination, the second is nearly always PT.
[[nodiscard]] bool writes_predicates_only(Opcode op);
[[nodiscard]] bool has_no_destination(Opcode op);

}  // namespace noteg::kernels
