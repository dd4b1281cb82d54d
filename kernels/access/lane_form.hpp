// The other way round from lane_expression.hpp: an expression over `lane` that gives 32 offsets.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace noteg::kernels {

// The shortest form found among constants, sums of quotients and remainders of the lane (as tiles of rows and columns
// give), and the same with single bits exclusive-ored (as swizzles give); otherwise all 32 offsets in brackets.
[[nodiscard]] std::string lane_form(const std::array<std::uint32_t, 32>& offset);

}  // namespace noteg::kernels
