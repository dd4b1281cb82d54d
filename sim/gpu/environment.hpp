// What the chip looks like from one SM during a kernel: latency of loads that leave it, and its share of the
// bandwidth behind it. Loads of a tile either find it in L2 or wait for DRAM, all of them together, so there are two
// environments and not one with a mean latency.
#pragma once

#include <cstdint>

#include "arch/spec.hpp"
#include "sim/memory/tile_reuse.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::gpu {

enum class TileSource : std::uint8_t { l2, dram };

// At which L2's bytes per second and the nanoseconds of DRAM become bytes and latencies in cycles.
struct EnvironmentClocks {
  Hertz l2, dram;
};

// How the CTAs of a launch fall onto the SMs, and what the fullest SM so gets of a rate that all of them share.
struct CtaSpread {
  std::int64_t all = 1, fullest = 1;  // of the launch, of the SM that gets most
  int resident = 1, sms = 1;

  // Bytes per cycle, mean over the SM's CTAs. Every CTA gets the same: in whole waves an SM gets what any other does,
  // in the last one as many parts as it has CTAs, and never more than `per_sm`.
  [[nodiscard]] double share_of(double rate, double per_sm) const;
  // What every SM with work would get if all had the same.
  [[nodiscard]] double even_share_of(double rate) const;
};

struct EnvironmentRequest {
  const arch::GpuSpec* gpu = nullptr;
  EnvironmentClocks clocks;
  CtaSpread ctas;
  bool share_runs = false;     // SimOptions::share_runs
  double footprint_bytes = 0;  // A, B and C
  double l1_hit_rate = 0;      // of the sectors that loads ask for
  std::array<sm::SharedSectors, 4> shared{};
  double reads_that_arrive = 1;           // Traffic::reads_that_arrive
  double waiting_places = 1;              // in DRAM where what a waiting k tile misses lies
  double c_missing = 0;                   // 0..1, of the C that is read: comes from DRAM
  double rounds = 1;                      // of CTAs on an SM
  bool tensor_cores = false;              // the kernel computes there
  bool l2_limits = true;                  // false: L2 delivers at any rate
  bool latency_limits = true;             // false: all answers come as fast as from L1
  std::array<sm::BoxTraffic, 3> boxes{};  // of bulk copies
  double dram_utilisation = 0;            // 0..1, of the achievable bandwidth or of the rows that can be opened
  bool opens_rows = false;                // loads queue for banks that open rows, not for the bus
};

// Cycles of L2 for each of an SM at this clock: an L2 with a clock of its own (l2.own_clock) keeps its
// bytes per second where the SM clock falls (H200M: GEMMs on tensor cores at 1.70 to 1.75 GHz draw 8.2 to 9.5 TB/s from
// L2, FFMA-clock loops at 1.98 GHz 8.5).
[[nodiscard]] double l2_cycles_per_cycle(const arch::GpuSpec& gpu, Hertz clock);

[[nodiscard]] sm::MemoryEnvironment memory_environment(const EnvironmentRequest& request, TileSource source);

// Achievable DRAM bandwidth for a mix of reads and writes.
[[nodiscard]] BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, double read_bytes, double write_bytes);

// Rows per second that DRAM opens at random places.
[[nodiscard]] double dram_rows_per_second(const arch::DramSpec& dram);

// Time of a kernel's bytes in DRAM: by bandwidth, or by the rows that have to be opened where that takes longer.
[[nodiscard]] Seconds dram_time(const arch::DramSpec& dram, const memory::ReuseResult& traffic);
[[nodiscard]] bool opens_rows(const arch::DramSpec& dram, const memory::ReuseResult& traffic);

}  // namespace noteg::gpu
