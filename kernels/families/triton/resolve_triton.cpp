// What Triton refuses before it compiles, and what it decides by itself: powers of two, at least 16 along each side of
// a dot, one buffer less than stages.
#include "kernels/families/triton/triton.hpp"

#include <algorithm>
#include <bit>

#include "kernels/families/build.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/rules.hpp"

namespace noteg::kernels {
namespace {

constexpr int least_side = 16;                   // of tl.dot
constexpr std::int64_t most_elements = 1 << 20;  // of a tensor (TRITON_MAX_TENSOR_NUMEL)
constexpr int usual_warps = 4, usual_stages = 3;
constexpr int rows_of_warp = 16;

class TritonResolver {
 public:
  TritonResolver(const KernelConfig& config, const GemmShape& shape) : draft_{config, shape, {}} {}

  Result<KernelConfig> run() {
    draft_.errors = check_shape(shape_);
    check_types();
    check_tile();
    check_launch();
    refuse_foreign_keys();
    if (!draft_.is_sound()) return draft_.errors;
    settle_alignment();
    if (!draft_.is_sound()) return draft_.errors;
    settle_work();
    check_accumulators();
    if (!draft_.is_sound()) return draft_.errors;
    settle_resources();
    return draft_.take();
  }

 private:
  void check_types() {
    const DataType in = config_.dtype_in;
    if (in != DataType::f32 && in != DataType::tf32 && in != DataType::f16 && in != DataType::bf16 && !is_float8(in))
      draft_.report("dtype_in", "f16, bf16, tf32, f32 or 8-bit floats (triton)", std::string(name_of(in)));
    if (is_float8(in) && config_.layout != Layout::nt)
      draft_.report("layout", "nt beside 8-bit floats (both operands along K)", std::string(name_of(config_.layout)));
    if (config_.dtype_acc != DataType::f32)
      draft_.report("dtype_acc", "f32 (tl.dot adds in f32)", std::string(name_of(config_.dtype_acc)));
    if (config_.dtype_b && (*config_.dtype_b != DataType::s8 || bytes_of(in) != 2))
      draft_.report("dtype_b", "s8 beside an A of 16 bits", std::string(name_of(*config_.dtype_b)));
  }

  void check_tile() {
    const Tile& t = config_.tile;
    const auto fits = [](int side) { return side >= least_side && std::has_single_bit(static_cast<unsigned>(side)); };
    if (!fits(t.m) || !fits(t.n) || !fits(t.k))
      return draft_.report("tile", "powers of two from 16 (BLOCK_M, BLOCK_N and BLOCK_K of tl.dot)", tile_text(t));
    if (std::max({std::int64_t{t.m} * t.n, std::int64_t{t.m} * t.k, std::int64_t{t.n} * t.k}) > most_elements)
      draft_.report("tile", "at most 1048576 elements in each block", tile_text(t));
  }

  void check_launch() {
    if (!config_.threads) config_.threads = 32 * usual_warps;
    if (!config_.stages) config_.stages = usual_stages;
    const int threads = *config_.threads;
    if (threads < 32 || threads > 1024 || !std::has_single_bit(static_cast<unsigned>(threads)))
      draft_.report("num_warps", "1, 2, 4, 8, 16 or 32", std::to_string(threads) + " threads");
    const StageRange& range = traits_of(config_).stages;
    if (*config_.stages < range.least || *config_.stages > range.most)
      draft_.report("num_stages", std::string(range.expected), std::to_string(*config_.stages));
    if (config_.swizzle_log2 < 0 || config_.swizzle_log2 > 5)
      draft_.report("group_m", "1, 2, 4, 8, 16 or 32", "2^" + std::to_string(config_.swizzle_log2));
  }

  void refuse_foreign_keys() {
    const auto refuse = [&](const char* key, bool set) {
      if (set) draft_.report(key, "no value (Triton decides it)", "one");
    };
    refuse("sparse", config_.sparse);
    refuse("split_k", config_.split_k != 1);
    refuse("sliced_k", config_.sliced_k.value_or(1) != 1);
    refuse("cluster", config_.cluster_m != 1 || config_.cluster_n != 1);
    refuse("schedule", config_.schedule.has_value());
    refuse("persistent", config_.persistent.value_or(false));
    refuse("a_in_registers", config_.a_in_registers);
    refuse("shared_layout", config_.shared_layout.value_or(SharedLayout::swizzled) != SharedLayout::swizzled);
  }

