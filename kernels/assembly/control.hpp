// The control bits of a listing line, decoded: [B0-----:R-:W0:-:S02].
#pragma once

#include <optional>
#include <string_view>

#include "kernels/assembly/mistakes.hpp"
#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// `text` is what stands between the brackets. Nothing after a mistake.
[[nodiscard]] std::optional<Control> read_control(std::string_view text, Mistakes& mistakes);

}  // namespace noteg::kernels
