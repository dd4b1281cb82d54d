#include "sim/dataset/physics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/dataset/physics_parts.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/memory/tile_reuse.hpp"

namespace noteg::dataset {
namespace {

double ceil_div(double a, double b) { return std::ceil(a / b); }

memory::ReuseResult traffic(const Envelope& e, double resident, memory::L2State l2) {
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
  p.trips = ceil_div(ceil_div(k, tile.k), e.split_k);
  const double macs = covered * p.trips * e.split_k * tile.k * e.batch;
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
