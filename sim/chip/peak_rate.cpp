#include "sim/chip/peak_rate.hpp"

#include "kernels/tensor_form.hpp"
#include "sim/core/tensor_timing.hpp"

namespace noteg::chip {

double peak_rate(const arch::SmSpec& sm, const kernels::KernelConfig& kernel) {
  if (kernels::on_tensor_cores(kernel.family)) return core::peak_macs_per_cycle(sm, kernels::tensor_form_of(kernel));
  return static_cast<double>(sm.sub_cores) * sm.pipes.fma.lanes;
}

}  // namespace noteg::chip
