#include "sim/gpu/dram.hpp"

#include <algorithm>
#include <cmath>

#include "sim/memory/dram.hpp"

namespace noteg::gpu {

namespace {

Seconds time_of_rows(const arch::DramSpec& dram, const Traffic& traffic) {
  return Seconds{traffic.opened_rows / dram_rows_per_second(dram)};
}

Seconds time_of_bytes(const arch::DramSpec& dram, const Traffic& traffic) {
  return Seconds{(traffic.dram_read_bytes + traffic.dram_write_bytes) / dram_bandwidth(dram, traffic).value};
}

}  // namespace

BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, double read_bytes, double write_bytes) {
  const double total = read_bytes + write_bytes;
  const double written = total > 0 ? write_bytes / total : 0;
  // Turning the bus round costs most when reads and writes are equally frequent. Writes wait to go together, reads do
  // not. Of the loss of a copy, streams of an H100 that write 1/3, 1/2, 2/3, 4/5 and 8/9 have 0.69, 1, 0.98, 0.95 and
  // 0.92 (H100M); those that only read or only write none.
  const double mix = std::min({1.0, 2.0 * written, 8.0 * (1.0 - written)});
  const double efficiency = dram.read_efficiency + (dram.mixed_efficiency - dram.read_efficiency) * mix;
  return dram.bandwidth * efficiency * dram.tile_efficiency;
}

BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, const Traffic& traffic) {
  return dram_bandwidth(dram, traffic.dram_read_bytes, traffic.dram_write_bytes) *
         std::pow(dram.tile_efficiency, -traffic.stream_share);
}

double dram_banks(const arch::DramSpec& dram) {
  return static_cast<double>(std::max(1, dram.bus_bits / dram.channel_bits)) * dram.banks;
}

double dram_rows_per_second(const arch::DramSpec& dram) {
  // An RTX 4070 so reads 205 GB/s by 64 bytes; its naive kernels with deep loops stop at 183 to 215 (GPPERF, tiles of 8
  // and 16).
  return dram_banks(dram) * dram.busy_banks / dram.row_cycle.value;
}

Seconds dram_time(const arch::DramSpec& dram, const Traffic& traffic) {
  return std::max(time_of_bytes(dram, traffic), time_of_rows(dram, traffic));
}

bool opens_rows(const arch::DramSpec& dram, const Traffic& traffic) {
  return time_of_rows(dram, traffic) > time_of_bytes(dram, traffic);
}

DramQueue dram_queue(const arch::DramSpec& dram, const Traffic& traffic, Hertz clock) {
  const double service = (dram.service * clock).value;
  const bool is_known = traffic.waits_at_once && dram.spread.value > 0;
  const double spread = is_known ? (dram.spread * clock).value : service;
  const double bytes = traffic.dram_read_bytes + traffic.dram_write_bytes;
  return {(dram.latency * clock).value + memory::last_of_group(traffic.waiting_places, spread),
          opens_rows(dram, traffic) ? (dram.row_cycle * clock).value : service,
          bytes > 0 ? traffic.dram_write_bytes / bytes : 0, (dram.write_drain * clock).value,
          1 + memory::last_of_group(traffic.queued_places, 1)};
}

double DramQueue::wait(double utilisation) const {
  return unloaded + last * memory::queue_wait(utilisation, service) + utilisation * writing * drain;
}

}  // namespace noteg::gpu
