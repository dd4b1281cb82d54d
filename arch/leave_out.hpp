// Leave one GPU out: the values that constants would have if no measurement of this GPU had been used. A fitted number
// of an architecture file may say on whose rows it was fitted (`on`) and what it is without them (`without`): the value
// of its die, of its class of boards or of the generation before.
#pragma once

#include <string_view>

#include "arch/load.hpp"

namespace noteg::arch {

// Overrides that put these values in place; empty where nothing of this GPU's own was fitted. Errors: no such GPU, a
// file that cannot be read.
[[nodiscard]] Result<Overrides> without_own_fits(std::string_view name_or_path);

}  // namespace noteg::arch
