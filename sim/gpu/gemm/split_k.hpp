// What split-K adds to a kernel: the partial sums of the slices of one tile have to meet.
// Serial: the slices of a tile take turns at C through a semaphore. Slices of the last wave that ran side by side reach
// their epilogues together, so that all but one wait; and no tile is done before all its slices had their turns.
// Parallel: every slice writes its own copy of C, and a second kernel adds the copies.
#pragma once

#include "arch/spec.hpp"
#include "sim/gpu/kernel_time.hpp"

namespace noteg::gpu {

// Cycles from the end of the last main loop and its own epilogue to the end of the reduction; 0 without split-K.
[[nodiscard]] double reduction_cycles(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SmRuns& runs,
                                      Hertz clock, const SimOptions& options, SmTimer& timer);

}  // namespace noteg::gpu
