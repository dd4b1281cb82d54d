// The rules of the tcgen05 family: 128 rows of tensor memory, tiles by bulk copies, K-major operands where the type is
// not of 16 bits.
#include <algorithm>

#include "kernels/config/config_file.hpp"
#include "kernels/families/build.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/rules.hpp"
#include "kernels/families/tcgen05/tcgen05_plan.hpp"

namespace noteg::kernels {
namespace {

constexpr int most_stages = 32;

// The tile, and a pair of CTAs where the cluster has one along the rows.
Tile usual_instruction(KernelConfig config) {
  config.instruction = {config.tile.m, config.tile.n, instruction_depth(config)};
  const MemoryFrame frame = memory_frame(config).value_or(MemoryFrame{});
  if (frame.rows_along_m && config.cluster_m % 2 == 0) config.instruction.m *= 2;
  if (!frame.rows_along_m && config.cluster_n % 2 == 0) config.instruction.n *= 2;
  return config.instruction;
}

class Tcgen05Resolver {
 public:
  Tcgen05Resolver(const KernelConfig& config, const GemmShape& shape) : draft_{config, shape, {}} {}

  Result<KernelConfig> run() {
    check_tensor_basics(draft_);
    if (draft_.is_sound()) check_types();
    if (!draft_.is_sound()) return draft_.errors;
    settle_launch();
    settle_tile();
    if (!draft_.is_sound()) return draft_.errors;
    settle_resources();
    return draft_.take();
  }

 private:
  void check_types() {
    if (config_.dtype_in == DataType::s4 || config_.dtype_in == DataType::s8)
      draft_.report("dtype_in", "a floating-point type (integer products of tcgen05 are not modelled)",
                    std::string(name_of(config_.dtype_in)));
    if (config_.sparse) draft_.report("sparse", "false (sparse products of tcgen05 are not modelled)", "true");
    if (config_.a_in_registers) draft_.report("a_in_registers", "false (a choice of wgmma kernels)", "true");
    if (config_.schedule)
      draft_.report("schedule",
                    "no value (tcgen05 kernels have one: copies, products and epilogue in warps of their own)",
                    std::string(name_of(*config_.schedule)));
    if (bytes_of(config_.dtype_in) != 2 && config_.layout != Layout::nt)
      draft_.report("layout", "nt, both operands along K (16-bit types only are transposed)",
                    std::string(name_of(config_.layout)));
    check_bulk_pitches(draft_);
  }

  void settle_launch() {
    if (!config_.persistent) config_.persistent = true;
    const int cluster = config_.cluster_m * config_.cluster_n;
    if (config_.cluster_m < 1 || config_.cluster_n < 1 || cluster > 16)
      draft_.report("cluster", "one to sixteen CTAs, for example 2x1",
                    std::to_string(config_.cluster_m) + "x" + std::to_string(config_.cluster_n));
    constexpr int threads = 32 * tcgen05_warps;
    if (config_.threads && *config_.threads != threads)
      draft_.report("threads", std::to_string(threads) + " (four warps of single roles, four of the epilogue)",
                    std::to_string(*config_.threads));
    config_.threads = threads;
  }

  void settle_tile() {
    const Tile& tile = config_.tile;
    const int step = static_cast<int>(32 / bytes_of(config_.dtype_in));
    if (tile.k < step || tile.k % step != 0 || tile.k > 16 * step)
      return draft_.report("tile", "a depth of 1 to 16 times " + std::to_string(step) + " (32 bytes)", tile_text(tile));
    if (config_.instruction == Tile{}) config_.instruction = usual_instruction(config_);
    if (config_.instruction.k != step)
      return draft_.report("instruction", "a depth of " + std::to_string(step) + " (32 bytes)",
                           tile_text(config_.instruction));
    const Result<Tcgen05Plan> plan = plan_tcgen05(config_);
    if (!plan) {
      draft_.errors.insert(draft_.errors.end(), plan.errors().begin(), plan.errors().end());
      return;
    }
    const int along = plan->frame.rows_along_m ? config_.cluster_m : config_.cluster_n;
    if (plan->frame.pair && along % 2 != 0)
      draft_.report("cluster", "an even number of CTAs along the rows of the pair", std::to_string(along));
  }

  void settle_resources() {
    const Tcgen05Plan plan = *plan_tcgen05(config_);
    settle_tensor_alignment(draft_);
    config_.async_copy = true;
    const auto stage = static_cast<std::int64_t>(plan.a_bytes + plan.b_bytes);
    const auto staging = static_cast<std::int64_t>(2 * plan.piece_bytes) + barriers_and_alignment;
    settle_bulk_stages(draft_, stage, staging);
    if (!config_.registers) config_.registers = 128;  // sums are in tensor memory; the epilogue holds a piece of them
  }

  Draft draft_;
  KernelConfig& config_ = draft_.config;
};

// One CTA by itself, or pairs whose rows are halved between two CTAs. 64 rows would idle half of the tensor cores.
void add_candidates(const TuningRequest& request, std::vector<KernelConfig>& out) {
  for (const int columns : {64, 128, 192, 256})
    for (const bool along_m : {true, false})
      for (const int cluster : {1, 2, 4})
        for (const Raster raster : {Raster::along_m, Raster::along_n})
          for (const int swizzle : tried_swizzles) {
            KernelConfig config;
            config.family = Family::tcgen05;
            config.flavor = Flavor::cutlass;
            config.tile = {along_m ? 128 : columns, along_m ? columns : 128, depth_of(128, request.frame)};
            (along_m ? config.cluster_m : config.cluster_n) = cluster;
            config.raster = raster;
            config.swizzle_log2 = swizzle;
            out.push_back(in_frame(std::move(config), request.frame));
          }
}

}  // namespace

constinit const FamilyDescriptor tcgen05_family{
    .family = Family::tcgen05,
    .name = "tcgen05",
    .meaning = "TMA, tensor memory",
    .traits = {.arithmetic = Arithmetic::tensor_cores,
               .multiplies_with = "tcgen05",
               .needs = Needs::tensor_memory_products,
               .stages = {1, most_stages, "an integer from 1 to 32"},
               .usual_depth_bytes = 128,
               .copies_in_bulk = true,
               .takes_scale_vectors = true},
    .resolve = [](const KernelConfig& config, const GemmShape& shape) { return Tcgen05Resolver(config, shape).run(); },
    .build = build_tcgen05,
    .add_candidates = add_candidates,
    .name_as_library = name_tcgen05,
};

}  // namespace noteg::kernels
