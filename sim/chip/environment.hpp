// What the chip looks like from one SM during a kernel: mean latency of loads that leave it, and its
// share of the bandwidth behind it.
#pragma once

#include "arch/spec.hpp"
#include "sim/core/engine.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::chip {

struct EnvironmentRequest {
  const arch::GpuSpec* gpu = nullptr;
  Hertz clock;
  int active_sms = 1;
  double footprint_bytes = 0;   // A, B and C
  double dram_fraction = 0;     // of A and B requests, by bytes
  double dram_utilisation = 0;  // 0..1, of the achievable bandwidth
};

[[nodiscard]] core::MemoryEnvironment memory_environment(const EnvironmentRequest& request);

// Achievable DRAM bandwidth for a mix of reads and writes.
[[nodiscard]] BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, double read_bytes, double write_bytes);

}  // namespace noteg::chip
