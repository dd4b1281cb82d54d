// What the boxes of bulk tensor copies cost an SM on the way from L2. SMs of a GPC that ask for the same line together
// are served by one read of L2, and CTAs of a cluster share boxes by multicast, so the slices deliver each GPC's
// distinct tiles only. Parts of a box outside the matrix come from one place for the whole chip.
#pragma once

#include "arch/spec.hpp"
#include "sim/gpu/grid.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::gpu {

struct BulkRequest {
  const arch::GpuSpec* gpu = nullptr;
  const kernels::KernelConfig* config = nullptr;
  const kernels::GemmShape* shape = nullptr;
  const Launch* launch = nullptr;
  int resident = 1;
};

[[nodiscard]] std::array<sm::BoxTraffic, 3> box_traffic(const BulkRequest& request);

// Of A's bytes, what lies in memory: all, or half of the values and their places where it is 2:4 sparse.
[[nodiscard]] double stored_share(const kernels::KernelConfig& config);

// Tiles along the faster and the slower coordinate of the grid that n CTAs of a GPC need at a time: they follow each
// other in the order of the grid, but in several runs.
struct DistinctTiles {
  double fast = 1, slow = 1;
};
[[nodiscard]] DistinctTiles distinct_tiles(double fast, double slow, double n, double further_runs);

}  // namespace noteg::gpu
