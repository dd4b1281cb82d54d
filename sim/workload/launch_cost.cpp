#include "sim/workload/launch_cost.hpp"

#include <algorithm>

#include "sim/gpu/operating_point.hpp"

namespace noteg::workload {
namespace {

struct StreamTimes {
  Seconds start, l2, dram;
  [[nodiscard]] Seconds total() const { return start + std::max(l2, dram); }
};

StreamTimes stream_times(const arch::GpuSpec& gpu, const StreamLaunch& launch, double dram_reads, Hertz clock) {
  const Hertz l2_clock = gpu.l2.own_clock ? gpu.clock.boost : clock;
  const double written = launch.write_bytes;
  const double efficiency = written > 0 ? gpu.dram.mixed_efficiency : gpu.dram.read_efficiency;
  const Seconds l2 = Bytes{launch.read_bytes} / (gpu.l2.read_bandwidth * l2_clock) +
                     Bytes{written} / (gpu.l2.write_bandwidth * l2_clock);
  return {gpu.launch.kernel + gpu.dram.latency, l2, Bytes{dram_reads + written} / (gpu.dram.bandwidth * efficiency)};
}

// Loads and stores of 16 bytes a lane, and one multiply-add for each four bytes.
power::Activity stream_activity(const arch::GpuSpec& gpu, const StreamLaunch& launch, double dram_reads, Hertz clock) {
  constexpr double warp_bytes = 512, pass_bytes = 128;
  power::Activity a;
  a.time = stream_times(gpu, launch, dram_reads, clock).total();
  const double moved = launch.read_bytes + launch.write_bytes;
  const auto issued = [&](kernels::Opcode opcode) -> double& { return a.issued[static_cast<std::size_t>(opcode)]; };
  issued(kernels::Opcode::ldg) = launch.read_bytes / warp_bytes;
  issued(kernels::Opcode::stg) = launch.write_bytes / warp_bytes;
  issued(kernels::Opcode::ffma) = 4 * launch.read_bytes / warp_bytes;
  a.operands = 3 * issued(kernels::Opcode::ffma) + 4 * issued(kernels::Opcode::stg);
  a.data_passes = moved / pass_bytes;
  a.data_bytes = Bytes{moved};
  a.l2_bytes = Bytes{moved};
  a.dram_read_bytes = Bytes{dram_reads};
  a.dram_write_bytes = Bytes{launch.write_bytes};
  a.sm_cycles = (a.time * clock).value * gpu.sms;
  return a;
}

LaunchCost at_operating_point(const Machine& machine, power::ActivityAt activity_at) {
  const power::OperatingPoint point = power::solve_clock(gpu::clock_request(machine.gpu, machine.sim), activity_at);
  LaunchCost out;
  const Seconds time = activity_at(point.clock).time;
  out.time_us = time.value * 1e6;
  out.power_w = point.board.power.value;
  out.energy_mj = (point.board.power * time).value * 1e3;
  out.sm_clock_mhz = point.clock.value * 1e-6;
  out.throttled = point.throttled;
  out.throttle_reason = gpu::throttle_reason(machine.gpu, machine.sim, point);
  out.activity_at = std::move(activity_at);
  return out;
}

}  // namespace

arch::GpuSpec with_clock_cap(arch::GpuSpec gpu, Hertz cap) {
  const Hertz tensor = std::min(cap, power::highest_clock(gpu, true));
  gpu.clock.sustained = std::min(cap, gpu.clock.sustained);
  gpu.sm.tensor.clock_share = std::min(1.0, tensor / gpu.clock.sustained);
  return gpu;
}

double kept_in_l2(const arch::GpuSpec& gpu, double bytes) {
  const double share = bytes / gpu.l2.size.value;
  return std::clamp((gpu.l2.gone_above - share) / (gpu.l2.gone_above - gpu.l2.kept_below), 0.0, 1.0);
}

power::Activity idle_for(Seconds time) {
  power::Activity a;
  a.time = time;
  return a;
}

LaunchCost cost_of(const Machine& machine, const StreamLaunch& launch) {
  const double resident = std::min(launch.resident_bytes, launch.read_bytes);
  const double dram_reads = launch.read_bytes - resident * kept_in_l2(machine.gpu, resident);
  const auto shared = machine.gpu;  // activity_at outlives the machine
  LaunchCost out = at_operating_point(machine, [shared, launch, dram_reads](Hertz clock) {
    return stream_activity(shared, launch, dram_reads, clock);
  });
  const StreamTimes times = stream_times(machine.gpu, launch, dram_reads, Hertz{out.sm_clock_mhz * 1e6});
  out.dram_bytes = dram_reads + launch.write_bytes;
  out.limiter = times.start > std::max(times.l2, times.dram) ? "latency"
                : times.l2 > times.dram                      ? "l2_bandwidth"
                                                             : "dram_bandwidth";
  return out;
}

// Each GPU sends 2 (ranks - 1) / ranks of its bytes.
LaunchCost cost_of(const Machine& machine, const CollectiveLaunch& launch) {
  const double sent = 2 * launch.bytes * (launch.ranks - 1) / std::max(1, launch.ranks);
  const Seconds stream = Bytes{sent} / machine.links.bandwidth;
  const Seconds time = launch.ranks > 1 ? machine.links.latency + stream : Seconds{};
  LaunchCost out = at_operating_point(machine, [time](Hertz) { return idle_for(time); });
  out.limiter = machine.links.latency > stream ? "link_latency" : "link_bandwidth";
  return out;
}

Result<LaunchCost> cost_of(const Machine& machine, const GemmLaunch& launch, const kernels::KernelConfig& kernel,
                           gpu::SmCache& cache) {
  const Result<gpu::SimReport> report = gpu::simulate(machine.gpu, kernel, launch.shape, machine.sim, cache);
  if (!report) return report.errors();
  LaunchCost out;
  out.time_us = report->time_us;
  out.energy_mj = report->energy_mj;
  out.power_w = report->power_w;
  out.sm_clock_mhz = report->sm_clock_mhz;
  out.throttled = report->throttled;
  out.throttle_reason = report->throttle_reason;
  out.flops = launch.shape.flops();
  out.dram_bytes = report->memory.dram_read_bytes + report->memory.dram_write_bytes;
  out.kernel = report->kernel.name;
  if (kernel.split_k > 1) out.kernel += " K/" + std::to_string(kernel.split_k);
  out.limiter = report->bottleneck.name;
  out.activity_at = report->activity_at;
  return out;
}

}  // namespace noteg::workload
