// The rules of the mma family: warp tiles of whole instructions, a pipeline of at least two stages.
#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/mma/mma_plan.hpp"
#include "kernels/families/rules.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {
namespace {

// Accumulators, two sets of fragments, and what is left: fits the compiled kernels of known_mma within 3.
int usual_registers(const KernelConfig& config) {
  if (const std::optional<int> known = known_mma_registers(config)) return *known;
  const FormRegisters form = registers_of(tensor_form_of(config));
  const Tile& i = config.instruction;
  const int rows = config.warp_m.value_or(i.m) / i.m, columns = config.warp_n.value_or(i.n) / i.n;
  const int fragments = rows * (form.a + form.meta) + columns * form.b;
  const int accumulators = rows * columns * form.c;
  const int deep = config.tile.k / config.sliced_k.value_or(1) / i.k >= 4 && fragments > 16 ? 14 : 0;
  const int partials = mma_stages_sums(config) ? accumulators * 7 / 8 : 0;  // as compiled: 140 to 212 in six loops
  return std::clamp(accumulators + partials + 2 * fragments + 28 + fragments / 4 + deep, 40, 255);
}

// Bytes of one operand tile of `extent` rows along K (or `k` rows where K is not contiguous).
std::int64_t operand_bytes(const KernelConfig& config, int extent, bool along_k, double share_of_k, double bytes) {
  const double k = config.tile.k * share_of_k;
  const double rows = along_k ? extent : k;
  const double row = (along_k ? k : extent) * bytes;
  const double padding = config.shared_layout == SharedLayout::padded ? 16 : 0;
  return static_cast<std::int64_t>(rows * (row + padding));
}

std::int64_t shared_of_mma(const KernelConfig& config) {
  const std::int64_t a = operand_bytes(config, config.tile.m, a_contiguous_in_k(config.layout),
                                       config.sparse ? 0.5 : 1.0, bytes_of(config.dtype_in));
  const std::int64_t b = operand_bytes(config, config.tile.n, !b_contiguous_in_n(config.layout), 1.0,
                                       bytes_of(config.dtype_b.value_or(config.dtype_in)));
  // Two bits for each value that is kept.
  const std::int64_t meta = config.sparse ? std::int64_t{config.tile.m} * config.tile.k / 8 : 0;
  return config.stages.value_or(1) * (a + b + meta);
}

// 4096 results per warp as far as four warps go.
int usual_threads(const KernelConfig& config) {
  return 32 * config.sliced_k.value_or(1) * std::clamp(config.tile.m * config.tile.n / 4096, 4, 8);
}

class MmaResolver {
 public:
  MmaResolver(const KernelConfig& config, const GemmShape& shape) : draft_{config, shape, {}} {}

  Result<KernelConfig> run() {
    check_tensor_basics(draft_);
    if (!draft_.is_sound()) return draft_.errors;
    settle_instruction();
    check_layout();
    settle_pipeline();
    if (!draft_.is_sound()) return draft_.errors;
    settle_warps();
    if (!draft_.is_sound()) return draft_.errors;
    settle_tensor_alignment(draft_);
    settle_resources();
    return draft_.take();
  }

 private:
  void settle_instruction() {
    if (config_.instruction == Tile{}) config_.instruction = mma_instruction(config_);
    const Tile& i = config_.instruction;
    if (i.m != 16 || i.n != 8)
      draft_.report("instruction", "16x8 and a depth, for example 16x8x16 (mma.sync)", tile_text(i));
    const int step = i.k * *config_.sliced_k;
    if (i.k < 1 || config_.tile.k % step != 0)
      draft_.report("tile",
                    "a depth that is a multiple of " + std::to_string(step) + " (instruction " + tile_text(i) + ")",
                    tile_text(config_.tile));
    if (config_.schedule)
      draft_.report("schedule", "no value (mma kernels have one role)", std::string(name_of(*config_.schedule)));
    if (config_.cluster_m != 1 || config_.cluster_n != 1)
      draft_.report("cluster", "1x1 (clusters belong to wgmma)",
                    std::to_string(config_.cluster_m) + "x" + std::to_string(config_.cluster_n));
    if (config_.a_in_registers) draft_.report("a_in_registers", "false (a choice of wgmma kernels)", "true");
    if (config_.persistent.value_or(false))
      draft_.report("persistent", "false (mma kernels take one tile per CTA)", "true");
    config_.persistent = false;
    if (!config_.shared_layout) config_.shared_layout = SharedLayout::swizzled;
  }

