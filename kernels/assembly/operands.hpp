// Operands of listings: R8.reuse, !P0, -UR4, c[0x0][0x28], SR_TID.X, 0x10, [R8.64+0x10], desc[UR10][R8.64].
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/assembly/text.hpp"
#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// The parts between commas outside brackets.
[[nodiscard]] std::vector<std::string_view> split_operands(std::string_view text);

// A register, predicate, constant, special register or number. A register may say how many registers it stands for
// where the mnemonic does not (R8:2); count 0: it does not say. Nothing after a mistake.
[[nodiscard]] std::optional<Operand> read_operand(std::string_view text, Mistakes& mistakes);

struct Address {
  Operand operand;        // the base register, value = the offset in bytes
  std::string_view base;  // its name: R8, UR4, RZ
};

[[nodiscard]] bool is_address(std::string_view text);
[[nodiscard]] std::optional<Address> read_address(std::string_view text, Mistakes& mistakes);

// Special registers by the index that an Operand holds; nothing for other names.
[[nodiscard]] std::optional<std::int16_t> special_register(std::string_view name);
[[nodiscard]] std::string_view special_name(int index);

// The control bits of a listing line, decoded: [B0-----:R-:W0:-:S02].

// `text` is what stands between the brackets. Nothing after a mistake.
[[nodiscard]] std::optional<Control> read_control(std::string_view text, Mistakes& mistakes);

}  // namespace noteg::kernels
