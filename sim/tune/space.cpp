#include "sim/tune/space.hpp"

#include <algorithm>

#include "kernels/families/triton/triton_text.hpp"
#include "sim/tune/auto_kernel.hpp"

namespace noteg::tune {
namespace {

using kernels::Family;
using kernels::KernelConfig;

struct Pair {
  int m, n;
};

// Tiles of C: powers of two, and no thinner than one to four.
constexpr Pair simt_tiles[] = {{32, 32},  {32, 64},   {64, 32},  {64, 64},  {32, 128},  {128, 32}, {64, 128},
                               {128, 64}, {128, 128}, {64, 256}, {256, 64}, {128, 256}, {256, 128}};
// Warp tiles of 4 x 8 lanes with 4 x 4 to 16 x 8 results each.
constexpr Pair simt_warps[] = {{16, 32}, {32, 16}, {32, 32}, {32, 64}, {64, 32}, {64, 64}};
constexpr int simt_depths[] = {8, 16, 32};
constexpr Pair mma_tiles[] = {{32, 32},   {32, 64},  {64, 32},  {64, 64},   {64, 128}, {128, 64},
                              {128, 128}, {64, 256}, {256, 64}, {128, 256}, {256, 128}};
constexpr Pair mma_warps[] = {{16, 32}, {32, 16}, {32, 32}, {32, 64}, {64, 32}, {64, 64}};
constexpr Pair wgmma_tiles[] = {{64, 64},   {64, 128},  {64, 192},  {64, 256}, {128, 64},
                                {128, 128}, {128, 192}, {128, 256}, {256, 128}};
constexpr Pair clusters[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};

// Columns of tiles that are walked together, as a power of two: how much of A and B the SMs share in L2.
constexpr int swizzles[] = {0, 1, 2, 3};

bool divides(const Pair& tile, const Pair& warp) {
  return tile.m % warp.m == 0 && tile.n % warp.n == 0 && tile.m / warp.m * (tile.n / warp.n) <= 16;
}

// The launches of one program: K slices and rasters.
void add_launches(const KernelConfig& program, const Problem& problem, int sms, std::vector<KernelConfig>& out) {
  for (const int slices : slice_counts(program, problem.shape, sms)) {
    for (const int swizzle : swizzles) {
      for (const kernels::Raster raster : {kernels::Raster::along_m, kernels::Raster::along_n}) {
        KernelConfig config = program;
        config.split_k = slices;
        if (slices > 1) config.split_k_mode = kernels::SplitKMode::serial;
        config.swizzle_log2 = swizzle;
        config.raster = raster;
        out.push_back(std::move(config));
      }
    }
  }
}

void add_simt(const Problem& problem, int sms, std::vector<KernelConfig>& out) {
  for (const Pair& tile : simt_tiles)
    for (const int depth : simt_depths)
      for (const Pair& warp : simt_warps)
        for (const int stages : {2, 3, 4, 5}) {
          if (!divides(tile, warp)) continue;
          KernelConfig config;
          config.family = Family::simt;
          config.flavor = kernels::Flavor::cutlass;
          config.tile = {tile.m, tile.n, depth};
          config.warp_m = warp.m;
          config.warp_n = warp.n;
          config.stages = stages;
          add_launches(in_frame(std::move(config), problem.frame), problem, sms, out);
        }
}

// Depths in bytes of a row: 64 and 128 are what swizzled shared memory holds without conflicts.
int depth_of(int bytes, const Problem& problem) {
  return static_cast<int>(bytes / kernels::bytes_of(problem.frame.dtype_in));
}

void add_mma(const Problem& problem, int sms, std::vector<KernelConfig>& out) {
  for (const Pair& tile : mma_tiles)
    for (const int depth : {64, 128})
      for (const Pair& warp : mma_warps)
        for (const int stages : {2, 3, 4, 5, 6}) {
          if (!divides(tile, warp)) continue;
          KernelConfig config;
          config.family = Family::mma;
          config.flavor = kernels::Flavor::cutlass;
          config.tile = {tile.m, tile.n, depth_of(depth, problem)};
          config.warp_m = warp.m;
          config.warp_n = warp.n;
          config.stages = stages;
          add_launches(in_frame(std::move(config), problem.frame), problem, sms, out);
        }
}

// Stages are as many as fit; raster and swizzle order the tiles of persistent CTAs.
void add_wgmma(const Problem& problem, std::vector<KernelConfig>& out) {
  for (const Pair& tile : wgmma_tiles)
    for (const Pair& cluster : clusters)
      for (const auto schedule : {kernels::Schedule::ws, kernels::Schedule::coop, kernels::Schedule::pingpong})
        for (const kernels::Raster raster : {kernels::Raster::along_m, kernels::Raster::along_n})
          for (const int swizzle : swizzles) {
            KernelConfig config;
            config.family = Family::wgmma;
            config.flavor = kernels::Flavor::cutlass;
            config.tile = {tile.m, tile.n, depth_of(128, problem)};
            config.cluster_m = cluster.m;
            config.cluster_n = cluster.n;
            config.schedule = schedule;
            config.raster = raster;
            config.swizzle_log2 = swizzle;
            out.push_back(in_frame(std::move(config), problem.frame));
          }
}

// One CTA by itself, or pairs whose rows are halved between two CTAs. 64 rows would idle half of the tensor cores.
void add_tcgen05(const Problem& problem, std::vector<KernelConfig>& out) {
  for (const int columns : {64, 128, 192, 256})
    for (const bool along_m : {true, false})
      for (const int cluster : {1, 2, 4})
        for (const kernels::Raster raster : {kernels::Raster::along_m, kernels::Raster::along_n})
          for (const int swizzle : swizzles) {
            KernelConfig config;
            config.family = Family::tcgen05;
            config.flavor = kernels::Flavor::cutlass;
            config.tile = {along_m ? 128 : columns, along_m ? columns : 128, depth_of(128, problem)};
            (along_m ? config.cluster_m : config.cluster_n) = cluster;
            config.raster = raster;
            config.swizzle_log2 = swizzle;
            out.push_back(in_frame(std::move(config), problem.frame));
          }
}

std::vector<Family> suitable_families(const arch::GpuSpec& gpu, const Problem& problem) {
  if (!wants_tensor_cores(problem.frame.dtype_in)) return {Family::simt};
  std::vector<Family> families{Family::mma};
  if (!gpu.sm.tensor.wgmma.empty()) families.push_back(Family::wgmma);
  if (!gpu.sm.tcgen05.forms.empty()) families.push_back(Family::tcgen05);
  return families;
}

std::vector<KernelConfig> evenly(std::vector<KernelConfig> all, std::size_t most) {
  if (most == 0 || all.size() <= most) return all;
  std::vector<KernelConfig> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(std::move(all[i * all.size() / most]));
  return some;
}

}  // namespace

std::vector<KernelConfig> configurations(const arch::GpuSpec& gpu, const Problem& problem,
                                         const SpaceOptions& options) {
  std::vector<KernelConfig> all;
  for (const KernelConfig& config : options.given) all.push_back(in_frame(config, problem.frame));
  if (!options.given.empty()) return evenly(std::move(all), options.most);
  const std::vector<Family> families = options.families.empty() ? suitable_families(gpu, problem) : options.families;
  for (const Family family : families) {
    switch (family) {
      case Family::simt: add_simt(problem, gpu.sms, all); break;
      case Family::mma: add_mma(problem, gpu.sms, all); break;
      case Family::wgmma: add_wgmma(problem, all); break;
      case Family::tcgen05: add_tcgen05(problem, all); break;
      case Family::naive:
      case Family::blocked:
      case Family::triton:
        for (kernels::KernelConfig& config : kernels::inductor_configs(problem.shape))
          all.push_back(in_frame(std::move(config), problem.frame));
        break;
      case Family::clblast:
      case Family::attention:
      case Family::flash3: break;
    }
  }
  return evenly(std::move(all), options.most);
}

}  // namespace noteg::tune
