// The tables `rows` and `columns` of an SQLite data set. The file is opened for reading only.
#pragma once

#include <string>

#include "sim/dataset/cells.hpp"

namespace noteg::dataset {

// Errors: not readable, damaged, no table `rows`, a `columns` row with an unknown group.
[[nodiscard]] Result<Cells> sqlite_cells(const std::string& path);

}  // namespace noteg::dataset
