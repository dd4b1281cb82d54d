// A configuration as the text of a kernel file: reading it again gives the same configuration.
#pragma once

#include <string>

#include "kernels/config/config.hpp"

namespace noteg::kernels {

// Keys at their default are left out; what resolve() filled in is written. comment: the lines above, without '#'.
[[nodiscard]] std::string to_yaml(const KernelConfig& config, const std::string& comment = "");

}  // namespace noteg::kernels
