#include "sim/dataset/physics.hpp"

#include <algorithm>
#include <cmath>

#include "sim/chip/occupancy.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::dataset {
namespace {

double ceil_div(double a, double b) { return std::ceil(a / b); }

// Everything that the single quantities are made from.
struct Envelope {
  const arch::GpuSpec& gpu;
  const kernels::KernelConfig& kernel;
  const kernels::GemmShape& shape;
  double clock = 0;  // Hz
  double tiles_m = 0, tiles_n = 0, split_k = 1, batch = 1;
  double busiest_share = 0;  // CTAs of the busiest SM
};

memory::ReuseResult traffic(const Envelope& e, double resident, bool warm) {
  memory::ReuseRequest request;
  request.grid.tiles_m = static_cast<std::int64_t>(e.tiles_m);
  request.grid.tiles_n = static_cast<std::int64_t>(e.tiles_n);
  request.grid.batch = e.shape.batch;
  request.grid.split_k = std::max(1, e.kernel.split_k);
  request.grid.raster = e.kernel.raster;
  request.grid.swizzle_log2 = e.kernel.swizzle_log2;
  request.shape = e.shape;
  request.tile = e.kernel.tile;
  request.bytes_in = kernels::bytes_of(e.kernel.dtype_in);
  request.bytes_out = kernels::bytes_of(e.kernel.dtype_out);
  request.live_ctas = static_cast<std::int64_t>(resident) * e.gpu.sms;
  request.l2_bytes = e.gpu.l2.size.value / e.gpu.l2.partitions;
  request.granule = e.gpu.dram.granule.value;
  request.a_along_k = kernels::a_contiguous_in_k(e.kernel.layout);
  request.b_along_k = !kernels::b_contiguous_in_n(e.kernel.layout);
  request.warm = warm;
  request.reads_c = e.kernel.reads_c;
  return memory::tile_reuse(request);
}

void count_work(const Envelope& e, Physics& p) {
  const kernels::Tile& tile = e.kernel.tile;
  const auto k = static_cast<double>(e.shape.k);
  const double covered = e.tiles_m * tile.m * e.tiles_n * tile.n;
  p.useful_share = static_cast<double>(e.shape.m) * static_cast<double>(e.shape.n) / covered;
  p.trips = ceil_div(ceil_div(k, tile.k), e.split_k);
  const double padded_k = p.trips * e.split_k * tile.k;
  p.fma_instructions = covered * padded_k * e.batch / 32;
  const double block_m = e.kernel.thread_m.value_or(1), block_n = e.kernel.thread_n.value_or(1);
  const double loaded_words = p.fma_instructions * (1 / block_m + 1 / block_n);
  p.shared_load_instructions = loaded_words / (block_m >= 4 && block_n >= 4 ? 4 : 1);
  p.shared_bytes = loaded_words * 32 * 4;
  const double a_and_b = static_cast<double>(e.shape.m) * k + k * static_cast<double>(e.shape.n);
  const double c = static_cast<double>(e.shape.m) * static_cast<double>(e.shape.n);
  p.arithmetic_intensity =
      e.shape.flops() /
      (e.batch * (a_and_b * kernels::bytes_of(e.kernel.dtype_in) + c * kernels::bytes_of(e.kernel.dtype_out)));
}

// A work that spreads over all SMs takes as long as the busiest of them.
double busiest_us(const Envelope& e, double amount, double per_cycle_and_sm) {
  const double per_cta = amount / (e.tiles_m * e.tiles_n * e.split_k * e.batch);
  return per_cta * e.busiest_share / per_cycle_and_sm / e.clock * 1e6;
}

void time_it(const Envelope& e, Physics& p) {
  const arch::SmSpec& sm = e.gpu.sm;
  const double lanes = static_cast<double>(sm.pipes.fma.lanes) * sm.sub_cores;
  p.compute_us = busiest_us(e, p.fma_instructions * 32, lanes);
  p.shared_us = busiest_us(e, p.shared_bytes, sm.memory.data_width.value);
  p.l2_us = p.l2_bytes / e.gpu.l2.read_bandwidth.value / e.clock * 1e6;
  p.dram_us =
      (p.dram_read_bytes + p.dram_write_bytes) / (e.gpu.dram.bandwidth.value * e.gpu.dram.read_efficiency) * 1e6;
  // Each round of resident CTAs waits at least once per stage of its pipeline.
  const double rounds = ceil_div(e.busiest_share, p.ctas_per_sm);
  const double stages = std::max(1, e.kernel.stages.value_or(1));
  p.latency_us = rounds * (1 + p.trips / stages) * e.gpu.l2.latency.value / e.clock * 1e6;
  p.roofline_us =
      e.gpu.launch.kernel.value * 1e6 + std::max({p.compute_us, p.shared_us, p.l2_us, p.dram_us, p.latency_us});
  p.tflops = e.shape.flops() / p.roofline_us * 1e-6;
}

void weigh_power(const Envelope& e, Physics& p) {
  const arch::EnergySpec& energy = e.gpu.sm.energy;
  const double joules = p.fma_instructions * (32 * energy.fma.value + energy.issue.value + 2 * energy.operand.value) +
                        p.shared_bytes * energy.data_byte.value + p.l2_bytes * energy.l2_byte.value +
                        (p.dram_read_bytes + p.dram_write_bytes) * e.gpu.power.dram_byte.value +
                        p.roofline_us * 1e-6 * e.clock * e.gpu.sms * energy.clock_tree.value;
  const double busy_w = joules / (p.roofline_us * 1e-6);
  p.power_w = std::min(e.gpu.power.limit.value, e.gpu.power.idle.value + busy_w);
  p.energy_mj = p.power_w * p.roofline_us * 1e-3;
}

}  // namespace

Physics physics_of(const arch::GpuSpec& gpu, const chip::SimReport& report, const chip::SimOptions& options) {
  Physics p;
  const kernels::KernelConfig& kernel = report.kernel;
  const chip::CtaResources cta{kernel.threads.value_or(1), report.registers_per_thread, report.shared_bytes_per_cta};
  const Result<chip::SmOccupancy> occupancy = chip::occupancy_of(gpu.sm.occupancy, cta);
  if (!occupancy) return p;
  Envelope e{gpu, kernel, report.shape};
  e.clock = options.sm_clock_mhz ? *options.sm_clock_mhz * 1e6 : gpu.clock.boost.value;
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
  const memory::ReuseResult moved = traffic(e, p.ctas_per_sm, options.l2 == chip::L2State::warm);
  p.l2_bytes = moved.requested_bytes;
  p.dram_read_bytes = moved.dram_read_bytes;
  p.dram_write_bytes = moved.dram_write_bytes;
  time_it(e, p);
  weigh_power(e, p);
  return p;
}

}  // namespace noteg::dataset
