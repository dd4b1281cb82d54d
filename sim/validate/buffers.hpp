// What a launch finds in L2 where launches go round several sets of operands.
#pragma once

#include "arch/spec.hpp"
#include "sim/validate/measured_case.hpp"

namespace noteg::validate {

// Warm where all sets fit into L2 side by side, so that each is still there when its turn comes again: an L2 of several
// partitions keeps operands in each of them. Else, and where only one set is known of, as the case says.
void settle_l2(MeasuredCase& measured, const arch::GpuSpec& gpu);

}  // namespace noteg::validate
