#include "sim/tune/deep_gemm_hopper.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "sim/support/arithmetic.hpp"

namespace noteg::tune {
namespace {

constexpr int depth = 128;  // bytes and elements of K
constexpr std::int64_t shared_memory = 232448, barriers = 256;
constexpr int most_stages = 16;

struct Block {
  int m = 0, n = 0, cluster_m = 1, cluster_n = 1;
  [[nodiscard]] int cluster() const { return cluster_m * cluster_n; }
};

std::int64_t aligned(std::int64_t bytes, std::int64_t to) { return ceil_div(bytes, to) * to; }

// As many as fit beside C, the barriers and the scales: a row's with each stage, the weights' for all of K.
int stages_of(const Block& b, std::int64_t k) {
  const std::int64_t scales = aligned(ceil_div(k, depth) * 4 * (depth % b.n == 0 ? 1 : 2), 8);
  const std::int64_t stage = std::int64_t{b.m + b.n} * depth + aligned(b.m * 4, 128);
  const std::int64_t room = shared_memory - aligned(std::int64_t{2} * b.m * b.n, 1024) - barriers - scales;
  return static_cast<int>(std::min<std::int64_t>(most_stages, room / stage));
}

bool is_legal(const Block& b, const arch::GpuSpec& gpu, std::int64_t k) {
  const int beyond = b.n - depth;  // columns with the next scale of the weights
  if (b.cluster() > 2 || gpu.sms % b.cluster() != 0 || (b.m > 128 && b.n > 128)) return false;
  if (beyond > 0 && b.n % beyond != 0 && depth % beyond != 0) return false;
  const int stages = stages_of(b, k);
  return stages >= 3 && (b.m * b.n >= 128 * 192 || stages >= 4);
}

std::int64_t cycles_of(const Block& b, const arch::GpuSpec& gpu, const kernels::GemmShape& s) {
  const std::int64_t l2_per_cycle = std::min<std::int64_t>(std::int64_t{64} * gpu.sms, 6153);  // 8e6 / 1.3e3
  const std::int64_t l1_per_cycle = std::int64_t{128} * gpu.sms;
  const std::int64_t blocks = ceil_div(s.m, b.m) * ceil_div(s.n, b.n), waves = ceil_div(blocks, gpu.sms);
  if (b.cluster() > 1 && waves <= 1) return std::numeric_limits<std::int64_t>::max();
  const std::int64_t result = std::int64_t{2} * b.m * b.n;
  const std::int64_t from_l2 = s.k * (b.m / b.cluster_n + b.n / b.cluster_m) + result;
  const std::int64_t copied = s.k * (b.m + b.n), multiplied = s.k * (std::max(64, b.m) + b.n) + result;
  const std::int64_t l2 = from_l2 * blocks / l2_per_cycle, l1 = (copied + multiplied + result) * blocks / l1_per_cycle;
  const double full = static_cast<double>(blocks) / static_cast<double>(waves * gpu.sms);
  return static_cast<std::int64_t>(static_cast<double>(std::max(l1, l2)) / full);
}

Block best_block(const arch::GpuSpec& gpu, const kernels::GemmShape& shape) {
  constexpr std::array<std::array<int, 2>, 3> clusters{{{1, 1}, {1, 2}, {2, 1}}};
  Block best;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [cluster_m, cluster_n] : clusters)
    for (const int m : {64, 128, 16, 32, 256})
      for (int n = 16; n <= 192; n += 16) {
        const Block block{m, n, cluster_m, cluster_n};
        if ((m < 64 && shape.m > m) || !is_legal(block, gpu, shape.k)) continue;
        const std::int64_t cycles = cycles_of(block, gpu, shape);
        if (best.m > 0 && cycles >= fewest) continue;
        best = block;
        fewest = cycles;
      }
  return best;
}

}  // namespace

kernels::KernelConfig deep_gemm_on_hopper(const arch::GpuSpec& gpu, const Problem& problem) {
  const kernels::GemmShape& shape = problem.shape;
  const Block block = best_block(gpu, shape);
  kernels::KernelConfig config;
  config.family = kernels::Family::wgmma;
  config.flavor = kernels::Flavor::deep_gemm;
  config.tile = {std::max(64, block.m), block.n, depth};
  config.cluster_m = block.cluster_m;
  config.cluster_n = block.cluster_n;
  config.stages = stages_of(block, shape.k);
  config.schedule = block.m <= 64 ? kernels::Schedule::ws : kernels::Schedule::coop;  // warpgroups that multiply
  config.persistent = true;
  config.raster = shorter_side(config.tile, shape);  // a block below 64 rows holds all of M, as its tile does
  config.swizzle_log2 = 3;                           // groups of 8 or 16 blocks (scheduler.cuh)
  return in_frame(std::move(config), problem.frame);
}

}  // namespace noteg::tune
