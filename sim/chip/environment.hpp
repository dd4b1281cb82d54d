// What the chip looks like from one SM during a kernel: latency of loads that leave it, and its share of the
// bandwidth behind it. Loads of a tile either find it in L2 or wait for DRAM, all of them together, so there are two
// environments and not one with a mean latency.
#pragma once

#include <cstdint>

#include "arch/spec.hpp"
#include "sim/core/engine.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::chip {

enum class TileSource : std::uint8_t { l2, dram };

// At which L2's bytes per second and the nanoseconds of DRAM become bytes and latencies in cycles.
struct EnvironmentClocks {
  Hertz l2, dram;
};

struct EnvironmentRequest {
  const arch::GpuSpec* gpu = nullptr;
  EnvironmentClocks clocks;
  int active_sms = 1;
  double footprint_bytes = 0;  // A, B and C
  double l1_hit_rate = 0;      // of the sectors that loads ask for
  std::array<core::SharedSectors, 4> shared{};
  double reads_that_arrive = 1;             // Traffic::reads_that_arrive
  double waiting_places = 1;                // in DRAM where what a waiting k tile misses lies
  double c_missing = 0;                     // 0..1, of the C that is read: comes from DRAM
  double rounds = 1;                        // of CTAs on an SM
  bool tensor_cores = false;                // the kernel computes there
  bool l2_limits = true;                    // false: L2 delivers at any rate
  bool latency_limits = true;               // false: all answers come as fast as from L1
  std::array<core::BoxTraffic, 3> boxes{};  // of bulk copies
  double dram_utilisation = 0;              // 0..1, of the achievable bandwidth or of the rows that can be opened
  bool opens_rows = false;                  // loads queue for banks that open rows, not for the bus
};

[[nodiscard]] core::MemoryEnvironment memory_environment(const EnvironmentRequest& request, TileSource source);

// Achievable DRAM bandwidth for a mix of reads and writes.
[[nodiscard]] BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, double read_bytes, double write_bytes);

// Rows per second that DRAM opens at random places.
[[nodiscard]] double dram_rows_per_second(const arch::DramSpec& dram);

// Time of a kernel's bytes in DRAM: by bandwidth, or by the rows that have to be opened where that takes longer.
[[nodiscard]] Seconds dram_time(const arch::DramSpec& dram, const memory::ReuseResult& traffic);
[[nodiscard]] bool opens_rows(const arch::DramSpec& dram, const memory::ReuseResult& traffic);

}  // namespace noteg::chip
