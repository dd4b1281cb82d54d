// Integer expressions over the lane number, as address patterns are written in assembly files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace noteg::kernels {

// Value for one lane; nothing if the text is not an expression or divides by zero.
// Operators in rising precedence: ^, &, + -, * / %. Numbers in decimal or 0x hexadecimal; `lane` is 0..31.
[[nodiscard]] std::optional<std::int64_t> evaluate_lane_expression(std::string_view text, std::int64_t lane);

}  // namespace noteg::kernels
