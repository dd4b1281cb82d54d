#include "sim/chip/environment.hpp"

#include <algorithm>
#include <cmath>

namespace noteg::chip {

namespace {

// CTAs that share a tile walk K together: the first to ask waits for DRAM and the others wait for the same
// line, so that a small fraction of misses delays nearly every trip. With n sharers in step the chance that a
// trip meets a miss is 1 - (1 - f)^n.
constexpr double sharers_in_step = 8;

// Latencies are quantised so that measured files with thousands of shapes share SM simulations; main loops
// with stages in flight do not feel steps of this size.
constexpr double latency_step = 1.15;

double quantised(double latency) {
  return std::pow(latency_step, std::round(std::log(latency) / std::log(latency_step)));
}

}  // namespace

BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, double read_bytes, double write_bytes) {
  const double total = read_bytes + write_bytes;
  const double written = total > 0 ? write_bytes / total : 0;
  // Turning the bus round costs most when reads and writes are equally frequent.
  const double mix = std::min(1.0, 2.0 * std::min(written, 1.0 - written));
  const double efficiency = dram.read_efficiency + (dram.mixed_efficiency - dram.read_efficiency) * mix;
  return dram.bandwidth * efficiency;
}

core::MemoryEnvironment memory_environment(const EnvironmentRequest& request) {
  const arch::GpuSpec& gpu = *request.gpu;
  core::MemoryEnvironment out;
  // Data beyond one partition's half is reached through the other one half of the time.
  double hit = gpu.l2.latency.value;
  if (gpu.l2.partitions > 1 && request.footprint_bytes > gpu.l2.size.value / gpu.l2.partitions) {
    hit = 0.5 * (gpu.l2.latency.value + gpu.l2.far_latency.value);
  }
  const double dram = (gpu.dram.latency * request.clock).value;
  const double met = 1.0 - std::pow(1.0 - std::clamp(request.dram_fraction, 0.0, 1.0), sharers_in_step);
  double latency = hit + met * std::max(0.0, dram - hit);
  // Queues in front of a busy DRAM: up to twice the latency close to saturation.
  const double load = std::clamp(request.dram_utilisation, 0.0, 1.0);
  latency *= 1.0 + met * load * load * load * load;
  out.latency = quantised(latency);
  out.l1_latency = gpu.sm.memory.ldg_latency.value;
  out.read_bytes_per_cycle =
      std::min(gpu.l2.sm_bandwidth.value, gpu.l2.read_bandwidth.value / std::max(1, request.active_sms));
  out.write_bytes_per_cycle =
      std::min(gpu.l2.sm_bandwidth.value, gpu.l2.write_bandwidth.value / std::max(1, request.active_sms));
  return out;
}

}  // namespace noteg::chip
