// What a file of rows holds beside the columns of a run: which row it is, and why it has no result.
#pragma once

#include <vector>

#include "sim/dataset/table.hpp"

namespace noteg::dataset {

[[nodiscard]] std::vector<Column> row_columns();  // before the columns of a run: gpu_copy, label

// The same with row_id and error, which are the file's own; for the reference page.
[[nodiscard]] std::vector<Column> all_row_columns();

}  // namespace noteg::dataset
