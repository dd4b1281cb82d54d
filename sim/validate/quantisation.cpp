#include "sim/validate/quantisation.hpp"

#include <algorithm>
#include <cmath>

namespace noteg::validate {

// One CTA takes one row (vLLM, sgl_kernel and TensorRT-LLM: a scale for each token): 512 threads look for its largest
// value and go over it once more, 16 bytes each under way at a time. With few rows the latency of memory decides.
Seconds quantisation_time(const arch::GpuSpec& gpu, const kernels::GemmShape& shape, kernels::DataType type) {
  constexpr double read = 2;  // bytes per element
  constexpr double under_way = 512 * 16, ctas_per_sm = 4;
  const double written = kernels::stored_bytes_of(type);
  const double rows = static_cast<double>(shape.m) * static_cast<double>(shape.batch);
  const double k = static_cast<double>(shape.k);
  const BytesPerSecond dram = gpu.dram.bandwidth * gpu.dram.mixed_efficiency;
  const Seconds stream = Bytes{rows * k * (read + written)} / dram;
  const double steps = std::ceil(k * read / under_way);
  const Seconds row = (gpu.dram.latency + gpu.l2.latency / gpu.clock.sustained) * steps;
  const Seconds rounds = row * std::ceil(rows / (gpu.sms * ctas_per_sm));
  return gpu.launch.kernel + gpu.dram.latency + std::max(stream, rounds);
}

}  // namespace noteg::validate
