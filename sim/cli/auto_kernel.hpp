// --kernel auto on the command line: a request that leaves the kernel to the GPU.
#pragma once

#include "sim/cli/kernel_options.hpp"
#include "sim/tune/auto_kernel.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::cli {

// The kernel of the request, or where that says auto the best of the GPU's menu.
[[nodiscard]] Result<kernels::KernelConfig> kernel_for(const KernelRequest& request, const arch::GpuSpec& gpu,
                                                       const gpu::SimOptions& sim, tune::KernelChooser& chooser);

// The same for measured rows that record no kernel. The chooser must outlive it.
[[nodiscard]] validate::Chooser library_kernels(tune::KernelChooser& chooser);

}  // namespace noteg::cli
