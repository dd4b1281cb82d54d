#include "sim/tune/bound.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/tensor_timing.hpp"

namespace noteg::tune {
namespace {

double ceil_div(std::int64_t a, std::int64_t b) { return static_cast<double>((a + b - 1) / b); }

// Bytes that the warps of a CTA read from shared memory for one k: every warp its rows of A and columns of B.
double shared_bytes_per_k(const kernels::KernelConfig& k) {
  const double warp_m = k.warp_m.value_or(k.tile.m), warp_n = k.warp_n.value_or(k.tile.n);
  const double warps = k.tile.m / warp_m * (k.tile.n / warp_n);
  return warps * (warp_m + warp_n) * kernels::bytes_of(k.dtype_in);
}

}  // namespace

double peak_rate(const arch::SmSpec& sm, const kernels::KernelConfig& kernel) {
  if (kernel.family >= kernels::Family::mma) return core::peak_macs_per_cycle(sm, kernels::tensor_form_of(kernel));
  return static_cast<double>(sm.sub_cores) * sm.pipes.fma.lanes;
}

Seconds lower_bound(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const kernels::GemmShape& shape) {
  const double rate = peak_rate(gpu.sm, kernel);
  if (rate <= 0) return Seconds{0};
  const Hertz clock = std::max(gpu.clock.boost, gpu.clock.sustained);
  const double bytes_in = kernels::bytes_of(kernel.dtype_in), bytes_out = kernels::bytes_of(kernel.dtype_out);
  const double tiles =
      ceil_div(shape.m, kernel.tile.m) * ceil_div(shape.n, kernel.tile.n) * static_cast<double>(shape.batch);
  const double split = std::max(1, kernel.split_k);
  const double depth = std::max(1.0, static_cast<double>(shape.k) / split);
  // A tile's edge beyond the matrix is computed too; of split-K's remainder nothing is assumed.
  const double busiest = std::max(1.0, std::ceil(tiles * split / gpu.sms));
  const double tile_area = static_cast<double>(kernel.tile.m) * kernel.tile.n;
  const double arithmetic = busiest * tile_area * depth / rate;
  const double from_l2 = busiest * (kernel.tile.m + kernel.tile.n) * depth * bytes_in;
  const double l2 = std::max(from_l2 / gpu.l2.sm_bandwidth.value, tiles * split * (kernel.tile.m + kernel.tile.n) *
                                                                      depth * bytes_in / gpu.l2.read_bandwidth.value);
  const double shared = kernel.family == kernels::Family::wgmma
                            ? 0
                            : busiest * shared_bytes_per_k(kernel) * depth / gpu.sm.memory.data_width.value;
  const double footprint =
      static_cast<double>(shape.batch) *
      ((static_cast<double>(shape.m) + static_cast<double>(shape.n)) * static_cast<double>(shape.k) * bytes_in);
  const double written =
      static_cast<double>(shape.batch) * static_cast<double>(shape.m) * static_cast<double>(shape.n) * bytes_out;
  // What a warm L2 may still hold need not come again.
  const double moved = std::max(0.0, footprint - gpu.l2.size.value) + written;
  const Seconds dram = Bytes{moved} / gpu.dram.bandwidth;
  // A box that a cluster shares leaves L2 once.
  const bool shares_boxes = kernel.family == kernels::Family::wgmma;
  const Seconds sm = Cycles{std::max({arithmetic, shares_boxes ? 0.0 : l2, shared})} / clock;
  return gpu.launch.kernel + std::max(sm, dram);
}

}  // namespace noteg::tune
