// The configurations that noteg tune considers for a problem: every combination of tile, warp tile, stages, K slices
// and raster that a kernel generator could emit for the families which suit the types. Rules between the values are
// left to kernels::resolve().
#pragma once

#include <vector>

#include "arch/spec.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::tune {

struct SpaceOptions {
  std::vector<kernels::Family> families;          // empty: those that suit the types and the GPU
  std::size_t most = 0;                           // an even choice of so many; 0: all
  std::vector<kernels::KernelConfig> given = {};  // these instead of all combinations (--space FILE)
};

// In a fixed order.
[[nodiscard]] std::vector<kernels::KernelConfig> configurations(const arch::GpuSpec& gpu, const Problem& problem,
                                                                const SpaceOptions& options);

}  // namespace noteg::tune
