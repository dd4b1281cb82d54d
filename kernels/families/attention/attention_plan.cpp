#include "kernels/families/attention/attention_plan.hpp"

#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/rules.hpp"

namespace noteg::kernels {
namespace {

constexpr int widest = 16;  // bytes of a copy
constexpr int band = 16;    // rows of an instruction
constexpr int most_threads = 256;
constexpr int most_registers = 255;

// Rows and keys of a block for a head, as the library's launch templates for sm_80 choose them.
Tile usual_block(int head) {
  if (head <= 64) return {128, 2 * head, 128};
  if (head <= 128) return {128, 2 * head, 64};
  return {64, 2 * head, 64};
}

class AttentionResolver {
 public:
  AttentionResolver(const KernelConfig& config, const GemmShape& shape) : draft_{config, shape, {}} {}

  Result<KernelConfig> run() {
    draft_.errors = check_shape(shape_);
    check_attention_types(draft_);
    check_head(draft_, band);
    if (!draft_.is_sound()) return draft_.errors;
    settle_block();
    check_keys();
    if (!draft_.is_sound()) return draft_.errors;
    settle_resources();
    return draft_.take();
  }

 private:
  void settle_block() {
    if (config_.tile == Tile{}) config_.tile = usual_block(static_cast<int>(shape_.n / 2));
    config_.tile.n = static_cast<int>(shape_.n);
    if (config_.tile.k == 0) config_.tile.k = usual_block(config_.tile.n / 2).k;
    if (!config_.threads) config_.threads = std::clamp(2 * config_.tile.m / band * 32 / 2, 32, 128);
    const int warps = *config_.threads / 32;
    if (*config_.threads > most_threads || *config_.threads % 32 != 0 || config_.tile.m % (band * warps) != 0)
      draft_.report("threads", "32 for every 16 rows of the tile, or for a multiple", std::to_string(*config_.threads));
    if (config_.tile.k % band != 0 || config_.tile.k < band || config_.tile.k > 256)
      draft_.report("tile", "keys that are a multiple of 16, up to 256", tile_text(config_.tile));
  }

  void check_keys() {
    const auto refuse = [&](const char* key, bool set) {
      if (set) draft_.report(key, "no value (attention)", "one");
    };
    refuse("sparse", config_.sparse);
    refuse("cluster", config_.cluster_m != 1 || config_.cluster_n != 1);
    refuse("schedule", config_.schedule.has_value());
    refuse("dtype_b", config_.dtype_b.has_value());
    check_group(draft_);
  }

  void settle_resources() {
    config_.instruction = mma_instruction(config_);
    config_.stages = 2;
    config_.async_copy = true;
    config_.sliced_k = 1;
    config_.persistent = false;
    config_.shared_layout = SharedLayout::swizzled;
    const int most_align = static_cast<int>(widest / bytes_of(config_.dtype_in));
    config_.align_a = config_.align_b = config_.align_c = most_align;
    if (config_.split_k > 1) config_.split_k_mode = SplitKMode::parallel;
    const AttentionPlan plan = plan_attention(config_);
    const int sums = plan.bands * band * (plan.head + plan.keys) / 32;
    if (!config_.registers) config_.registers = std::clamp(sums + sums / 8 + 56, 64, most_registers);
    config_.shared_bytes = plan.shared_bytes;
  }

  Draft draft_;
  KernelConfig& config_ = draft_.config;
  const GemmShape& shape_ = draft_.shape;
};

}  // namespace

AttentionPlan plan_attention(const KernelConfig& config) {
  AttentionPlan plan;
  plan.form = tensor_form_of(config);
  plan.rows = config.tile.m;
  plan.keys = config.tile.k;
  plan.head = config.tile.n / 2;
  plan.warps = config.threads.value_or(128) / 32;
  plan.bands = std::max(1, plan.rows / band / plan.warps);
  const int element = static_cast<int>(bytes_of(config.dtype_in));
  // A page shorter than a block splits no copy: 16 bytes lie in one token.
  plan.copy_bytes = widest;
  plan.copies = std::max(1, plan.keys * plan.head * element / (plan.copy_bytes * plan.warps * 32));
  plan.shared_bytes = std::int64_t{element} * plan.head * (plan.rows + 2 * plan.keys);
  return plan;
}

constinit const FamilyDescriptor attention_family{
    .family = Family::attention,
    .name = "attention",
    .meaning = "FlashAttention-2: two products in one loop",
    .traits = {.arithmetic = Arithmetic::tensor_cores,
               .multiplies_with = "mma",
               .stages = {2, 2, "2 (keys and values each have a buffer)"},
               .keeps_scores = true},
    .resolve = [](const KernelConfig& config,
                  const GemmShape& shape) { return AttentionResolver(config, shape).run(); },
    .build = build_attention,
};

}  // namespace noteg::kernels
