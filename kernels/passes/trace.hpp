// A walk over a program that goes through every loop twice, so that what one trip leaves behind for the next is
// seen. Passes that take the worst case of everything met on this walk are right for any number of trips.
#pragma once

#include <vector>

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// Instruction indices in walking order.
[[nodiscard]] std::vector<int> double_trace(const Program& program);

}  // namespace noteg::kernels
