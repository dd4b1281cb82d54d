// The rules of the wgmma family: warpgroups of 128 threads, a producer that copies by boxes, K-major operands where the
// type is not of 16 bits.
#include <algorithm>

#include "kernels/config/config_file.hpp"
#include "kernels/families/build.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/rules.hpp"
#include "kernels/families/wgmma/wgmma_plan.hpp"

namespace noteg::kernels {
namespace {

constexpr int most_stages = 16;

// 64 rows along M, or along N where the tile has them there alone; the columns of the tile.
Tile usual_instruction(const KernelConfig& config) {
  const int k = instruction_depth(config);
  const bool rows_along_n = config.tile.m % 64 != 0 && config.tile.n % 64 == 0;
  if (rows_along_n) return {std::clamp(config.tile.m, 8, 256), 64, k};
  return {64, std::clamp(config.tile.n, 8, 256), k};
}

class WgmmaResolver {
 public:
  WgmmaResolver(const KernelConfig& config, const GemmShape& shape) : draft_{config, shape, {}} {}

  Result<KernelConfig> run() {
    check_tensor_basics(draft_);
    if (draft_.is_sound()) check_types();
    if (!draft_.is_sound()) return draft_.errors;
    settle_schedule();
    settle_tile();
    if (!draft_.is_sound()) return draft_.errors;
    settle_resources();
    return draft_.take();
  }

 private:
  void check_types() {
    if (config_.dtype_in == DataType::s4)
      draft_.report("dtype_in", "f16, bf16, tf32, f8e4m3, f8e5m2 or s8 (wgmma has no s4)", "s4");
    if (bytes_of(config_.dtype_in) != 2 && config_.layout != Layout::nt)
      draft_.report("layout", "nt, both operands along K (wgmma transposes 16-bit types only)",
                    std::string(name_of(config_.layout)));
    check_bulk_pitches(draft_);
  }

  void settle_schedule() {
    if (!config_.schedule) config_.schedule = config_.tile.m >= 128 ? Schedule::coop : Schedule::pingpong;
    if (!config_.persistent) config_.persistent = *config_.schedule != Schedule::ws;
    if (*config_.schedule == Schedule::pingpong && !*config_.persistent)
      draft_.report("persistent", "true (two consumers take tiles in turns)", "false");
    const int cluster = config_.cluster_m * config_.cluster_n;
    if (config_.cluster_m < 1 || config_.cluster_n < 1 || cluster > 8)
      draft_.report("cluster", "one to eight CTAs, for example 2x1",
                    std::to_string(config_.cluster_m) + "x" + std::to_string(config_.cluster_n));
    const int threads = *config_.schedule == Schedule::ws ? 256 : 384;
    if (config_.threads && *config_.threads != threads)
      draft_.report("threads", std::to_string(threads) + " (a producer and its consumers, 128 each)",
                    std::to_string(*config_.threads));
    config_.threads = threads;
  }

  void settle_tile() {
    Tile& tile = config_.tile;
    const int step = static_cast<int>(32 / bytes_of(config_.dtype_in)) * (config_.sparse ? 2 : 1);
    const std::string found = tile_text(tile);
    if (tile.k < step || tile.k % step != 0 || tile.k > 16 * step)
      return draft_.report("tile", "a depth of 1 to 16 times " + std::to_string(step) + " (32 bytes)", found);
    if (config_.instruction == Tile{}) config_.instruction = usual_instruction(config_);
    if (!wgmma_frame(config_) || config_.instruction.k != step)
      return draft_.report("instruction",
                           "64x" + std::to_string(tile.n) + "x" + std::to_string(step) + " (the tile's columns), or " +
                               std::to_string(tile.m) + "x64x" + std::to_string(step) +
                               " (its rows, as columns of the transpose); coop also takes half of them",
                           tile_text(config_.instruction));
    if (config_.sparse && config_.instruction.m != 64)
      return draft_.report("sparse", "false where the 64 rows of an instruction lie along N (A is the sparse operand)",
                           "true");
    const Result<WgmmaPlan> plan = plan_wgmma(config_);
    if (!plan) draft_.errors.insert(draft_.errors.end(), plan.errors().begin(), plan.errors().end());
  }

  void settle_resources() {
    const WgmmaPlan plan = *plan_wgmma(config_);
    settle_tensor_alignment(draft_);
    config_.async_copy = true;
    const auto stage = static_cast<std::int64_t>(plan.a_bytes + plan.b_bytes);
    const auto staging = static_cast<std::int64_t>(2 * plan.piece_bytes) + barriers_and_alignment;
    settle_bulk_stages(draft_, stage, staging);
    // 65536 registers over 384 threads; ws kernels keep what the compiler gave them (our H200: 90 for 64 accumulators,
    // 154 for 128).
    if (!config_.registers) config_.registers = plan.consumers == 2 ? 168 : plan.accumulators + 26;
  }

  Draft draft_;
  KernelConfig& config_ = draft_.config;
};

// Stages are as many as fit; raster and swizzle order the tiles of persistent CTAs.
void add_candidates(const TuningRequest& request, std::vector<KernelConfig>& out) {
  constexpr Extents tiles[] = {{64, 64},   {64, 128},  {64, 192},  {64, 256}, {128, 64},
                               {128, 128}, {128, 192}, {128, 256}, {256, 128}};
  constexpr Extents clusters[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
  for (const Extents& tile : tiles)
    for (const Extents& cluster : clusters)
      for (const Schedule schedule : {Schedule::ws, Schedule::coop, Schedule::pingpong})
        for (const Raster raster : {Raster::along_m, Raster::along_n})
          for (const int swizzle : tried_swizzles) {
            KernelConfig config;
            config.family = Family::wgmma;
            config.flavor = Flavor::cutlass;
            config.tile = {tile.m, tile.n, depth_of(128, request.frame)};
            config.cluster_m = cluster.m;
            config.cluster_n = cluster.n;
            config.schedule = schedule;
            config.raster = raster;
            config.swizzle_log2 = swizzle;
            out.push_back(in_frame(std::move(config), request.frame));
          }
}

}  // namespace

constinit const FamilyDescriptor wgmma_family{
    .family = Family::wgmma,
    .name = "wgmma",
    .meaning = "TMA and warp-group mma",
    .traits = {.arithmetic = Arithmetic::tensor_cores,
               .multiplies_with = "wgmma",
               .needs = Needs::warpgroup_products,
               .stages = {1, most_stages, "an integer from 1 to 16"},
               .usual_depth_bytes = 128,
               .copies_in_bulk = true},
    .resolve = [](const KernelConfig& config, const GemmShape& shape) { return WgmmaResolver(config, shape).run(); },
    .build = build_wgmma,
    .add_candidates = add_candidates,
    .read_schedule =
        [](KernelConfig& config, std::string_view text) {
          const std::optional<Schedule> known = schedule_from(text);
          if (known) config.schedule = known;
          return known.has_value();
        },
    .name_as_library = name_wgmma,
};

}  // namespace noteg::kernels
