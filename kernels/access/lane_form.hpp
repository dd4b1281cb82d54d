// The other way round from lane_expression.hpp: an expression over `lane` that gives 32 offsets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace noteg::kernels {

// The shortest form found among constants, sums of quotients and remainders of the lane (as tiles of rows and columns
// give), and the same with single bits exclusive-ored (as swizzles give); otherwise all 32 offsets in brackets.
[[nodiscard]] std::string lane_form(const std::array<std::uint32_t, 32>& offset);

// Integer expressions over the lane number, as address patterns are written in assembly files.

// Value for one lane; nothing if the text is not an expression or divides by zero.
// Operators in rising precedence: ^, &, + -, * / %. Numbers in decimal or 0x hexadecimal; `lane` is 0..31.
[[nodiscard]] std::optional<std::int64_t> evaluate_lane_expression(std::string_view text, std::int64_t lane);

}  // namespace noteg::kernels