  // What divides the leading extents; one row of A needs no more of its pitch.
  void settle_alignment() {
    settle_tensor_alignment(draft_);
    if (!config_.dtype_b) return;
    const std::int64_t extent = b_contiguous_in_n(config_.layout) ? shape_.n : shape_.k;
    int widest = 16;
    while (widest > 1 && extent % widest != 0) widest /= 2;
    config_.align_b = widest;
  }

  // Inductor writes sizes into the source, and the compiler dissolves a loop of one iteration before it pipelines it
  // (A100: 120 launches of one k tile take as long with any num_stages).
  void dissolve_short_loop() {
    const bool knows_k = !config_.gathers_rows && !is_float8(config_.dtype_in);
    if (knows_k && shape_.k <= config_.tile.k) config_.stages = 1;
  }

  void settle_work() {
    dissolve_short_loop();
    config_.sliced_k = 1;
    config_.persistent = false;
    config_.async_copy = *config_.stages > 1;
    if (config_.dtype_in == DataType::f32) {
      const TritonThreads t = plan_triton(config_).threads;
      config_.thread_m = t.thread_m();
      config_.thread_n = t.thread_n();
      return;
    }
    config_.shared_layout = SharedLayout::swizzled;
    if (const std::optional<Tile> group = triton_warpgroup_instruction(config_);
        group && config_.instruction == *group) {
      config_.warp_m = rows_of_warp * std::max(1, config_.tile.m / (16 * *config_.threads / 32));
      config_.warp_n = group->n;
      return;
    }
    config_.instruction = mma_instruction(config_);
    const TritonGrid grid = triton_warps(config_.tile, *config_.threads / 32);
    config_.warp_m = std::max(16, config_.tile.m / grid.warps_m);
    config_.warp_n = std::max(8, config_.tile.n / grid.warps_n);
  }

  // Triton compiles larger ones too, most of whose accumulators then live in local memory: nobody launches those.
  void check_accumulators() {
    constexpr int most = 192;
    const int held = config_.dtype_in == DataType::f32 ? *config_.thread_m * *config_.thread_n
                                                       : *config_.warp_m * *config_.warp_n / 32;
    if (held > most)
      draft_.report("num_warps", "so many that a thread has at most 192 accumulators (here more go to local memory)",
                    std::to_string(*config_.threads / 32) + " for " + tile_text(config_.tile));
  }

  void settle_resources() {
    if (!config_.registers) config_.registers = plan_triton(config_).registers;
    const std::int64_t needed = triton_shared_bytes(config_);
    if (!config_.shared_bytes) config_.shared_bytes = needed;
    if (*config_.shared_bytes < needed)
      draft_.report("shared_bytes",
                    "at least " + std::to_string(needed) + " bytes (" + std::to_string(*config_.stages) +
                        " stages of a " + tile_text(config_.tile) + " tile)",
                    std::to_string(*config_.shared_bytes));
  }

  Draft draft_;
  KernelConfig& config_ = draft_.config;
  const GemmShape& shape_ = draft_.shape;
};

void add_candidates(const TuningRequest& request, std::vector<KernelConfig>& out) {
  for (KernelConfig& config : inductor_configs(request.shape))
    out.push_back(in_frame(std::move(config), request.frame));
}

}  // namespace

constinit const FamilyDescriptor triton_family{
    .family = Family::triton,
    .name = "triton",
    .meaning = "tl.dot as Triton lowers it to mma.sync or FFMA",
    .traits = {.arithmetic = Arithmetic::by_type,
               .multiplies_with = "mma",
               .stages = {1, 16, "an integer from 1 to 16"},
               .stores_operand_type = true,
               .takes_narrow_b = true,
               .gathers_rows = true,
               .prefetched_bytes = 0},
    .resolve = [](const KernelConfig& config, const GemmShape& shape) { return TritonResolver(config, shape).run(); },
    .build = build_triton,
    .add_candidates = add_candidates,
    .from_text = triton_from_text,
    .to_text = triton_text,
};

}  // namespace noteg::kernels
