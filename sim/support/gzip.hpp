// gzip: the same text gives the same bytes, no name and no time inside.
#pragma once

#include <string>
#include <string_view>

namespace noteg {

[[nodiscard]] std::string gzipped(std::string_view text);

}  // namespace noteg
