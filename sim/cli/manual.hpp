// noteg --man: the manual page, made of the help of each command.
#pragma once

#include <string>

namespace noteg::cli {

// In the man macros of roff.
[[nodiscard]] std::string manual(const std::string& version);

}  // namespace noteg::cli
