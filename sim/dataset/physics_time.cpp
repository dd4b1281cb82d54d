#include <algorithm>
#include <cmath>

#include "sim/dataset/physics_parts.hpp"
#include "sim/gpu/operating_point.hpp"
#include "sim/power/clock.hpp"
#include "sim/sm/instruction_timing.hpp"

namespace noteg::dataset {
namespace {

constexpr double pass_bytes = 128;  // of one wavefront through the shared-memory array

// Instructions per cycle of one SM.
double math_rate(const Envelope& e) {
  const arch::SmSpec& sm = e.gpu.sm;
  if (!e.tensor) return static_cast<double>(sm.pipes.fma.lanes) * sm.sub_cores / 32;
  const std::optional<sm::TensorTiming> timing = sm::tensor_timing(sm, *e.tensor);
  if (!timing || timing->interval <= 0) return 0;
  return (e.tensor->warp_group || e.tensor->in_tensor_memory ? 1 : sm.sub_cores) / timing->interval;
}

// A work that spreads over all SMs takes as long as the busiest of them. In cycles.
double busiest(const Envelope& e, double amount, double per_cycle_and_sm) {
  const double per_cta = amount / (e.tiles_m * e.tiles_n * e.split_k * e.batch);
  return per_cta * e.busiest_share / per_cycle_and_sm;
}

void time_at(const Envelope& e, Hertz clock, double rate, Physics& p) {
  const double us_per_cycle = 1e6 / clock.value;
  p.compute_us = busiest(e, p.math_instructions, rate) * us_per_cycle;
  p.shared_us = busiest(e, p.shared_bytes, e.gpu.sm.memory.data_width.value) * us_per_cycle;
  p.l2_us = p.l2_bytes / e.gpu.l2.read_bandwidth.value * us_per_cycle;
  p.dram_us =
      (p.dram_read_bytes + p.dram_write_bytes) / (e.gpu.dram.bandwidth.value * e.gpu.dram.read_efficiency) * 1e6;
  // Each round of resident CTAs waits at least once per stage of its pipeline.
  const double rounds = std::ceil(e.busiest_share / p.ctas_per_sm);
  const double stages = std::max(1, e.kernel.stages.value_or(1));
  p.latency_us = rounds * (1 + p.trips / stages) * e.gpu.l2.latency.value * us_per_cycle;
  p.roofline_us =
      e.gpu.launch.kernel.value * 1e6 + std::max({p.compute_us, p.shared_us, p.l2_us, p.dram_us, p.latency_us});
}

power::Activity activity_of(const Envelope& e, const Physics& p) {
  power::Activity activity;
  const auto issue = [&](kernels::Opcode op) -> double& { return activity.issued[static_cast<std::size_t>(op)]; };
  issue(kernels::Opcode::lds) = p.shared_load_instructions;
  if (e.tensor) {
    issue(kernels::opcode_of(*e.tensor)) = p.math_instructions;
    const kernels::FormRegisters registers = kernels::registers_of(*e.tensor);
    activity.operands = p.math_instructions * (registers.a + registers.b + registers.c);
    activity.tensor_macs.emplace_back(kernels::tensor_kind_name(kernels::tensor_kind(*e.tensor)),
                                      p.math_instructions * kernels::macs_of(*e.tensor));
  } else {
    issue(kernels::Opcode::ffma) = p.math_instructions;
    activity.operands = 2 * p.math_instructions;  // the accumulator and two factors, one of them reused
  }
  activity.data_bytes = Bytes{p.shared_bytes};
  activity.data_passes = p.shared_bytes / pass_bytes;
  activity.l2_bytes = Bytes{p.l2_bytes};
  activity.dram_read_bytes = Bytes{p.dram_read_bytes};
  activity.dram_write_bytes = Bytes{p.dram_write_bytes};
  return activity;
}

}  // namespace

void time_and_power(const Envelope& e, Physics& p) {
  const double rate = math_rate(e);
  if (rate <= 0) return;
  power::Activity activity = activity_of(e, p);
  const double working_sms = std::min(p.ctas, static_cast<double>(e.gpu.sms));
  const auto at = [&](Hertz clock) {
    time_at(e, clock, rate, p);
    activity.time = Seconds{p.roofline_us * 1e-6};
    activity.sm_cycles = working_sms * activity.time.value * clock.value;
    return activity;
  };
  const power::OperatingPoint point = power::solve_clock(gpu::clock_request(e.gpu, e.options), at);
  const Hertz highest = e.gpu.clock.sustained;
  p.power_share = power::board_power(e.gpu, at(highest), highest, e.options.operands, power::Warmth::idle).power /
                  e.gpu.power.limit;
  time_at(e, point.clock, rate, p);
  p.clock_mhz = point.clock.value * 1e-6;
  p.power_w = point.board.power.value;
  p.energy_mj = p.power_w * p.roofline_us * 1e-3;
  p.tflops = e.shape.flops() / p.roofline_us * 1e-6;
}

}  // namespace noteg::dataset
