// The rules of the mma family: warp tiles of whole instructions, a pipeline of at least two stages.
#include <algorithm>

#include "kernels/config/defaults.hpp"
#include "kernels/families/resolve_tensor.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {
namespace {

class MmaResolver {
 public:
  MmaResolver(const KernelConfig& config, const GemmShape& shape) : config_(config), shape_(shape) {}

  Result<KernelConfig> run() {
    errors_ = check_tensor_basics(config_, shape_);
    if (!errors_.empty()) return errors_;
    settle_instruction();
    check_layout();
    settle_pipeline();
    if (!errors_.empty()) return errors_;
    settle_warps();
    if (!errors_.empty()) return errors_;
    settle_tensor_alignment(config_, shape_, errors_);
    settle_resources();
    if (!errors_.empty()) return errors_;
    return config_;
  }

 private:
  void report(std::string key, std::string expected, std::string found) {
    errors_.push_back({"", 0, 0, std::move(key), std::move(expected), std::move(found)});
  }

  void settle_instruction() {
    if (config_.instruction == Tile{}) config_.instruction = default_instruction(config_);
    const Tile& i = config_.instruction;
    if (i.m != 16 || i.n != 8) report("instruction", "16x8 and a depth, for example 16x8x16 (mma.sync)", tile_text(i));
    const int step = i.k * *config_.sliced_k;
    if (i.k < 1 || config_.tile.k % step != 0)
      report("tile", "a depth that is a multiple of " + std::to_string(step) + " (instruction " + tile_text(i) + ")",
             tile_text(config_.tile));
    if (config_.schedule)
      report("schedule", "no value (mma kernels have one role)", std::string(name_of(*config_.schedule)));
    if (config_.cluster_m != 1 || config_.cluster_n != 1)
      report("cluster", "1x1 (clusters belong to wgmma)",
             std::to_string(config_.cluster_m) + "x" + std::to_string(config_.cluster_n));
    if (config_.a_in_registers) report("a_in_registers", "false (a choice of wgmma kernels)", "true");
    if (config_.persistent.value_or(false)) report("persistent", "false (mma kernels take one tile per CTA)", "true");
    config_.persistent = false;
    if (!config_.shared_layout) config_.shared_layout = SharedLayout::swizzled;
  }

  // LDSM transposes 16-bit elements only; CUTLASS reads 32-bit ones one by one.
  void check_layout() {
    if (config_.dtype_b && ((*config_.dtype_b != DataType::s8 && *config_.dtype_b != DataType::s4) ||
                            bytes_of(config_.dtype_in) != 2 || config_.sparse || config_.layout != Layout::nt))
      report("dtype_b", "s8 or s4, along K, beside a dense A of 16 bits", std::string(name_of(*config_.dtype_b)));
    if (bytes_of(config_.dtype_in) < 2 && config_.layout != Layout::nt)
      report("layout", "nt, both operands along K (8- and 4-bit elements cannot be transposed on their way)",
             std::string(name_of(config_.layout)));
  }

  void settle_pipeline() {
    if (!config_.stages) config_.stages = default_stages(config_.family, config_.flavor);
    if (!config_.async_copy) config_.async_copy = default_async_copy(config_.family, config_.flavor, *config_.stages);
    if (*config_.stages < 1 || *config_.stages > 8)
      report("stages", "a whole number from 1 to 8", std::to_string(*config_.stages));
    else if (*config_.stages == 1 && !*config_.async_copy)
      report("async_copy", "true with a single buffer", "false");
    else if (*config_.stages > 2 && !*config_.async_copy)
      report("stages", "2 without async_copy (LDG + STS has a double buffer)", std::to_string(*config_.stages));
  }

  void settle_warps() {
    if (config_.warp_m) {
      if (*config_.warp_m < 1 || *config_.warp_n < 1 || config_.tile.m % *config_.warp_m != 0 ||
          config_.tile.n % *config_.warp_n != 0)
        return report("warp_tile", "extents that divide the tile " + tile_text(config_.tile), warp_text());
    } else {
      const int warps = config_.threads.value_or(default_threads(config_)) / (32 * *config_.sliced_k);
      const std::optional<WarpGrid> grid = default_warp_grid(config_.tile, std::max(1, warps));
      if (!grid)
        return report("threads", "a number of warps that divides the tile " + tile_text(config_.tile),
                      std::to_string(config_.threads.value_or(default_threads(config_))));
      config_.warp_m = config_.tile.m / grid->m;
      config_.warp_n = config_.tile.n / grid->n;
    }
    if (*config_.warp_m % config_.instruction.m != 0 || *config_.warp_n % config_.instruction.n != 0)
      return report("warp_tile", "multiples of the instruction " + tile_text(config_.instruction), warp_text());
    const int accumulators = *config_.warp_m * *config_.warp_n / 32;
    if (accumulators > 192)
      return report("warp_tile", "at most 192 accumulators per thread (a thread has 255 registers)",
                    warp_text() + " = " + std::to_string(accumulators));
    const int threads =
        32 * *config_.sliced_k * (config_.tile.m / *config_.warp_m) * (config_.tile.n / *config_.warp_n);
    if (config_.threads && *config_.threads != threads)
      return report("threads", std::to_string(threads) + " (32 per warp tile)", std::to_string(*config_.threads));
    if (threads > 1024) return report("tile", "at most 1024 threads (32 per warp tile)", std::to_string(threads));
    config_.threads = threads;
  }

  void settle_resources() {
    if (!config_.registers) config_.registers = default_registers(config_);
    const std::int64_t least = default_shared_bytes(config_);
    if (!config_.shared_bytes) config_.shared_bytes = least;
    if (*config_.shared_bytes < least)
      report("shared_bytes",
             "at least " + std::to_string(least) + " bytes for " + std::to_string(*config_.stages) + " stages of a " +
                 tile_text(config_.tile) + " tile",
             std::to_string(*config_.shared_bytes));
  }

  [[nodiscard]] std::string warp_text() const {
    return std::to_string(*config_.warp_m) + "x" + std::to_string(*config_.warp_n);
  }

  KernelConfig config_;
  GemmShape shape_;
  Diagnostics errors_;
};

}  // namespace

Result<KernelConfig> resolve_mma(const KernelConfig& config, const GemmShape& shape) {
  return MmaResolver(config, shape).run();
}

}  // namespace noteg::kernels
