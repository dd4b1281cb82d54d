// DRAM during a kernel: how long its bytes take, and how long a step waits for what L2 does not hold. Known load only;
// the load itself follows from the kernel's time (kernel_time.hpp).
#pragma once

#include "arch/spec.hpp"
#include "sim/gpu/l2_traffic.hpp"

namespace noteg::gpu {

inline constexpr double dram_row_bytes = 1024;  // of a pseudo channel of HBM (JESD238); of GDDR6's channels half

// Achievable bandwidth for a mix of reads and writes.
[[nodiscard]] BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, double read_bytes, double write_bytes);

// As far as the bytes follow each other (stream_share) tiles do not slow them down.
[[nodiscard]] BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, const Traffic& traffic);

// Rows that it holds open at a time: one in each bank of each channel.
[[nodiscard]] double dram_banks(const arch::DramSpec& dram);

// Rows per second that DRAM opens at random places.
[[nodiscard]] double dram_rows_per_second(const arch::DramSpec& dram);

// Time of a kernel's bytes in DRAM: by bandwidth, or by the rows that have to be opened where that takes longer.
[[nodiscard]] Seconds dram_time(const arch::DramSpec& dram, const Traffic& traffic);
[[nodiscard]] bool opens_rows(const arch::DramSpec& dram, const Traffic& traffic);

// Cycles at a clock from the first access of a waiting step to the last of its answers: the unloaded latency with the
// spread of the last of the accesses, a queue for the bus or for banks that open rows, and the batches in which DRAM
// writes: a read that comes meanwhile waits for the rest of one. What accesses wait in queues spreads as they do
// themselves, so that the last of a step waits longer than one alone (H200M, dram_group_loaded: pieces of 16 KB behind
// a barrier wait 413 cycles longer at 0.81 of the bandwidth than at 0.31, one access 113).
struct DramQueue {
  double unloaded = 0;
  double service = 0;  // of who stands before in the queue
  double writing = 0;  // of DRAM's busy time
  double drain = 0;    // a batch of writes
  double last = 1;     // of the queues of a step: its wait, over that in one
  [[nodiscard]] double wait(double utilisation) const;
};
[[nodiscard]] DramQueue dram_queue(const arch::DramSpec& dram, const Traffic& traffic, Hertz clock);

}  // namespace noteg::gpu
