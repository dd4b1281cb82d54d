#include "kernels/families/resolve_tensor.hpp"

#include <algorithm>

#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {
namespace {

constexpr int largest_tile = 1024;
constexpr int widest_access = 16;  // bytes

void add(Diagnostics& errors, std::string key, std::string expected, std::string found) {
  errors.push_back({"", 0, 0, std::move(key), std::move(expected), std::move(found)});
}

void check_types(const KernelConfig& config, Diagnostics& errors) {
  const AccumulatorTypes fit = accumulators_for(config.dtype_in);
  if (fit.count == 0)
    return add(errors, "dtype_in",
               "f16, bf16, tf32, f8e4m3, f8e5m2, mxfp8, mxfp4, nvfp4, s8 or s4 (f32 operands run as tf32)",
               std::string(name_of(config.dtype_in)));
  std::string names;
  for (int i = 0; i < fit.count; ++i) {
    if (fit.type[static_cast<std::size_t>(i)] == config.dtype_acc) return;
    names += (i == 0 ? "" : " or ") + std::string(name_of(fit.type[static_cast<std::size_t>(i)]));
  }
  add(errors, "dtype_acc", names + " with operands of type " + std::string(name_of(config.dtype_in)),
      std::string(name_of(config.dtype_acc)));
}

void in_range(Diagnostics& errors, const std::string& key, int value, int low, int high) {
  if (value < low || value > high)
    add(errors, key, "an integer from " + std::to_string(low) + " to " + std::to_string(high), std::to_string(value));
}

void check_ranges(const KernelConfig& config, Diagnostics& errors) {
  const StageRange& range = traits_of(config).stages;
  if (config.stages && (*config.stages < range.least || *config.stages > range.most))
    add(errors, "stages", std::string(range.expected), std::to_string(*config.stages));
  in_range(errors, "split_k", config.split_k, 1, 4096);
  in_range(errors, "swizzle_log2", config.swizzle_log2, 0, 4);
  in_range(errors, "sliced_k", config.sliced_k.value_or(1), 1, 8);
  in_range(errors, "registers", config.registers.value_or(64), 16, 255);
  in_range(errors, "threads", config.threads.value_or(32), 1, 1024);
  if (config.shared_bytes && (*config.shared_bytes < 0 || *config.shared_bytes > (std::int64_t{1} << 20)))
    add(errors, "shared_bytes", "an integer from 0 to 1048576", std::to_string(*config.shared_bytes));
  if (config.thread_m) add(errors, "thread_tile", "no value (tensor cores divide the warp tile)", "one");
  if (config.warp_m.has_value() != config.warp_n.has_value())
    add(errors, "warp_tile", "both extents, for example 64x64", "only one");
  const Tile& tile = config.tile;
  if (std::min(tile.m, tile.n) < 1 || tile.k < 0 || std::max({tile.m, tile.n, tile.k}) > largest_tile)
    add(errors, "tile", "three extents from 1 to 1024, for example 128x128x32", tile_text(tile));
}

void settle(std::optional<int>& value, const std::string& key, std::int64_t extent, DataType type,
            Diagnostics& errors) {
  const int widest = static_cast<int>(widest_access / bytes_of(type));
  if (!value) {
    int fits = widest;
    while (fits > 1 && extent % fits != 0) fits /= 2;
    value = fits;
  }
  if (*value < 1 || *value > widest || (*value & (*value - 1)) != 0)
    return add(errors, key,
               "a power of two up to " + std::to_string(widest) + " elements (an access is at most 16 bytes)",
               std::to_string(*value));
  // A kernel name states what it may rely on; a problem that does not keep to it cannot be run by that kernel.
  if (extent % *value != 0)
    add(errors, key, "a divisor of the contiguous extent " + std::to_string(extent), std::to_string(*value));
}

}  // namespace

int instruction_depth(const KernelConfig& config) {
  return static_cast<int>(32 / bytes_of(config.dtype_in)) * (config.sparse ? 2 : 1);
}

Tile mma_instruction(const KernelConfig& config) { return {16, 8, instruction_depth(config)}; }

Diagnostics check_tensor_basics(KernelConfig& config, const GemmShape& shape) {
  Diagnostics errors = check_shape(shape);
  check_types(config, errors);
  check_ranges(config, errors);
  if (!errors.empty()) return errors;
  if (!config.sliced_k) config.sliced_k = 1;
  if (config.tile.k == 0)
    config.tile.k = static_cast<int>(traits_of(config).usual_depth_bytes / bytes_of(config.dtype_in)) *
                    (config.sparse ? 2 : 1) * *config.sliced_k;
  if (config.split_k > 1 && config.split_k_mode == SplitKMode::none) config.split_k_mode = SplitKMode::serial;
  return errors;
}

void settle_tensor_alignment(KernelConfig& config, const GemmShape& shape, Diagnostics& errors) {
  const std::int64_t a_extent = a_contiguous_in_k(config.layout) ? shape.k : shape.m;
  const std::int64_t b_extent = b_contiguous_in_n(config.layout) ? shape.n : shape.k;
  settle(config.align_a, "align_a", a_extent, config.dtype_in, errors);
  settle(config.align_b, "align_b", b_extent, config.dtype_in, errors);
  settle(config.align_c, "align_c", shape.n, config.dtype_out, errors);
}

}  // namespace noteg::kernels
