#include "sim/gpu/memory_port.hpp"

#include <algorithm>
#include <cmath>

#include "sim/gpu/dram.hpp"
#include "sim/gpu/launch.hpp"
#include "sim/memory/l2_lookups.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::gpu {

namespace {

// Ports are rounded so that shapes and clocks share SM runs: waits for DRAM where there are many shapes, since times of
// other waits lie on a line (kernel_time.hpp); ratios of clocks, since every shape that the power limit holds back runs
// at a clock of its own; shares of L2, since grids that leave the last wave partial each have one of their own; the
// mean number of readers, since each shape has one of its own. Waits are whole cycles, so that main loops become
// periodic. How much longer L2 answers where it is busy goes in the steps of its shares.
constexpr double wait_step = 1.15, clock_step = 1.02, share_step = 1.02, step_of_c = 1.03, step_of_sharers = 2;

constexpr double unlimited = 1e9;  // bytes per cycle

double rounded(double value, double step) {
  return portable::pow(step, std::round(portable::log(value) / portable::log(step)));
}

double l2_latency(const PortRequest& request) {
  const arch::L2Spec& l2 = request.gpu->l2;
  const Traffic& t = request.traffic;
  const double sharers = rounded(std::max(1.0, t.sharers), step_of_sharers);
  const double beside = memory::partitions_beside_home(sharers, l2.partitions);
  // Each partition whose SMs ask for what lies in another has a copy, and keeps one of what they write (near up to 35
  // MB that each SM reads for itself and 17 MB copied to 17 others on an H200, not so 17 to 17 on an H100: load_chain,
  // h100_memory_launches). Where there is no room for that, the first to ask on its side waits for the way there, of
  // all that ask for the sector.
  const double read = std::max(0.0, t.footprint_bytes - t.result_bytes);
  const double held = read * (1 + beside) + t.result_bytes * (1 + memory::partitions_beside_home(1, l2.partitions));
  if (held <= l2.kept_below * l2.size.value) return l2.latency.value;
  return l2.latency.value + beside / sharers * (l2.far_latency.value - l2.latency.value);
}

// Each SM lies at its own distance. Where all CTAs run at once the one that lies worst ends last: the farthest of n
// that are spread evenly. The more waves, the more CTAs go to those that lie better. Returns the part of its distance
// from the mean that makes itself felt.
double of_worst(const CtaSpread& ctas) {
  const auto n = static_cast<double>(std::min<std::int64_t>(ctas.all, ctas.sms));
  const double room = static_cast<double>(ctas.resident) * ctas.sms / static_cast<double>(ctas.all);
  return (n - 1) / (n + 1) * std::min(1.0, room);
}

double behind_mean(const PortRequest& request) {
  return request.gpu->l2.slowest_sm * request.gpu->l2.latency.value * of_worst(request.ctas);
}

// The SM's share of what L2 delivers, whose rate the file states at the highest clock. The SM runs whole tiles, of
// which L2 sees what lies `inside` the matrix.
double l2_share(const PortRequest& request, double rate, double inside, double per_sm, Hertz clock) {
  const double now = rate * rounded(l2_cycles_per_cycle(*request.gpu, clock), clock_step);
  const double even = request.ctas.even_share_of(now);
  return std::min(per_sm, even * rounded(request.ctas.share_of(now, per_sm) / inside / even, share_step));
}

// SMs that are in lockstep read their tiles of C all at once, at what DRAM gives them all. They stay so for some waves
// of CTAs and have drifted apart then: what they wait for is the time of all bytes in DRAM first, and the latency of
// some rows one after the other later.
void set_reads_of_c(const PortRequest& request, Hertz clock, sm::MemoryPort& out) {
  const arch::DramSpec& dram = request.gpu->dram;
  const double missing = request.dram_limits ? request.traffic.c_missing : 0;
  if (missing <= 0) return;
  const double waits = rounded((dram.latency * clock).value, step_of_c);
  out.c_latency = out.latency + std::max(0.0, std::round(waits) - out.latency) * missing;
  const double in_lockstep = std::min(1.0, request.gpu->sm.lockstep_waves / request.waves) * missing;
  const double share = request.ctas.share_of(dram.bandwidth.value * dram.read_efficiency / clock.value,
                                             request.gpu->l2.sm_bandwidth.value);
  out.c_bytes_per_cycle = rounded(share / in_lockstep / request.traffic.writes_inside, step_of_c);
}

}  // namespace

