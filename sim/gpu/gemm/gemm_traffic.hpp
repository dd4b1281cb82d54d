// Traffic of a tiled GEMM: from the tiles that are live together, the sectors that their rows touch, and what clusters
// and GPCs share of bulk tensor copies. SMs of a GPC that ask for the same line together are served by one read of L2,
// and CTAs of a cluster share boxes by multicast, so the slices deliver each GPC's distinct tiles only. Parts of a box
// outside the matrix come from one place for the whole chip.
#pragma once

#include <array>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/gpu/gemm/gemm_launch.hpp"
#include "sim/gpu/l2_traffic.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::gpu {

struct GemmTrafficRequest {
  const arch::GpuSpec* gpu = nullptr;
  const kernels::KernelConfig* config = nullptr;  // resolved
  const kernels::GemmShape* shape = nullptr;
  const kernels::Program* program = nullptr;
  const GemmGrid* grid = nullptr;
  int resident = 1;  // CTAs per SM
  memory::L2State l2 = memory::L2State::warm;
  bool l2_is_full = false;  // SMs want all that L2 delivers, or more
};

[[nodiscard]] Traffic plan_traffic(const GemmTrafficRequest& request);

// Of a wgmma kernel: what boxes of A and B cost the SM, and of C the share that lies inside the matrix.
[[nodiscard]] std::array<sm::BoxTraffic, 3> box_traffic(const GemmTrafficRequest& request);

// Of A's bytes, what lies in memory: all, or half of the values and their places where it is 2:4 sparse.
[[nodiscard]] double stored_share(const kernels::KernelConfig& config);
// Bytes that lie in memory for an element of A.
[[nodiscard]] inline double a_element_bytes(const kernels::KernelConfig& config) {
  return kernels::bytes_of_b(config) * stored_share(config);
}

// Of what the CTAs of a GPC copy of the operands that move along the fast and the slow axis of the raster, the part
// that reaches L2. A GPC has `clusters` that follow each other in rows of `fast`, `plane` of them of one product; pairs
// of CTAs on a TPC where clusters are of one. What two of these read at one time arrives once, and more merge two by
// two (H200M: cta_placement; H100M: gpc_merge).
struct SharedReads {
  double fast = 1, slow = 1;
};
[[nodiscard]] SharedReads shared_reads(double fast, double plane, double clusters, bool in_pairs);

// Bytes of both operands and the result, each taken once.
[[nodiscard]] double footprint(const kernels::GemmShape& shape, double bytes_in, double bytes_out);
// The same by types: weights may be narrower than what they multiply, and of attention's two products the first leaves
// nothing in memory.
[[nodiscard]] double footprint(const kernels::GemmShape& shape, const kernels::KernelConfig& config);

}  // namespace noteg::gpu
