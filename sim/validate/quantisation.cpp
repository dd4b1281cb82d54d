#include "sim/validate/quantisation.hpp"

namespace noteg::validate {

Seconds quantisation_time(const arch::GpuSpec& gpu, const kernels::GemmShape& shape, kernels::DataType type) {
  constexpr double read = 2;  // bytes per element
  const double written = kernels::stored_bytes_of(type);
  const double elements =
      static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.batch);
  const BytesPerSecond dram = gpu.dram.bandwidth * gpu.dram.mixed_efficiency;
  // Launch, one round trip to memory, then the stream.
  return gpu.launch.kernel + gpu.dram.latency + Bytes{elements * (read + written)} / dram;
}

}  // namespace noteg::validate
