#include "sim/gpu/environment.hpp"

#include <algorithm>
#include <cmath>

#include "sim/memory/dram.hpp"

namespace noteg::gpu {

namespace {

// Latencies are quantised so that measured files with thousands of shapes share SM simulations: finely where tiles
// wait for DRAM, in whole cycles so that main loops become periodic; coarsely for hits, which most loops hide.
constexpr double wait_step = 1.03, hit_step = 1.15;

// So are ratios of clocks, since every shape that the power limit holds back runs at a clock of its own.
constexpr double clock_step = 1.02;

// And shares of L2, since grids that leave the last wave ragged each have one of their own.
constexpr double share_step = 1.005, shared_share_step = 1.1;

constexpr double unlimited = 1e9;  // bytes per cycle

double quantised(double latency, double step) { return std::pow(step, std::round(std::log(latency) / std::log(step))); }

double l2_latency(const EnvironmentRequest& request) {
  const arch::L2Spec& l2 = request.gpu->l2;
  // Data beyond one partition's half is reached through the other one half of the time.
  if (l2.partitions > 1 && request.footprint_bytes > l2.size.value / l2.partitions)
    return 0.5 * (l2.latency.value + l2.far_latency.value);
  return l2.latency.value;
}

double dram_latency(const EnvironmentRequest& request) {
  const arch::DramSpec& dram = request.gpu->dram;
  const double service = (dram.service * request.clocks.dram).value;
  return (dram.latency * request.clocks.dram).value + memory::last_of_group(request.waiting_places, service) +
         memory::queue_wait(request.dram_utilisation,
                            request.opens_rows ? (dram.row_cycle * request.clocks.dram).value : service);
}

// Bytes per SM cycle of a rate that the file states at the highest clock.
double l2_rate(const EnvironmentRequest& request, BytesPerCycle rate) {
  return rate.value * quantised(l2_cycles_per_cycle(*request.gpu, request.clocks.l2), clock_step);
}

// SMs that are in step read their tiles of C all at once, at what DRAM gives them all. They stay so for some rounds of
// CTAs and have drifted apart then (GPPERF: 64 KB for each of 46 SMs take 5.9 us longer in grids of up to six rounds,
// which is their time in DRAM, 2.4 us in 88 and 175 rounds, which is the latency of eight rows one after the other).
// Eight rounds are a judgement, made on these runs.
void set_reads_of_c(const EnvironmentRequest& request, sm::MemoryEnvironment& out) {
  constexpr double rounds_in_step = 8;
  if (request.c_missing <= 0) return;
  const arch::DramSpec& dram = request.gpu->dram;
  const double waits = quantised((dram.latency * request.clocks.dram).value, wait_step);
  out.c_latency = out.latency + std::max(0.0, std::round(waits) - out.latency) * request.c_missing;
  const double in_step = std::min(1.0, rounds_in_step / request.rounds) * request.c_missing;
  const double share = request.ctas.share_of(dram.bandwidth.value * dram.read_efficiency / request.clocks.dram.value,
                                             request.gpu->l2.sm_bandwidth.value);
  out.c_bytes_per_cycle = quantised(share / in_step, wait_step);
}

}  // namespace

double l2_cycles_per_cycle(const arch::GpuSpec& gpu, Hertz clock) {
  return !gpu.l2.own_clock ? 1.0 : std::max(1.0, gpu.clock.boost / clock);
}

double CtaSpread::even_share_of(double rate) const {
  return rate / static_cast<double>(std::min<std::int64_t>(all, sms));
}

double CtaSpread::share_of(double rate, double per_sm) const {
  const std::int64_t waves = (fullest - 1) / resident;  // whole ones before the last
  const auto before = static_cast<double>(waves * resident * sms);
  const double last = static_cast<double>(all) - before, last_here = static_cast<double>(fullest - waves * resident);
  return static_cast<double>(fullest) / (before / rate + std::max(last / rate, last_here / per_sm));
}

BytesPerSecond dram_bandwidth(const arch::DramSpec& dram, double read_bytes, double write_bytes) {
  const double total = read_bytes + write_bytes;
  const double written = total > 0 ? write_bytes / total : 0;
  // Turning the bus round costs most when reads and writes are equally frequent.
  const double mix = std::min(1.0, 2.0 * std::min(written, 1.0 - written));
  const double efficiency = dram.read_efficiency + (dram.mixed_efficiency - dram.read_efficiency) * mix;
  return dram.bandwidth * efficiency * dram.tile_efficiency;
}

double dram_rows_per_second(const arch::DramSpec& dram) {
  // An RTX 4070 so reads 205 GB/s by 64 bytes; its naive kernels with deep loops stop at 183 to 215 (GPPERF, tiles of 8
  // and 16).
  return std::max(1, dram.bus_bits / dram.channel_bits) * dram.banks * dram.busy_banks / dram.row_cycle.value;
}

namespace {

Seconds time_of_rows(const arch::DramSpec& dram, const memory::ReuseResult& traffic) {
  return Seconds{traffic.opened_rows / dram_rows_per_second(dram)};
}

Seconds time_of_bytes(const arch::DramSpec& dram, const memory::ReuseResult& traffic) {
  const double read = traffic.dram_read_bytes, written = traffic.dram_write_bytes;
  return Seconds{(read + written) / dram_bandwidth(dram, read, written).value};
}

}  // namespace

Seconds dram_time(const arch::DramSpec& dram, const memory::ReuseResult& traffic) {
  return std::max(time_of_bytes(dram, traffic), time_of_rows(dram, traffic));
}

bool opens_rows(const arch::DramSpec& dram, const memory::ReuseResult& traffic) {
  return time_of_rows(dram, traffic) > time_of_bytes(dram, traffic);
}

sm::MemoryEnvironment memory_environment(const EnvironmentRequest& request, TileSource source) {
  const arch::GpuSpec& gpu = *request.gpu;
  sm::MemoryEnvironment out;
  const double near = quantised(l2_latency(request), hit_step);
  out.latency =
      source == TileSource::l2 ? near : std::max(near, std::round(quantised(dram_latency(request), wait_step)));
  out.l1_latency = gpu.sm.memory.ldg_latency.value;
  out.l1_hit_rate = request.l1_hit_rate;
  out.shared = request.shared;
  const auto share_of = [&](double rate) {
    const double per_sm = gpu.l2.sm_bandwidth.value;
    const double step = request.share_runs ? shared_share_step : share_step;
    const double even = request.ctas.even_share_of(rate);
    return std::min(per_sm, even * quantised(request.ctas.share_of(rate, per_sm) / even, step));
  };
  out.read_bytes_per_cycle = share_of(l2_rate(request, gpu.l2.read_bandwidth) / request.reads_that_arrive);
  // Kernels on tensor cores leave L2 little time without a request: bursts of SMs meet.
  if (!request.tensor_cores) out.read_burst_bytes_per_cycle = gpu.l2.sm_bandwidth.value;
  out.write_bytes_per_cycle = share_of(l2_rate(request, gpu.l2.write_bandwidth));
  out.boxes = request.boxes;
  set_reads_of_c(request, out);
  if (!request.latency_limits) out.latency = out.c_latency = out.l1_latency;
  if (!request.l2_limits) {
    out.read_bytes_per_cycle = out.read_burst_bytes_per_cycle = out.write_bytes_per_cycle = unlimited;
    out.c_bytes_per_cycle = 0;
    for (sm::BoxTraffic& box : out.boxes) box.cycles = 0;
  }
  return out;
}

}  // namespace noteg::gpu
