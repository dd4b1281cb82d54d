// A GPU as the text of an architecture file: the numbers that its own file holds, with their origins, and its base by
// name. What the base holds stays there.
#pragma once

#include <string>

#include "arch/load.hpp"

namespace noteg::arch {

// Loading the text gives the same spec and the same origins again. comment: the lines above, without '#'; may be empty.
// A number belongs to the file where its origin names the GPU's file, or "" (set by a program).
[[nodiscard]] std::string to_yaml(const SourcedGpu& gpu, const std::string& comment);

}  // namespace noteg::arch
