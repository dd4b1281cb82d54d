#include "sim/gpu/operating_point.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace noteg::gpu {
std::string throttle_reason(const arch::GpuSpec& gpu, const SimOptions& options, const power::OperatingPoint& point) {
  if (!options.switches.power) return "none";
  const double limit = gpu.power.limit.value;
  const double hottest = gpu.power.slowdown.value;
  if (options.sm_clock_mhz) {
    if (point.too_hot) return fmt::format("the given clock heats the GPU above {:.0f} C", hottest);
    return point.over_limit ? fmt::format("the given clock needs more than the limit of {:.0f} W", limit) : "none";
  }
  if (options.clock_mode == power::ClockMode::burst) {
    return point.over_limit ? fmt::format("a burst: too short for the limit of {:.0f} W to act", limit) : "none";
  }
  if (point.in_burst)
    return fmt::format("the power limit of a burst, {:.3g} times {:.0f} W", gpu.power.burst_share,
                       std::min(gpu.power.limit, power::thermal_limit(gpu.power)).value);
  if (!point.throttled && point.at_rest)
    return fmt::format("a board that wakes runs at {:.0f} MHz for {:.3g} s", gpu.clock.rest.value * 1e-6,
                       gpu.clock.wake.value);
  if (!point.throttled) return "none";
  std::string reason = point.too_hot ? fmt::format("the temperature limit of {:.0f} C", hottest)
                                     : fmt::format("the power limit of {:.0f} W", limit);
  return point.over_limit ? reason + ", and even the lowest clock needs more" : reason;
}

// How many instructions the whole grid executes is mostly known exactly; else CTAs and their tiles are alike.
ChipEvents chip_events(const arch::GpuSpec& gpu, const KernelLaunch& launch, const Traffic& traffic,
                       const SmRuns& runs) {
  const sm::SmResult sm = runs.mixed();
  const double factor = launch.warp_instructions
                            ? *launch.warp_instructions / std::max(1.0, sm.counters.warp_instructions)
                            : launch.geometry.all_tiles / static_cast<double>(runs.work.ctas * launch.geometry.tiles);
  ChipEvents events;
  events.counters = sm.counters * factor;
  events.active_lanes = static_cast<double>(launch.program->threads) / std::max(1, launch.program->warps);
  events.sectors_per_pass = gpu.sm.memory.l1_line / gpu.sm.memory.sector;
  events.dram_read_bytes = traffic.dram_read_bytes;
  events.dram_write_bytes = traffic.dram_write_bytes;
  events.moved_activity = launch.arithmetic.moved_activity;
  events.tensor_padding = launch.arithmetic.padding;
  events.l2_bytes = traffic.l2_read_bytes + traffic.l2_write_bytes * sm.counters.stored_apart();
  events.sm_cycles = sm.cycles * launch.geometry.active_sms();
  return events;
}

power::Activity activity_of(const ChipEvents& events, Seconds time) {
  const sm::CoreCounters& c = events.counters;
  power::Activity out;
  out.time = time;
  out.issued = c.issued;
  out.active_lanes = events.active_lanes;
  out.operands = c.rf_reads;
  out.cached_operands = c.rf_hits;
  out.data_passes = c.shared_wavefronts + (c.read_sectors + c.write_sectors) / events.sectors_per_pass;
  out.data_bytes = Bytes{c.shared_bytes + c.l1_bytes};
  out.l2_bytes = Bytes{events.l2_bytes};
  out.dram_read_bytes = Bytes{events.dram_read_bytes};
  out.dram_write_bytes = Bytes{events.dram_write_bytes};
  out.moved_activity = events.moved_activity;
  out.tensor_padding = events.tensor_padding;
  out.sm_cycles = events.sm_cycles;
  for (std::size_t kind = 0; kind < c.tensor_macs.size(); ++kind) {
    if (c.tensor_macs[kind] > 0) out.tensor_macs.emplace_back(kernels::tensor_kind_name(kind), c.tensor_macs[kind]);
  }
  return out;
}

power::ClockRequest clock_request(const arch::GpuSpec& gpu, const SimOptions& options) {
  power::ClockRequest request;
  request.gpu = &gpu;
  if (options.sm_clock_mhz) request.given = Hertz{*options.sm_clock_mhz * 1e6};
  // A burst is over before any limit acts.
  request.mode = options.switches.power ? options.clock_mode : power::ClockMode::burst;
  request.toggling = options.operands;
  request.launches = options.launches;
  request.warm_up = options.warm_up;
  return request;
}

std::function<power::Activity(Hertz)> activity_at(const ChipEvents& events, const KernelTime& time, int active_sms) {
  return [activity = activity_of(events, Seconds{}), time, active_sms](Hertz clock) {
    power::Activity out = activity;
    const double sm_cycles = time.sm_cycles_at(clock);
    out.time = time.at(clock, sm_cycles);
    out.sm_cycles = sm_cycles * active_sms;
    return out;
  };
}

power::OperatingPoint operating_point(const arch::GpuSpec& gpu, const SimOptions& options,
                                      const std::function<power::Activity(Hertz)>& activity_at) {
  return power::solve_clock(clock_request(gpu, options), activity_at);
}

void fill_power(SimReport& r, const arch::GpuSpec& gpu, const SimOptions& options, const power::OperatingPoint& point) {
  r.power_w = point.board.power.value;
  r.energy_mj = r.power_w * r.time_us * 1e-3;
  r.tflops_per_w = r.power_w > 0 ? r.tflops / r.power_w : 0;
  r.temperature_c = point.board.temperature.value;
  r.voltage = point.board.voltage.value;
  for (std::size_t i = 0; i < r.energy_stack_mj.size(); ++i) r.energy_stack_mj[i] = point.board.energy[i].value * 1e3;
  r.throttled = point.throttled;
  r.in_burst = point.in_burst;
  r.throttle_reason = throttle_reason(gpu, options, point);
  const bool burst = options.clock_mode == power::ClockMode::burst;
  const bool cool = options.clock_mode == power::ClockMode::cool;
  r.clock_mode = options.sm_clock_mhz ? "given" : burst ? "burst" : cool ? "cool" : "sustained";
  r.power_note = fmt::format("{}, {} operands",
                             burst && !options.sm_clock_mhz  ? "a burst on an idle board"
                             : cool && !options.sm_clock_mhz ? "seconds on a cool chip"
                                                             : "repeated back to back",
                             options.operands.activity >= 1   ? "random"
                             : options.operands.activity <= 0 ? "constant"
                                                              : "partly constant");
}

}  // namespace noteg::gpu
