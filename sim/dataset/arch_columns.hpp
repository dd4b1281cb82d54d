// Columns of the group arch: the keys of an architecture file that the run time or the power depends on most, in base
// units. Named as --set names them: arch.l2.size.
#pragma once

#include <vector>

#include "sim/dataset/columns.hpp"

namespace noteg::dataset {

[[nodiscard]] std::vector<RunColumn> arch_columns();

}  // namespace noteg::dataset