  // LDSM transposes 16-bit elements only; CUTLASS reads 32-bit ones one by one.
  void check_layout() {
    if (config_.dtype_b && ((*config_.dtype_b != DataType::s8 && *config_.dtype_b != DataType::s4) ||
                            bytes_of(config_.dtype_in) != 2 || config_.sparse || config_.layout != Layout::nt))
      draft_.report("dtype_b", "s8 or s4, along K, beside a dense A of 16 bits",
                    std::string(name_of(*config_.dtype_b)));
    if (bytes_of(config_.dtype_in) < 2 && config_.layout != Layout::nt)
      draft_.report("layout", "nt, both operands along K (8- and 4-bit elements cannot be transposed on their way)",
                    std::string(name_of(config_.layout)));
  }

  void settle_pipeline() {
    if (!config_.stages) config_.stages = config_.flavor == Flavor::xmma ? 3 : 4;
    if (!config_.async_copy) config_.async_copy = *config_.stages != 2;
    if (*config_.stages == 1 && !*config_.async_copy)
      draft_.report("async_copy", "true with a single buffer", "false");
    else if (*config_.stages > 2 && !*config_.async_copy)
      draft_.report("stages", "2 without async_copy (LDG + STS has a double buffer)", std::to_string(*config_.stages));
  }

  void settle_warps() {
    if (config_.warp_m) {
      if (*config_.warp_m < 1 || *config_.warp_n < 1 || config_.tile.m % *config_.warp_m != 0 ||
          config_.tile.n % *config_.warp_n != 0)
        return draft_.report("warp_tile", "extents that divide the tile " + tile_text(config_.tile), warp_text());
    } else {
      const int threads = config_.threads.value_or(usual_threads(config_)), warps = threads / (32 * *config_.sliced_k);
      const std::optional<WarpGrid> grid = default_warp_grid(config_.tile, std::max(1, warps));
      if (!grid)
        return draft_.report("threads", "a number of warps that divides the tile " + tile_text(config_.tile),
                             std::to_string(threads));
      config_.warp_m = config_.tile.m / grid->m;
      config_.warp_n = config_.tile.n / grid->n;
    }
    if (*config_.warp_m % config_.instruction.m != 0 || *config_.warp_n % config_.instruction.n != 0)
      return draft_.report("warp_tile", "multiples of the instruction " + tile_text(config_.instruction), warp_text());
    const int accumulators = *config_.warp_m * *config_.warp_n / 32;
    if (accumulators > 192)
      return draft_.report("warp_tile", "at most 192 accumulators per thread (a thread has 255 registers)",
                           warp_text() + " = " + std::to_string(accumulators));
    const int threads =
        32 * *config_.sliced_k * (config_.tile.m / *config_.warp_m) * (config_.tile.n / *config_.warp_n);
    if (config_.threads && *config_.threads != threads)
      return draft_.report("threads", std::to_string(threads) + " (32 per warp tile)",
                           std::to_string(*config_.threads));
    if (threads > 1024)
      return draft_.report("tile", "at most 1024 threads (32 per warp tile)", std::to_string(threads));
    config_.threads = threads;
  }

  void settle_resources() {
    if (!config_.registers) config_.registers = usual_registers(config_);
    const std::int64_t least = shared_of_mma(config_);
    settle_shared_bytes(draft_, least, least);
  }

  [[nodiscard]] std::string warp_text() const {
    return std::to_string(*config_.warp_m) + "x" + std::to_string(*config_.warp_n);
  }

  Draft draft_;
  KernelConfig& config_ = draft_.config;
};

// Depths of 64 and 128 bytes are what swizzled shared memory holds without conflicts.
void add_candidates(const TuningRequest& request, std::vector<KernelConfig>& out) {
  constexpr Extents tiles[] = {{32, 32},   {32, 64},  {64, 32},  {64, 64},   {64, 128}, {128, 64},
                               {128, 128}, {64, 256}, {256, 64}, {128, 256}, {256, 128}};
  for (const Extents& tile : tiles) {
    for (const int bytes : {64, 128}) {
      KernelConfig config;
      config.family = Family::mma;
      config.tile = {tile.m, tile.n, depth_of(bytes, request.frame)};
      add_pipelined(config, request, {2, 3, 4, 5, 6}, out);
    }
  }
}

}  // namespace

constinit const FamilyDescriptor mma_family{
    .family = Family::mma,
    .name = "mma",
    .meaning = "the same on tensor cores: ldmatrix and mma.sync",
    .traits = {.arithmetic = Arithmetic::tensor_cores,
               .multiplies_with = "mma",
               .stages = {1, 8, "an integer from 1 to 8"},
               .has_library_kernels = true,
               .takes_narrow_b = true},
    .resolve = [](const KernelConfig& config, const GemmShape& shape) { return MmaResolver(config, shape).run(); },
    .build = build_mma,
    .add_candidates = add_candidates,
    .read_schedule = read_copy_schedule,
};

}  // namespace noteg::kernels
