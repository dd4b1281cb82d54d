#include "kernels/families/rules.hpp"

#include <algorithm>

namespace noteg::kernels {
namespace {

constexpr int largest_tile = 1024;

// How many times longer the long side is than the short one.
double elongation(int a, int b) { return static_cast<double>(std::max(a, b)) / static_cast<double>(std::min(a, b)); }

void check_types(Draft& draft) {
  const KernelConfig& c = draft.config;
  const auto f32_only = [&](const std::string& key, DataType type) {
    if (type != DataType::f32)
      draft.report(key, "f32 (the naive, blocked and simt families compute with FFMA)", std::string(name_of(type)));
  };
  if (c.dtype_in == c.dtype_acc && c.dtype_in == c.dtype_out) return f32_only("dtype", c.dtype_in);
  f32_only("dtype_in", c.dtype_in);
  f32_only("dtype_acc", c.dtype_acc);
  f32_only("dtype_out", c.dtype_out);
}

// What only tensor-core kernels have.
void check_tensor_keys(Draft& draft) {
  const KernelConfig& c = draft.config;
  const auto refuse = [&](const char* key, bool set) {
    if (set) draft.report(key, "no value (the key belongs to the tensor-core families)", "one");
  };
  refuse("instruction", c.instruction != Tile{});
  refuse("shared_layout", c.shared_layout.has_value());
  refuse("sparse", c.sparse);
  refuse("cluster", c.cluster_m != 1 || c.cluster_n != 1);
  refuse("schedule", c.schedule.has_value());
  refuse("persistent", c.persistent.has_value());
  refuse("a_in_registers", c.a_in_registers);
}

void check_pair(Draft& draft, const std::string& key, const std::optional<int>& m, const std::optional<int>& n) {
  if (m.has_value() != n.has_value()) draft.report(key, "both extents, for example 32x64", "only one");
  if ((m && *m < 1) || (n && *n < 1)) draft.report(key, "positive extents", pair_text(m, n));
}

// extent: the operand's contiguous dimension; per_thread: elements that a thread moves.
void settle_one(Draft& draft, const std::string& key, std::optional<int>& value, std::int64_t extent, int per_thread,
                int widest) {
  if (!value) {
    while (widest > 1 && (extent % widest != 0 || per_thread % widest != 0)) widest /= 2;
    value = widest;
  }
  if (*value != 1 && *value != 2 && *value != 4)
    return draft.report(key, "1, 2 or 4 elements (a load is at most 16 bytes)", std::to_string(*value));
  if (extent % *value != 0)
    draft.report(key, "a divisor of the contiguous extent " + std::to_string(extent), std::to_string(*value));
}

}  // namespace

void Draft::report(std::string key, std::string expected, std::string found) {
  errors.push_back({"", 0, 0, std::move(key), std::move(expected), std::move(found)});
}

void Draft::in_range(const std::string& key, const std::optional<int>& value, int low, int high) {
  if (value && (*value < low || *value > high))
    report(key, "an integer from " + std::to_string(low) + " to " + std::to_string(high), std::to_string(*value));
}

Result<KernelConfig> Draft::take() {
  if (!is_sound()) return errors;
  return config;
}

std::string tile_text(const Tile& tile) {
  return std::to_string(tile.m) + "x" + std::to_string(tile.n) + "x" + std::to_string(tile.k);
}

std::string pair_text(const std::optional<int>& m, const std::optional<int>& n) {
  return std::to_string(m.value_or(0)) + "x" + std::to_string(n.value_or(0));
}

void check_ranges(Draft& draft) {
  const KernelConfig& c = draft.config;
  const StageRange& range = traits_of(c).stages;
  if (c.stages && (*c.stages < range.least || *c.stages > range.most))
    draft.report("stages", std::string(range.expected), std::to_string(*c.stages));
  draft.in_range("split_k", c.split_k, 1, 4096);
  draft.in_range("swizzle_log2", c.swizzle_log2, 0, 5);
  draft.in_range("sliced_k", c.sliced_k, 1, 8);
  draft.in_range("registers", c.registers, 16, 255);
  draft.in_range("threads", c.threads, 1, largest_cta);
  if (c.shared_bytes && (*c.shared_bytes < 0 || *c.shared_bytes > (std::int64_t{1} << 20)))
    draft.report("shared_bytes", "an integer from 0 to 1048576", std::to_string(*c.shared_bytes));
}

Draft begin_without_tensor_cores(const KernelConfig& config, const GemmShape& shape) {
  Draft draft{config, shape, check_shape(shape)};
  check_tensor_keys(draft);
  check_ranges(draft);
  check_pair(draft, "warp_tile", draft.config.warp_m, draft.config.warp_n);
  check_pair(draft, "thread_tile", draft.config.thread_m, draft.config.thread_n);
  return draft;
}

Draft begin_ffma(const KernelConfig& config, const GemmShape& shape) {
  Draft draft = begin_without_tensor_cores(config, shape);
  check_types(draft);
  return draft;
}

bool check_extents(Draft& draft) {
  const Tile& tile = draft.config.tile;
  if (std::min({tile.m, tile.n, tile.k}) >= 1 && std::max({tile.m, tile.n, tile.k}) <= largest_tile) return true;
  draft.report("tile", "three extents from 1 to 1024, for example 128x128x8", tile_text(tile));
  return false;
}

void refuse_slices(Draft& draft) {
  const int slices = draft.config.sliced_k.value_or(1);
  if (slices != 1) draft.report("sliced_k", "1 (only simt kernels slice K)", std::to_string(slices));
}

void settle_stages(Draft& draft, int usual) {
  if (!draft.config.sliced_k) draft.config.sliced_k = 1;
  if (!draft.config.stages) draft.config.stages = usual;
}

void settle_copies(Draft& draft, bool usually_asynchronous, bool may_be_asynchronous) {
  KernelConfig& c = draft.config;
  if (!c.async_copy) c.async_copy = usually_asynchronous;
  if (*c.async_copy && !may_be_asynchronous)
    draft.report("async_copy", "false (only simt kernels copy asynchronously)", "true");
  if (*c.async_copy && *c.stages < 2)
    draft.report("stages", "at least 2 with async_copy (a copy needs a buffer nobody reads)",
                 std::to_string(*c.stages));
  if (c.split_k > 1 && c.split_k_mode == SplitKMode::none) c.split_k_mode = SplitKMode::serial;
}

bool check_accumulators(Draft& draft) {
  const KernelConfig& c = draft.config;
  const std::int64_t count = std::int64_t{*c.thread_m} * *c.thread_n;
  if (count <= most_accumulators) return true;
  draft.report("thread_tile", "at most 192 accumulators per thread (a thread has 255 registers)",
               pair_text(c.thread_m, c.thread_n) + " = " + std::to_string(count));
  return false;
}

void settle_threads(Draft& draft, int wanted, const std::string& why) {
  std::optional<int>& threads = draft.config.threads;
  if (threads && *threads != wanted)
    return draft.report("threads", std::to_string(wanted) + " (" + why + ")", std::to_string(*threads));
  if (wanted > largest_cta) return draft.report("tile", "at most 1024 threads (" + why + ")", std::to_string(wanted));
  threads = wanted;
}

void settle_alignment(Draft& draft, int widest) {
  KernelConfig& c = draft.config;
  const GemmShape& shape = draft.shape;
  const std::int64_t a_extent = a_contiguous_in_k(c.layout) ? shape.k : shape.m;
  const std::int64_t b_extent = b_contiguous_in_n(c.layout) ? shape.n : shape.k;
  settle_one(draft, "align_a", c.align_a, a_extent, c.tile.m * c.tile.k / *c.threads, widest);
  settle_one(draft, "align_b", c.align_b, b_extent, c.tile.n * c.tile.k / *c.threads, widest);
  settle_one(draft, "align_c", c.align_c, shape.n, c.thread_n.value_or(1), widest);
}

std::int64_t stage_bytes(const KernelConfig& config, int padding) {
  const KnownKernel* known = find_known_kernel(config);
  if (known != nullptr && known->shared_bytes != any) return known->shared_bytes;
  const std::int64_t row = config.tile.m + config.tile.n + std::int64_t{padding} * k_contiguous_operands(config.layout);
  return config.stages.value_or(1) * config.tile.k * row * ffma_bytes;
}

void settle_shared_bytes(Draft& draft, std::int64_t usual, std::int64_t least) {
  KernelConfig& c = draft.config;
  if (!c.shared_bytes) c.shared_bytes = usual;
  if (*c.shared_bytes < least)
    draft.report("shared_bytes",
                 "at least " + std::to_string(least) + " bytes for " + std::to_string(c.stages.value_or(1)) +
                     " stages of a " + tile_text(c.tile) + " tile",
                 std::to_string(*c.shared_bytes));
}

void settle_shared_bytes(Draft& draft, std::int64_t usual) {
  const KernelConfig& c = draft.config;
  settle_shared_bytes(draft, usual, std::int64_t{c.stages.value_or(1)} * (c.tile.m + c.tile.n) * c.tile.k * ffma_bytes);
}

bool read_copy_schedule(KernelConfig& config, std::string_view text) {
  if (text != "multistage_cp_async" && text != "pipelined_ldg_sts") return false;
  config.async_copy = text == "multistage_cp_async";
  return true;
}

std::optional<WarpGrid> default_warp_grid(const Tile& tile, int warps) {
  std::optional<WarpGrid> best;
  for (int along_m = warps; along_m >= 1; --along_m) {  // more warps along M first: strictly better replaces
    if (warps % along_m != 0) continue;
    const WarpGrid grid{along_m, warps / along_m};
    if (tile.m % grid.m != 0 || tile.n % grid.n != 0) continue;
    if (!best) {
      best = grid;
      continue;
    }
    const double shape = elongation(tile.m / grid.m, tile.n / grid.n);
    const double best_shape = elongation(tile.m / best->m, tile.n / best->n);
    if (shape < best_shape || (shape == best_shape && elongation(grid.m, grid.n) < elongation(best->m, best->n)))
      best = grid;
  }
  return best;
}

}  // namespace noteg::kernels
