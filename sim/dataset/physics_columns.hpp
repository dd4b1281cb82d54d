// Columns of the group physics.
#pragma once

#include <vector>

#include "sim/dataset/columns.hpp"

namespace noteg::dataset {

[[nodiscard]] std::vector<RunColumn> physics_columns();

}  // namespace noteg::dataset
