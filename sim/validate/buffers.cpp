#include "sim/validate/buffers.hpp"

#include <algorithm>

namespace noteg::validate {

void settle_l2(MeasuredCase& measured, const arch::GpuSpec& gpu) {
  if (measured.buffers < 1) return;
  const kernels::GemmShape& s = measured.shape;
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double operands = (m * k + k * n) * kernels::bytes_of(measured.config.dtype_in);
  const double result = m * n * kernels::bytes_of(measured.config.dtype_out);
  const double set = static_cast<double>(s.batch) * (operands * std::max(1, gpu.l2.partitions) + result);
  if (set * measured.buffers <= gpu.l2.size.value) measured.options.l2 = chip::L2State::warm;
}

}  // namespace noteg::validate
