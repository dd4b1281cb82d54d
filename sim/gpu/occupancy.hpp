// How many CTAs fit an SM at the same time: the CUDA occupancy rules over registers, shared memory, warps
// and CTA slots (CPG; reference vectors in tests/gpu).
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "arch/spec.hpp"
#include "sim/gpu/report.hpp"
#include "sim/support/result.hpp"

namespace noteg::gpu {

struct CtaResources {
  int threads = 0;                // per CTA
  int registers = 0;              // per thread
  std::int64_t shared_bytes = 0;  // static + dynamic per CTA
};

struct SmOccupancy {
  int ctas_per_sm = 0;
  int warps_per_sm = 0;
  int cta_slots = 0;  // CTAs at once where warps of some have ended: as many as slots and shared memory hold
  Limiter limiter = Limiter::warps;
  Bytes shared_carve_out;  // smallest configuration that holds the resident CTAs
  Bytes l1_bytes;          // what is left of the unified memory for L1
};

// What each resource alone would allow, in the order in which ties are told: registers, shared memory, warps, CTAs. One
// that the CTA does not use allows more than there are slots.
using ResourceLimits = std::array<std::pair<int, Limiter>, 4>;
[[nodiscard]] ResourceLimits ctas_by_resource(const arch::OccupancySpec& sm, const CtaResources& cta);

// Error if not even one CTA fits; says which resource is exceeded and by how much.
[[nodiscard]] Result<SmOccupancy> occupancy_of(const arch::OccupancySpec& sm, const CtaResources& cta);

}  // namespace noteg::gpu
