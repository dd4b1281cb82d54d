#include "sim/dataset/physics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/ir/tensor_form.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/gpu/operating_point.hpp"
#include "sim/memory/tile_reuse.hpp"
#include "sim/power/clock.hpp"
#include "sim/sm/instruction_timing.hpp"

namespace noteg::dataset {
namespace {

// What physics_of counts and time_and_power puts into times, clock and power.
struct Envelope {
  const arch::GpuSpec& gpu;
  const kernels::KernelConfig& kernel;
  const kernels::GemmShape& shape;
  const gpu::SimOptions& options;
  std::optional<kernels::TensorForm> tensor;  // of the families that multiply on tensor cores
  double tiles_m = 0, tiles_n = 0, split_k = 1, batch = 1;
  double busiest_share = 0;  // CTAs of the busiest SM
};

double ceil_div(double a, double b) { return std::ceil(a / b); }

memory::ReuseResult traffic(const Envelope& e, double resident, memory::L2State l2) {
  memory::ReuseRequest request;
  request.grid.tiles_m = static_cast<std::int64_t>(e.tiles_m);
  request.grid.tiles_n = static_cast<std::int64_t>(e.tiles_n);
  request.grid.batch = e.shape.batch;
  request.grid.split_k = std::max(1, e.kernel.split_k);
  request.grid.raster = e.kernel.raster;
  request.grid.swizzle_log2 = e.kernel.swizzle_log2;
  request.grid.cluster_m = e.kernel.cluster_m;
  request.grid.cluster_n = e.kernel.cluster_n;
  request.shape = e.shape;
  request.tile = e.kernel.tile;
  request.bytes_in = kernels::bytes_of(e.kernel.dtype_in);
  request.bytes_out = kernels::bytes_of(e.kernel.dtype_out);
  request.live_ctas = static_cast<std::int64_t>(resident) * e.gpu.sms;
  request.capacity = {e.gpu.l2.size.value / e.gpu.l2.partitions, e.gpu.l2.kept_below, e.gpu.l2.gone_above};
  request.granule = e.gpu.dram.granule.value;
  request.a_along_k = kernels::a_contiguous_in_k(e.kernel.layout);
  request.b_along_k = !kernels::b_contiguous_in_n(e.kernel.layout);
  request.l2 = l2;
  request.reads_c = e.kernel.reads_c;
  return memory::tile_reuse(request);
}

// Words that FFMA needs from shared memory, where threads hold blocks of C.
void count_fma_work(const Envelope& e, double macs, Physics& p) {
  p.math_instructions = macs / 32;
  const double block_m = e.kernel.thread_m.value_or(1), block_n = e.kernel.thread_n.value_or(1);
  const double loaded_words = p.math_instructions * (1 / block_m + 1 / block_n);
  p.shared_load_instructions = loaded_words / (block_m >= 4 && block_n >= 4 ? 4 : 1);
  p.shared_bytes = loaded_words * 32 * 4;
}

// mma.sync: each warp loads its part of A and B into registers, 16 bytes a lane. wgmma reads both by itself, A once for
// the columns of an instruction, B once for its rows.
void count_tensor_work(const Envelope& e, double macs, Physics& p) {
  const kernels::Tile& one = e.tensor->shape;
  p.math_instructions = macs / (static_cast<double>(one.m) * one.n * one.k);
  const double bytes = kernels::bytes_of(e.kernel.dtype_in), share_of_a = e.tensor->sparse ? 0.5 : 1;
  const double rows =
      e.tensor->warp_group || e.tensor->in_tensor_memory ? one.m : e.kernel.warp_m.value_or(e.kernel.tile.m);
  const double columns =
      e.tensor->warp_group || e.tensor->in_tensor_memory ? one.n : e.kernel.warp_n.value_or(e.kernel.tile.n);
  p.shared_bytes = macs * bytes * (share_of_a / columns + 1 / rows);
  p.shared_load_instructions = e.tensor->warp_group || e.tensor->in_tensor_memory ? 0 : p.shared_bytes / (32 * 16);
}

void count_work(const Envelope& e, Physics& p) {
  const kernels::Tile& tile = e.kernel.tile;
  const auto k = static_cast<double>(e.shape.k);
  const double covered = e.tiles_m * tile.m * e.tiles_n * tile.n;
  p.useful_share = static_cast<double>(e.shape.m) * static_cast<double>(e.shape.n) / covered;
  p.iterations = ceil_div(ceil_div(k, tile.k), e.split_k);
  const double macs = covered * p.iterations * e.split_k * tile.k * e.batch;
  e.tensor ? count_tensor_work(e, macs, p) : count_fma_work(e, macs, p);
  const double a_and_b = static_cast<double>(e.shape.m) * k + k * static_cast<double>(e.shape.n);
  const double c = static_cast<double>(e.shape.m) * static_cast<double>(e.shape.n);
  p.arithmetic_intensity =
      e.shape.flops() /
      (e.batch * (a_and_b * kernels::bytes_of(e.kernel.dtype_in) + c * kernels::bytes_of(e.kernel.dtype_out)));
}

// CTAs of a cluster ask for a tile that several of them need once.
double cluster_share(const kernels::KernelConfig& kernel) {
  const double m = kernel.tile.m, n = kernel.tile.n;
  return (m / kernel.cluster_n + n / kernel.cluster_m) / (m + n);
}

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
  p.latency_us = rounds * (1 + p.iterations / stages) * e.gpu.l2.latency.value * us_per_cycle;
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

// Clock, times, power and energy of what was counted. They stay zero where the GPU lacks the instruction.
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

}  // namespace

Physics physics_of(const arch::GpuSpec& gpu, const gpu::SimReport& report, const gpu::SimOptions& options) {
  Physics p;
  const kernels::KernelConfig& kernel = report.kernel;
  const gpu::CtaResources cta{kernel.threads.value_or(1), report.registers_per_thread, report.shared_bytes_per_cta};
  const Result<gpu::SmOccupancy> occupancy = gpu::occupancy_of(gpu.sm.occupancy, cta);
  if (!occupancy) return p;
  Envelope e{gpu, kernel, report.shape, options, std::nullopt};
  if (kernels::on_tensor_cores(kernel)) e.tensor = kernels::tensor_form_of(kernel);
  e.tiles_m = ceil_div(static_cast<double>(report.shape.m), kernel.tile.m);
  e.tiles_n = ceil_div(static_cast<double>(report.shape.n), kernel.tile.n);
  e.split_k = std::max(1, kernel.split_k);
  e.batch = static_cast<double>(report.shape.batch);
  p.ctas = e.tiles_m * e.tiles_n * e.split_k * e.batch;
  p.ctas_per_sm = occupancy->ctas_per_sm;
  p.warps_per_sm = occupancy->warps_per_sm;
  p.waves = p.ctas / (p.ctas_per_sm * gpu.sms);
  e.busiest_share = ceil_div(p.ctas, gpu.sms);
  p.wave_efficiency = p.ctas / (e.busiest_share * gpu.sms);
  count_work(e, p);
  const memory::ReuseResult moved = traffic(e, p.ctas_per_sm, options.l2);
  p.l2_bytes = moved.requested_bytes * cluster_share(kernel);
  p.dram_read_bytes = moved.dram_read_bytes;
  p.dram_write_bytes = moved.dram_write_bytes;
  time_and_power(e, p);
  return p;
}

}  // namespace noteg::dataset
