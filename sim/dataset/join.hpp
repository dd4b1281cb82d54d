// Several data sets as one table, one below the other.
#pragma once

#include <vector>

#include "sim/dataset/table.hpp"
#include "sim/support/result.hpp"

namespace noteg::dataset {

// Columns in the order of the first table; at least one table. Errors: columns that another table lacks or has more of,
// numbers in one and texts in another.
[[nodiscard]] Result<Table> join(const std::vector<Table>& tables);

}  // namespace noteg::dataset
