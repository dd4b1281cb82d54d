#include "sim/validate/buffers.hpp"

#include <algorithm>

#include "sim/gpu/gemm_traffic.hpp"

namespace noteg::validate {

void settle_l2(MeasuredCase& measured, const arch::GpuSpec& gpu) {
  if (measured.buffers < 1) return;
  const double copies = std::max(1, gpu.l2.partitions);
  const double set = gpu::footprint(measured.shape, kernels::bytes_of(measured.config.dtype_in) * copies,
                                    kernels::bytes_of(measured.config.dtype_out));
  if (set * measured.buffers <= gpu.l2.size.value) measured.options.l2 = gpu::L2State::warm;
}

}  // namespace noteg::validate
