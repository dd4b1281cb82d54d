// What split-K adds to a kernel: the partial sums of the slices of one tile have to meet.
// Serial: the slices of a tile take turns at C through a semaphore. Slices of the last wave that ran side by side reach
// their epilogues together, so that all but one wait; and no tile is done before all its slices had their turns.
// Parallel: every slice writes its own copy of C, and a second kernel adds the copies.
#pragma once

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/grid.hpp"
#include "sim/gpu/sm_timer.hpp"

namespace noteg::gpu {

struct ReductionRequest {
  const arch::GpuSpec* gpu = nullptr;
  const kernels::KernelConfig* config = nullptr;
  const kernels::GemmShape* shape = nullptr;
  const Launch* launch = nullptr;
  int resident = 1;               // CTAs per SM
  bool launch_takes_time = true;  // of the second kernel
  Hertz clock;
  sm::MemoryEnvironment environment;  // of the kernel itself
  double sm_cycles = 0;               // of the busiest SM
};

// Slices of one tile that are at work at the same time in the last wave, at least 1: the grid runs through all tiles of
// a slice before it comes to the next slice.
[[nodiscard]] std::int64_t slices_side_by_side(const Launch& launch, int resident, int sms);

// Cycles from the end of the last main loop and its own epilogue to the end of the reduction; 0 without split-K.
[[nodiscard]] double reduction_cycles(const ReductionRequest& request, SmTimer& timer);

}  // namespace noteg::gpu
