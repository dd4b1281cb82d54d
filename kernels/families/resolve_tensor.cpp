#include "kernels/families/rules.hpp"

#include <algorithm>

#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {
namespace {

constexpr int largest_tensor_tile = 1024;
constexpr int widest_access = 16;       // bytes
constexpr std::int64_t box_pitch = 16;  // bytes
constexpr int largest_head = 256;

void check_tensor_types(Draft& draft) {
  const KernelConfig& config = draft.config;
  const AccumulatorTypes fit = accumulators_for(config.dtype_in);
  if (fit.count == 0)
    return draft.report("dtype_in",
                        "f16, bf16, tf32, f8e4m3, f8e5m2, mxfp8, mxfp4, nvfp4, s8 or s4 (f32 operands run as tf32)",
                        std::string(name_of(config.dtype_in)));
  std::string names;
  for (int i = 0; i < fit.count; ++i) {
    if (fit.type[static_cast<std::size_t>(i)] == config.dtype_acc) return;
    names += (i == 0 ? "" : " or ") + std::string(name_of(fit.type[static_cast<std::size_t>(i)]));
  }
  draft.report("dtype_acc", names + " with operands of type " + std::string(name_of(config.dtype_in)),
               std::string(name_of(config.dtype_acc)));
}

void check_tile(Draft& draft) {
  const KernelConfig& config = draft.config;
  if (config.thread_m) draft.report("thread_tile", "no value (tensor cores divide the warp tile)", "one");
  if (config.warp_m.has_value() != config.warp_n.has_value())
    draft.report("warp_tile", "both extents, for example 64x64", "only one");
  const Tile& tile = config.tile;
  if (std::min(tile.m, tile.n) < 1 || tile.k < 0 || std::max({tile.m, tile.n, tile.k}) > largest_tensor_tile)
    draft.report("tile", "three extents from 1 to 1024, for example 128x128x32", tile_text(tile));
}

void settle(Draft& draft, std::optional<int>& value, const std::string& key, std::int64_t extent, DataType type) {
  const int widest = static_cast<int>(widest_access / bytes_of(type));
  if (!value) {
    int fits = widest;
    while (fits > 1 && extent % fits != 0) fits /= 2;
    value = fits;
  }
  if (*value < 1 || *value > widest || (*value & (*value - 1)) != 0)
    return draft.report(key,
                        "a power of two up to " + std::to_string(widest) + " elements (an access is at most 16 bytes)",
                        std::to_string(*value));
  // A kernel name states what it may rely on; a problem that does not keep to it cannot be run by that kernel.
  if (extent % *value != 0)
    draft.report(key, "a divisor of the contiguous extent " + std::to_string(extent), std::to_string(*value));
}

}  // namespace

int instruction_depth(const KernelConfig& config) {
  return static_cast<int>(32 / bytes_of(config.dtype_in)) * (config.sparse ? 2 : 1);
}

Tile mma_instruction(const KernelConfig& config) { return {16, 8, instruction_depth(config)}; }

void check_tensor_basics(Draft& draft) {
  KernelConfig& config = draft.config;
  draft.errors = check_shape(draft.shape);
  check_tensor_types(draft);
  check_ranges(draft);
  check_tile(draft);
  if (!draft.is_sound()) return;
  if (!config.sliced_k) config.sliced_k = 1;
  if (config.tile.k == 0)
    config.tile.k = static_cast<int>(traits_of(config).usual_depth_bytes / bytes_of(config.dtype_in)) *
                    (config.sparse ? 2 : 1) * *config.sliced_k;
  if (config.split_k > 1 && config.split_k_mode == SplitKMode::none) config.split_k_mode = SplitKMode::serial;
}

void settle_tensor_alignment(Draft& draft) {
  KernelConfig& config = draft.config;
  const GemmShape& shape = draft.shape;
  const std::int64_t a_extent = a_contiguous_in_k(config.layout) ? shape.k : shape.m;
  const std::int64_t b_extent = b_contiguous_in_n(config.layout) ? shape.n : shape.k;
  settle(draft, config.align_a, "align_a", a_extent, config.dtype_in);
  settle(draft, config.align_b, "align_b", b_extent, config.dtype_in);
  settle(draft, config.align_c, "align_c", shape.n, config.dtype_out);
}

void check_bulk_pitches(Draft& draft) {
  const Layout layout = draft.config.layout;
  const auto check = [&](const char* key, std::int64_t extent) {
    const auto bytes = static_cast<std::int64_t>(static_cast<double>(extent) * bytes_of(draft.config.dtype_in));
    if (bytes % box_pitch != 0)
      draft.report(key, "rows of a multiple of 16 bytes (bulk tensor copies)", std::to_string(extent) + " elements");
  };
  const bool a_along_k = a_contiguous_in_k(layout);
  check(a_along_k ? "shape.k" : "shape.m", a_along_k ? draft.shape.k : draft.shape.m);
  if (b_contiguous_in_n(layout))
    check("shape.n", draft.shape.n);
  else if (!a_along_k)
    check("shape.k", draft.shape.k);
}

void settle_bulk_stages(Draft& draft, std::int64_t stage, std::int64_t staging) {
  KernelConfig& config = draft.config;
  const StageRange& range = traits_of(config).stages;
  const auto fitting = static_cast<int>(std::min<std::int64_t>(range.most, (most_bulk_shared - staging) / stage));
  if (!config.stages) config.stages = fitting;
  if (*config.stages < range.least || *config.stages > range.most)
    return draft.report("stages", std::string(range.expected), std::to_string(*config.stages));
  if (!config.shared_bytes) config.shared_bytes = *config.stages * stage + staging;
  if (*config.shared_bytes < *config.stages * stage)
    draft.report("shared_bytes",
                 "at least " + std::to_string(*config.stages * stage) + " bytes for " + std::to_string(*config.stages) +
                     " stages",
                 std::to_string(*config.shared_bytes));
}

void check_attention_types(Draft& draft) {
  KernelConfig& config = draft.config;
  if (config.dtype_in != DataType::f16 && config.dtype_in != DataType::bf16)
    draft.report("dtype_in", "f16 or bf16 (" + std::string(name_of(config.family)) + ")",
                 std::string(name_of(config.dtype_in)));
  config.dtype_acc = DataType::f32;
  config.dtype_out = config.dtype_in;
  config.layout = Layout::nn;
}

void check_head(Draft& draft, int step) {
  const std::int64_t head = draft.shape.n / 2;
  const std::string text = std::to_string(step);
  if (draft.shape.n % 2 != 0 || head % step != 0 || head < step || head > largest_head)
    draft.report("shape.n", "twice a head size of " + text + " to 256 that " + text + " divides",
                 std::to_string(draft.shape.n));
}

void check_group(Draft& draft) {
  if (draft.config.attention.group < 1) draft.report("group", "at least 1 query head of a key head", "less");
}

}  // namespace noteg::kernels
