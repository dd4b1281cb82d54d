#include "kernels/families/family.hpp"

#include "sim/support/arithmetic.hpp"

namespace noteg::kernels {

bool divides(const Extents& tile, const Extents& warp) {
  return tile.m % warp.m == 0 && tile.n % warp.n == 0 && tile.m / warp.m * (tile.n / warp.n) <= 16;
}

int depth_of(int bytes, const KernelConfig& frame) { return static_cast<int>(bytes / bytes_of(frame.dtype_in)); }

KernelConfig in_frame(KernelConfig kernel, const KernelConfig& frame) {
  kernel.dtype_in = frame.dtype_in;
  kernel.dtype_b = frame.dtype_b;
  kernel.dtype_acc = frame.dtype_acc;
  kernel.dtype_out = frame.dtype_out;
  kernel.layout = frame.layout;
  kernel.bias = frame.bias;
  kernel.reads_c = frame.reads_c;
  return kernel;
}

std::vector<int> slice_counts(const KernelConfig& kernel, const GemmShape& shape, int sms) {
  constexpr int counts[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
  constexpr int waves = 2;             // beyond them there is nothing left to fill
  constexpr int least_iterations = 4;  // of a slice's main loop
  std::vector<int> out{1};
  if (kernel.tile.m < 1 || kernel.tile.n < 1 || kernel.tile.k < 1) return out;
  const std::int64_t ctas = ceil_div(shape.m, kernel.tile.m) * ceil_div(shape.n, kernel.tile.n) * shape.batch;
  for (const int count : counts)
    if (ctas * count <= std::int64_t{waves} * sms && shape.k / count >= std::int64_t{least_iterations} * kernel.tile.k)
      out.push_back(count);
  return out;
}

void add_launches(const KernelConfig& program, const TuningRequest& request, std::vector<KernelConfig>& out) {
  for (const int slices : slice_counts(program, request.shape, request.sms)) {
    for (const int swizzle : tried_swizzles) {
      for (const Raster raster : {Raster::along_m, Raster::along_n}) {
        KernelConfig config = program;
        config.split_k = slices;
        if (slices > 1) config.split_k_mode = SplitKMode::serial;
        config.swizzle_log2 = swizzle;
        config.raster = raster;
        out.push_back(std::move(config));
      }
    }
  }
}

void add_pipelined(const KernelConfig& tiled, const TuningRequest& request, std::vector<int> stages,
                   std::vector<KernelConfig>& out) {
  for (const Extents& warp : tried_warp_tiles) {
    if (!divides({tiled.tile.m, tiled.tile.n}, warp)) continue;
    for (const int count : stages) {
      KernelConfig config = tiled;
      config.flavor = Flavor::cutlass;
      config.warp_m = warp.m;
      config.warp_n = warp.n;
      config.stages = count;
      add_launches(in_frame(std::move(config), request.frame), request, out);
    }
  }
}

}  // namespace noteg::kernels
