#include "kernels/families/flash3/flash3_plan.hpp"

#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/rules.hpp"

namespace noteg::kernels {
namespace {

constexpr int rows_of_group = 64, depth = 16;  // of a multiplication of 16-bit types
constexpr int least_head = 32;                 // and what divides a head size
constexpr int most_held = 232;                 // scores, their 16-bit copy and the output of a thread

class Flash3Resolver {
 public:
  Flash3Resolver(const KernelConfig& config, const GemmShape& shape) : draft_{config, shape, {}} {}

  Result<KernelConfig> run() {
    draft_.errors = check_shape(shape_);
    check_attention_types(draft_);
    check_head(draft_, least_head);
    check_group(draft_);
    refuse_foreign_keys();
    if (!draft_.is_sound()) return draft_.errors;
    settle_block();
    if (!draft_.is_sound()) return draft_.errors;
    settle_resources();
    return draft_.take();
  }

 private:
  void refuse_foreign_keys() {
    const auto refuse = [&](const char* key, bool set) {
      if (set) draft_.report(key, "no value (flash3)", "one");
    };
    refuse("sparse", config_.sparse);
    refuse("cluster", config_.cluster_m != 1 || config_.cluster_n != 1);
    refuse("schedule", config_.schedule.value_or(Schedule::pingpong) != Schedule::pingpong);
    refuse("dtype_b", config_.dtype_b.has_value());
    refuse("sliced_k", config_.sliced_k.value_or(1) != 1);
  }

  void settle_block() {
    const int head = static_cast<int>(shape_.n / 2);
    const Tile usual = flash3_block(head, config_.attention.causal, config_.attention.page > 0);
    if (config_.tile == Tile{}) config_.tile = usual;
    config_.tile.n = 2 * head;
    if (config_.attention.query_rows == 0 && shape_.m < config_.tile.m)
      config_.attention.query_rows = static_cast<int>(shape_.m);
    if (config_.tile.k == 0) config_.tile.k = usual.k;
    if (config_.tile.m != 64 && config_.tile.m != 128 && config_.tile.m != 192)
      draft_.report("tile", "64, 128 or 192 rows, 64 for each consumer", tile_text(config_.tile));
    if (config_.tile.k % depth != 0 || config_.tile.k < depth || config_.tile.k > 256)
      draft_.report("tile", "keys that are a multiple of 16, up to 256", tile_text(config_.tile));
    const int held = config_.tile.k / 2 + config_.tile.k / 4 + head / 2;
    if (held > most_held)
      draft_.report("tile", "scores and output of at most 232 registers per thread", std::to_string(held));
    const int threads = 128 * (config_.tile.m / rows_of_group + 1);
    if (config_.threads && *config_.threads != threads)
      draft_.report("threads", std::to_string(threads) + " (a producer and its consumers, 128 each)",
                    std::to_string(*config_.threads));
    config_.threads = threads;
  }

  void settle_resources() {
    config_.schedule = Schedule::pingpong;
    config_.persistent = config_.persistent.value_or(true);
    config_.async_copy = true;
    config_.sliced_k = 1;
    config_.stages = config_.stages.value_or(2);
    config_.instruction = {rows_of_group, config_.tile.k, depth};
    config_.align_a = config_.align_b = config_.align_c = static_cast<int>(16 / bytes_of(config_.dtype_in));
    if (config_.split_k > 1) config_.split_k_mode = SplitKMode::parallel;
    const Flash3Plan plan = plan_flash3(config_);
    if (plan.shared_bytes > most_bulk_shared)
      draft_.report("tile", "queries, keys and values that fit 227 KiB of shared memory",
                    std::to_string(plan.shared_bytes) + " bytes");
    if (!config_.shared_bytes) config_.shared_bytes = plan.shared_bytes;
    if (!config_.registers) config_.registers = plan.consumers == 3 ? 128 : plan.consumers == 2 ? 168 : 232;
  }

  Draft draft_;
  KernelConfig& config_ = draft_.config;
  const GemmShape& shape_ = draft_.shape;
};

}  // namespace

// tile_size_fwd_sm90 of the library (hopper/tile_size.h). One consumer, where all rows fit into its 64: vLLM's version.
Tile flash3_block(int head, bool causal, bool paged, bool one_consumer) {
  if (one_consumer && head <= 64) return {64, 2 * head, 192};
  if (one_consumer && head == 128) return {64, 2 * head, causal || paged ? 128 : 176};
  if (head <= 64) return {192, 2 * head, 128};
  if (head <= 96) return {192, 2 * head, causal || paged ? 128 : 144};
  if (head <= 128) return {128, 2 * head, causal || paged ? 128 : 176};
  if (head <= 192) return {128, 2 * head, causal || paged ? 96 : 112};
  return {128, 2 * head, 80};
}

bool gathers_pages(const KernelConfig& config) {
  const int page = config.attention.page;
  return config.family == Family::flash3 && page > 0 && config.tile.k > 0 && page % config.tile.k != 0;
}

Flash3Plan plan_flash3(const KernelConfig& config) {
  Flash3Plan plan;
  plan.rows = config.tile.m;
  plan.query_rows = config.attention.query_rows > 0 ? std::min(config.attention.query_rows, plan.rows) : plan.rows;
  plan.keys = config.tile.k;
  plan.head = config.tile.n / 2;
  plan.consumers = std::max(1, plan.rows / rows_of_group);
  plan.stages = config.stages.value_or(2);
  plan.page = config.attention.page;
  plan.scans = std::max(1, config.attention.scans);
  plan.gathers = gathers_pages(config);
  plan.persistent = config.persistent.value_or(true);
  plan.scores = {{rows_of_group, plan.keys, depth}, config.dtype_in, DataType::f32, false, true};
  plan.values = {{rows_of_group, plan.head, depth}, config.dtype_in, DataType::f32, false, true};
  const auto element = static_cast<std::int64_t>(bytes_of(config.dtype_in));
  plan.shared_bytes =
      element * plan.head * (plan.rows + 2 * std::int64_t{plan.stages} * plan.keys) + barriers_and_alignment;
  return plan;
}

constinit const FamilyDescriptor flash3_family{
    .family = Family::flash3,
    .name = "flash3",
    .meaning = "FlashAttention-3: two products in one loop, warpgroups that take turns, softmax between",
    .traits = {.arithmetic = Arithmetic::tensor_cores,
               .multiplies_with = "wgmma",
               .needs = Needs::warpgroup_products,
               .stages = {1, 4, "an integer from 1 to 4"},
               .copies_in_bulk = true,
               .keeps_scores = true},
    .resolve = [](const KernelConfig& config, const GemmShape& shape) { return Flash3Resolver(config, shape).run(); },
    .build = build_flash3,
};

}  // namespace noteg::kernels
