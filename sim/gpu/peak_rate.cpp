#include "sim/gpu/peak_rate.hpp"

#include "kernels/ir/tensor_form.hpp"
#include "sim/sm/tensor_timing.hpp"

namespace noteg::gpu {

double peak_rate(const arch::SmSpec& sm, const kernels::KernelConfig& kernel) {
  if (kernels::on_tensor_cores(kernel)) return sm::peak_macs_per_cycle(sm, kernels::tensor_form_of(kernel));
  return static_cast<double>(sm.sub_cores) * sm.pipes.fma.lanes;
}

}  // namespace noteg::gpu
