// Bytes between SMs, L2 and DRAM: from the tiles that are live together and the sectors that their rows touch.
#pragma once

#include <array>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/gpu/grid.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/memory/l2_lookups.hpp"
#include "sim/memory/tile_reuse.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::gpu {

struct TrafficRequest {
  const arch::GpuSpec* gpu = nullptr;
  const kernels::KernelConfig* config = nullptr;
  const kernels::GemmShape* shape = nullptr;
  const kernels::Program* program = nullptr;
  const Launch* launch = nullptr;
  int resident = 1;  // CTAs per SM
  L2State l2 = L2State::warm;
};

struct Traffic {
  memory::ReuseResult reuse;                     // between L2 and DRAM
  double l2_read_bytes = 0, l2_write_bytes = 0;  // between SMs and L2, whole sectors
  double l1_hit_rate = 0;                        // of the sectors that the main loop's loads ask for
  std::array<sm::SharedSectors, 4> shared{};     // by kernels::Matrix
  double reads_that_arrive = 1;                  // of the sectors that SMs ask L2 for: what a TPC merges arrives once
  memory::L2Lookups lookups;
};

// The least that reads_that_arrive can be on a GPU, where the SMs of a TPC read the same.
[[nodiscard]] double least_reads_that_arrive(const arch::GpuSpec& gpu);

[[nodiscard]] Traffic plan_traffic(const TrafficRequest& request);

}  // namespace noteg::gpu
