// docs/architecture-reference.md: every key of an architecture file, from the table that loads them.
#pragma once

#include <string>

namespace noteg::arch {

[[nodiscard]] std::string reference_page();

}  // namespace noteg::arch
