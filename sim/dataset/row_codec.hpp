// A finished row as bytes and back, for the way between processes of the same program.
#pragma once

#include <string>
#include <string_view>

#include "sim/dataset/run_rows.hpp"

namespace noteg::dataset {

[[nodiscard]] std::string encode(const FinishedRow& row);
[[nodiscard]] FinishedRow decode(std::string_view bytes);  // of encode()

}  // namespace noteg::dataset
