// What split-K adds to a kernel: the partial sums of the slices of one tile have to meet.
// Serial: the slices of a tile take turns at C through a semaphore. Slots are filled with all slices at once, which get
// on alike, so that none has its turn much before the last main loop ends:
//   cycles = main loops + slices * turn
// (NeuSight, 168 rows of an A100, an H100 and an L4: 9.3 % off; with turns that overlap main loops 10.9.)
// Parallel: every slice writes its own copy of C, and a second kernel adds the copies.
#pragma once

#include "arch/spec.hpp"
#include "sim/gpu/kernel_time.hpp"

namespace noteg::gpu {

// Cycles from the end of the last main loop and its own epilogue to the end of the reduction; 0 without split-K.
[[nodiscard]] double reduction_cycles(const arch::GpuSpec& gpu, const KernelLaunch& launch, const SmRuns& runs,
                                      Hertz clock, const SimOptions& options, SmTimer& timer);

// At least so much of it, of several slices, before the kernel has run. request: the launch's.
[[nodiscard]] double least_reduction_cycles(const arch::GpuSpec& gpu, const KernelLaunch& launch,
                                            const PortRequest& request, Hertz clock, const SimOptions& options,
                                            SmTimer& timer);

}  // namespace noteg::gpu
