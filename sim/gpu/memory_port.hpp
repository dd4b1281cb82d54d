// The memory port of one SM during a kernel: latency of loads that leave it, and its share of the bandwidth behind it.
// Loads of a step either find their data in L2 or wait for DRAM, all of them together, so there are two ports and not
// one with a mean latency.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/spec.hpp"
#include "sim/gpu/dram.hpp"
#include "sim/gpu/l2_traffic.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::gpu {

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

struct PortRequest {
  const arch::GpuSpec* gpu = nullptr;
  Traffic traffic{};
  CtaSpread ctas;
  double waves = 1;            // of CTAs on an SM
  double l2_wait = 0;          // cycles of a load, for L2 that is busy (KernelTime::l2_wait_at)
  bool asks_always = false;    // copies run ahead of tensor cores: the port is seldom idle
  bool l2_limits = true;       // false: L2 delivers at any rate
  bool dram_limits = true;     // false: DRAM does
  bool has_constants = false;  // of the module's own
  bool latency_limits = true;  // false: all answers come as fast as from L1
  bool shares_runs = false;    // with many shapes: waits for DRAM are rounded, so that they meet

  // What the kernel takes beside its CTAs.
  [[nodiscard]] Seconds launch_time() const;
};

// Where all misses are served by L2. At a clock: an L2 with a clock of its own (l2.own_clock) keeps its bytes per
// second, and DRAM its nanoseconds.
[[nodiscard]] sm::MemoryPort port_to_l2(const PortRequest& request, Hertz clock);

// The same where steps wait for DRAM, `latency` cycles in all.
[[nodiscard]] sm::MemoryPort port_to_dram(const PortRequest& request, Hertz clock, double latency);

// Cycles until the last of what a waiting step misses has come, in DRAM that is busy for `utilisation` of the time
// (0..1, of the achievable bandwidth or of the rows that can be opened).
struct DramLatency {
  double of_l2 = 0;  // no access is served before
  DramQueue dram;
  [[nodiscard]] double at(double utilisation) const { return std::max(of_l2, dram.wait(utilisation)); }
};
[[nodiscard]] DramLatency dram_latency(const PortRequest& request, Hertz clock);

// Cycles of L2 for each of an SM at this clock, 1 where it has no clock of its own (H200M: GEMMs on tensor cores
// at 1.70 to 1.75 GHz draw 8.2 to 9.5 TB/s from L2, FFMA-clock loops at 1.98 GHz 8.5).
[[nodiscard]] double l2_cycles_per_cycle(const arch::GpuSpec& gpu, Hertz clock);

}  // namespace noteg::gpu
