#include "sim/cli/auto_kernel.hpp"

namespace noteg::cli {

Result<kernels::KernelConfig> kernel_for(const KernelRequest& request, const arch::GpuSpec& gpu,
                                         const gpu::SimOptions& sim, tune::KernelChooser& chooser) {
  if (!request.choose) return request.config;
  return chooser.best(gpu, {request.shape, request.config}, sim);
}

validate::Chooser library_kernels(tune::KernelChooser& chooser) {
  return [&chooser](const arch::GpuSpec& gpu, const kernels::KernelConfig& frame, const kernels::GemmShape& shape,
                    const gpu::SimOptions& sim) {
    return chooser.best(gpu, {shape, frame}, sim);
  };
}

}  // namespace noteg::cli
