// What the driver leaves of the unified memory of an SM for L1. It gives shared memory more than the resident CTAs
// need, so that L1 is smaller than what is left over.
#pragma once

#include "arch/spec.hpp"
#include "sim/gpu/occupancy.hpp"

namespace noteg::compiled {

[[nodiscard]] Bytes l1_size(const arch::OccupancySpec& sm, const gpu::CtaResources& cta, int ctas_per_sm);

}  // namespace noteg::compiled
