// A configuration as a command line of the CUTLASS profiler, to measure on a board what was predicted here.
#pragma once

#include <string>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"

namespace noteg::tune {

[[nodiscard]] std::string cutlass_profiler_line(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                                const kernels::GemmShape& shape);

}  // namespace noteg::tune