double l2_cycles_per_cycle(const arch::GpuSpec& gpu, Hertz clock) {
  return !gpu.l2.own_clock ? 1.0 : std::max(1.0, gpu.clock.boost / clock);
}

Seconds PortRequest::launch_time() const {
  const arch::LaunchSpec& launch = gpu->launch;
  return launch.kernel + end_of_memory(*gpu, traffic, ctas.sms) + (has_constants ? launch.constants : Seconds{});
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

DramLatency dram_latency(const PortRequest& request, Hertz clock) {
  if (!request.latency_limits) return {request.gpu->sm.memory.ldg_latency.value, {}};
  return {l2_latency(request), dram_queue(request.gpu->dram, request.traffic, clock)};
}

sm::MemoryPort port_to_l2(const PortRequest& request, Hertz clock) {
  const arch::GpuSpec& gpu = *request.gpu;
  sm::MemoryPort out;
  const auto answered = [&](double latency) {
    return std::round(latency * rounded(1 + request.l2_wait / latency, share_step));
  };
  out.latency = out.l2_latency = answered(l2_latency(request) + behind_mean(request));
  if (request.traffic.asks_again) out.l2_latency = answered(gpu.l2.latency.value + behind_mean(request));
  out.l1_latency = gpu.sm.memory.ldg_latency.value;
  out.l1_hit_rate = request.traffic.l1_hit_rate;
  out.shared = request.traffic.shared;
  const double per_sm = gpu.l2.sm_bandwidth.value;
  const double sent = gpu.l2.sm_write_bandwidth.value > 0 ? gpu.l2.sm_write_bandwidth.value : per_sm;
  out.read_bytes_per_cycle =
      l2_share(request, gpu.l2.read_bandwidth.value / (request.traffic.reads_that_arrive * request.traffic.read_beats),
               request.traffic.reads_inside, per_sm, clock);
  out.read_bytes_per_cycle *= rounded(1 - gpu.l2.slowest_rate * of_worst(request.ctas), share_step);
  // Copies that run ahead leave L2 little time without a request: bursts of SMs meet. A loop that waits for its loads
  // lets others have theirs meanwhile (an L40S: products of 8-bit floats in loops of two stages).
  if (!request.asks_always) out.read_burst_bytes_per_cycle = per_sm;
  out.write_bytes_per_cycle =
      l2_share(request, gpu.l2.write_bandwidth.value, request.traffic.writes_inside, sent, clock);
  out.write_burst_bytes_per_cycle = sent;
  out.store_mask = gpu.l2.store_mask;
  out.boxes = request.traffic.boxes;
  out.inside = rounded(request.traffic.reads_inside, share_step);
  set_reads_of_c(request, clock, out);
  if (!request.latency_limits) out.answer_at_once();
  if (!request.l2_limits) {
    out.read_bytes_per_cycle = out.read_burst_bytes_per_cycle = unlimited;
    out.write_bytes_per_cycle = out.write_burst_bytes_per_cycle = unlimited;
    out.c_bytes_per_cycle = 0;
    for (sm::BoxTraffic& box : out.boxes) box.cycles = 0;
  }
  return out;
}

sm::MemoryPort port_to_dram(const PortRequest& request, Hertz clock, double latency) {
  sm::MemoryPort out = port_to_l2(request, clock);
  if (!request.latency_limits) return out;
  out.latency = std::max(out.latency, std::round(request.shares_runs ? rounded(latency, wait_step) : latency));
  return out;
}

}  // namespace noteg::gpu
