// The rules between the values of a configuration. Every mistake found is reported; a rule whose inputs are
// already known to be wrong is skipped, so that one slip gives one message.
#include <algorithm>

#include "kernels/config/config.hpp"
#include "kernels/config/defaults.hpp"
#include "kernels/families/attention/attention_plan.hpp"
#include "kernels/families/flash3/flash3_plan.hpp"
#include "kernels/families/clblast/resolve_clblast.hpp"
#include "kernels/families/resolve_tensor.hpp"

namespace noteg::kernels {
namespace {

constexpr std::int64_t largest_extent = 2147483647;     // grids and leading dimensions are 32-bit
constexpr double largest_work = 4611686018427387904.0;  // 2^62 FLOP: counts stay exact in 64 bits
constexpr int largest_tile = 1024;
constexpr int largest_cta = 1024;  // threads, CPG

class Resolver {
 public:
  Resolver(const KernelConfig& config, const GemmShape& shape) : config_(config), shape_(shape) {}

  Result<KernelConfig> run() {
    errors_ = check_shape(shape_);
    check_types();
    check_tensor_keys();
    check_ranges();
    if (!errors_.empty()) return errors_;
    fill_tile();
    check_tile();
    if (!errors_.empty()) return errors_;
    fill_pipeline();
    fill_work_split();
    if (!errors_.empty()) return errors_;
    fill_alignment();
    fill_resources();
    if (!errors_.empty()) return errors_;
    return config_;
  }

 private:
  void report(std::string key, std::string expected, std::string found) {
    errors_.push_back({"", 0, 0, std::move(key), std::move(expected), std::move(found)});
  }

  void in_range(const std::string& key, const std::optional<int>& value, int low, int high) {
    if (value && (*value < low || *value > high))
      report(key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high), std::to_string(*value));
  }

  void check_types() {
    const auto f32_only = [&](const std::string& key, DataType type) {
      if (type != DataType::f32)
        report(key, "f32 (the naive, blocked and simt families compute with FFMA)", std::string(name_of(type)));
    };
    if (config_.dtype_in == config_.dtype_acc && config_.dtype_in == config_.dtype_out)
      return f32_only("dtype", config_.dtype_in);
    f32_only("dtype_in", config_.dtype_in);
    f32_only("dtype_acc", config_.dtype_acc);
    f32_only("dtype_out", config_.dtype_out);
  }

  // What only tensor-core kernels have.
  void check_tensor_keys() {
    const auto refuse = [&](const char* key, bool set) {
      if (set) report(key, "no value (the key belongs to the tensor-core families)", "one");
    };
    refuse("instruction", config_.instruction != Tile{});
    refuse("shared_layout", config_.shared_layout.has_value());
    refuse("sparse", config_.sparse);
    refuse("cluster", config_.cluster_m != 1 || config_.cluster_n != 1);
    refuse("schedule", config_.schedule.has_value());
    refuse("persistent", config_.persistent.has_value());
    refuse("a_in_registers", config_.a_in_registers);
  }

  void check_ranges() {
    in_range("stages", config_.stages, 1, 8);
    in_range("split_k", config_.split_k, 1, 4096);
    in_range("swizzle_log2", config_.swizzle_log2, 0, 4);
    in_range("sliced_k", config_.sliced_k, 1, 8);
    in_range("registers", config_.registers, 16, 255);
    in_range("threads", config_.threads, 1, largest_cta);
    if (config_.shared_bytes && (*config_.shared_bytes < 0 || *config_.shared_bytes > (std::int64_t{1} << 20)))
      report("shared_bytes", "a whole number from 0 to 1048576", std::to_string(*config_.shared_bytes));
    check_pair("warp_tile", config_.warp_m, config_.warp_n);
    check_pair("thread_tile", config_.thread_m, config_.thread_n);
  }

  void check_pair(const std::string& key, const std::optional<int>& m, const std::optional<int>& n) {
    if (m.has_value() != n.has_value()) report(key, "both extents, for example 32x64", "only one");
    if ((m && *m < 1) || (n && *n < 1)) report(key, "positive extents", text(m, n));
  }

  void fill_tile() {
    Tile& tile = config_.tile;
    if (config_.family == Family::naive) {
      if (tile.n == 0) tile.n = tile.m;
      if (tile.k == 0) tile.k = tile.m;
      return;
    }
    // Sliced kernels give each slice the 8 columns that an unsliced one has.
    if (tile.k == 0) tile.k = 8 * config_.sliced_k.value_or(1);
  }

  void check_tile() {
    const Tile& tile = config_.tile;
    const std::string found = text(tile);
    if (std::min({tile.m, tile.n, tile.k}) < 1 || std::max({tile.m, tile.n, tile.k}) > largest_tile)
      return report("tile", "three extents from 1 to 1024, for example 128x128x8", found);
    if (config_.family == Family::naive && (tile.m != tile.n || tile.m != tile.k || tile.m > 32))
      return report("tile", "a naive kernel's cube of 1 to 32, for example 16x16x16", found);
    if (config_.family == Family::blocked && (tile.m % 4 != 0 || tile.n % 4 != 0 || tile.k % 4 != 0))
      report("tile", "extents that are multiples of 4 (blocked kernels load vectors of 4)", found);
    if (config_.family == Family::simt && tile.k % config_.sliced_k.value_or(1) != 0)
      report("sliced_k", "a divisor of the tile's K extent " + std::to_string(tile.k),
             std::to_string(config_.sliced_k.value_or(1)));
    if (config_.family != Family::simt && config_.sliced_k.value_or(1) != 1)
      report("sliced_k", "1 (only simt kernels slice K)", std::to_string(config_.sliced_k.value_or(1)));
  }

  void fill_pipeline() {
    if (!config_.sliced_k) config_.sliced_k = 1;
    if (!config_.stages) config_.stages = default_stages(config_.family, config_.flavor);
    if (config_.family == Family::naive && *config_.stages != 1)
      report("stages", "1 (a naive kernel has one buffer)", std::to_string(*config_.stages));
    if (config_.family == Family::blocked && *config_.stages > 2)
      report("stages", "1 or 2 (a blocked kernel has one or two buffers)", std::to_string(*config_.stages));
    if (!config_.async_copy) config_.async_copy = default_async_copy(config_.family, config_.flavor, *config_.stages);
    if (*config_.async_copy && config_.family != Family::simt)
      report("async_copy", "false (only simt kernels copy asynchronously)", "true");
    if (*config_.async_copy && *config_.stages < 2)
      report("stages", "at least 2 with async_copy (a copy needs a buffer nobody reads)",
             std::to_string(*config_.stages));
    if (config_.split_k > 1 && config_.split_k_mode == SplitKMode::none) config_.split_k_mode = SplitKMode::serial;
  }

  void fill_work_split() {
    switch (config_.family) {
      case Family::naive: return split_naive();
      case Family::blocked: return split_blocked();
      default: return split_simt();
    }
  }

  void split_naive() {
    if (config_.warp_m) report("warp_tile", "no value (a naive thread computes one element)", warp_text());
    if (config_.thread_m && (*config_.thread_m != 1 || *config_.thread_n != 1))
      report("thread_tile", "1x1 (a naive thread computes one element)", thread_text());
    config_.thread_m = config_.thread_n = 1;
    settle_threads(default_threads(config_), "one per element of the tile");
  }

  void split_blocked() {
    if (config_.warp_m) report("warp_tile", "no value (blocked kernels number their threads through)", warp_text());
    if (!config_.thread_m) {
      const int side = std::min(config_.tile.m, config_.tile.n) >= 64 ? 8 : 4;
      config_.thread_m = config_.thread_n = side;
    }
    if (config_.tile.m % *config_.thread_m != 0 || config_.tile.n % *config_.thread_n != 0)
      return report("thread_tile", "extents that divide the tile " + text(config_.tile), thread_text());
    if (!check_accumulators()) return;
    settle_threads(default_threads(config_), "one per thread tile");
    if (*config_.threads % 32 != 0)
      report("threads", "a multiple of 32 (tile " + text(config_.tile) + " over thread tiles of " + thread_text() + ")",
             std::to_string(*config_.threads));
  }

  void split_simt() {
    if (config_.warp_m && (config_.tile.m % *config_.warp_m != 0 || config_.tile.n % *config_.warp_n != 0))
      return report("warp_tile", "extents that divide the tile " + text(config_.tile), warp_text());
    if (config_.warp_m) settle_threads(default_threads(config_), "32 per warp tile");
    if (!config_.threads) config_.threads = default_threads(config_);
    const int threads_per_warp_group = 32 * *config_.sliced_k;
    if (*config_.threads > largest_cta || *config_.threads % threads_per_warp_group != 0)
      return report("threads", "a multiple of " + std::to_string(threads_per_warp_group) + " up to 1024",
                    std::to_string(*config_.threads));
    if (!config_.warp_m) fill_warp_tile(*config_.threads / threads_per_warp_group);
    if (!errors_.empty()) return;
    fill_thread_tile();
  }

  void fill_warp_tile(int warps) {
    const std::optional<WarpGrid> grid = default_warp_grid(config_.tile, warps);
    if (!grid)
      return report("threads", "a number of warps that divides the tile " + text(config_.tile),
                    std::to_string(*config_.threads));
    config_.warp_m = config_.tile.m / grid->m;
    config_.warp_n = config_.tile.n / grid->n;
  }

  void fill_thread_tile() {
    // The 4 lanes lie along the shorter side; CUTLASS has them along M always (H200M counters: kernels with warp tiles
    // of 64x32 read shared memory five times and in twelve wavefronts per k, as thread tiles of 16x4 do).
    const bool tall = *config_.warp_m > *config_.warp_n && config_.flavor != Flavor::cutlass;
    const int lanes_m = tall ? 8 : 4;
    const int lanes_n = tall ? 4 : 8;
    if (!config_.thread_m) {
      if (*config_.warp_m % lanes_m != 0 || *config_.warp_n % lanes_n != 0)
        return report("warp_tile",
                      "extents that " + std::to_string(lanes_m) + "x" + std::to_string(lanes_n) + " lanes divide",
                      warp_text());
      config_.thread_m = *config_.warp_m / lanes_m;
      config_.thread_n = *config_.warp_n / lanes_n;
    }
    const bool divides = *config_.warp_m % *config_.thread_m == 0 && *config_.warp_n % *config_.thread_n == 0;
    if (!divides || *config_.warp_m / *config_.thread_m * (*config_.warp_n / *config_.thread_n) != 32)
      return report("thread_tile", "32 thread tiles in the warp tile " + warp_text(), thread_text());
    check_accumulators();
  }

  // The accumulators must leave registers for fragments and addresses: 255 per thread is the hardware's limit.
  bool check_accumulators() {
    const std::int64_t count = std::int64_t{*config_.thread_m} * *config_.thread_n;
    if (count <= 192) return true;
    report("thread_tile", "at most 192 accumulators per thread (a thread has 255 registers)",
           thread_text() + " = " + std::to_string(count));
    return false;
  }

  void settle_threads(int wanted, const std::string& why) {
    if (config_.threads && *config_.threads != wanted)
      return report("threads", std::to_string(wanted) + " (" + why + ")", std::to_string(*config_.threads));
    if (wanted > largest_cta) return report("tile", "at most 1024 threads (" + why + ")", std::to_string(wanted));
    config_.threads = wanted;
  }

  void fill_alignment() {
    const std::int64_t a_extent = a_contiguous_in_k(config_.layout) ? shape_.k : shape_.m;
    const std::int64_t b_extent = b_contiguous_in_n(config_.layout) ? shape_.n : shape_.k;
    const int threads = *config_.threads;
    settle_alignment("align_a", config_.align_a, a_extent, config_.tile.m * config_.tile.k / threads);
    settle_alignment("align_b", config_.align_b, b_extent, config_.tile.n * config_.tile.k / threads);
    settle_alignment("align_c", config_.align_c, shape_.n, config_.thread_n.value_or(1));
  }

  // extent: the operand's contiguous dimension; per_thread: elements that a thread moves.
  void settle_alignment(const std::string& key, std::optional<int>& value, std::int64_t extent, int per_thread) {
    if (!value) {
      int widest = config_.family == Family::blocked ? 4 : 1;
      while (widest > 1 && (extent % widest != 0 || per_thread % widest != 0)) widest /= 2;
      value = widest;
    }
    if (*value != 1 && *value != 2 && *value != 4)
      return report(key, "1, 2 or 4 elements (a load is at most 16 bytes)", std::to_string(*value));
    if (extent % *value != 0)
      report(key, "a divisor of the contiguous extent " + std::to_string(extent), std::to_string(*value));
  }

  // Copies hold, each, a pointer and a guard, and those by way of registers their data until they are stored, beside
  // the accumulators, the fragments and what addresses take at least.
  void check_copies_in_flight() {
    if (config_.family != Family::simt || !config_.thread_m) return;
    constexpr int most = 244, pointer_and_guard = 3;
    const int threads = *config_.threads;
    const auto registers = [&](int extent, int align) {
      const int copies = std::max(1, extent * config_.tile.k / (threads * align));
      return copies * ((*config_.async_copy ? 0 : align) + pointer_and_guard);
    };
    const int accumulators = *config_.thread_m * *config_.thread_n, fragments = *config_.thread_m + *config_.thread_n;
    const int copies = registers(config_.tile.m, *config_.align_a) + registers(config_.tile.n, *config_.align_b);
    if (accumulators + fragments + copies > most)
      report("tile",
             "at most " + std::to_string(most) +
                 " registers per thread for accumulators, fragments and copies (fewer K, more threads, or async_copy)",
             std::to_string(accumulators + fragments + copies));
  }

  void fill_resources() {
    check_copies_in_flight();
    if (!config_.registers) config_.registers = default_registers(config_);
    if (config_.family == Family::simt && config_.stages.value_or(2) > 2 && !config_.async_copy.value_or(true)) {
      report("stages", "1 or 2 without async_copy (LDG + STS has a double buffer)", std::to_string(*config_.stages));
    }
    // What every stage of both operands takes, without padding: less cannot hold the tiles.
    constexpr std::int64_t element_bytes = 4;
    const std::int64_t least =
        std::int64_t{config_.stages.value_or(1)} * (config_.tile.m + config_.tile.n) * config_.tile.k * element_bytes;
    if (!config_.shared_bytes) config_.shared_bytes = default_shared_bytes(config_);
    if (*config_.shared_bytes < least) {
      report("shared_bytes",
             "at least " + std::to_string(least) + " bytes for " + std::to_string(config_.stages.value_or(1)) +
                 " stages of a " + text(config_.tile) + " tile",
             std::to_string(*config_.shared_bytes));
    }
  }

  static std::string text(const Tile& tile) {
    return std::to_string(tile.m) + "x" + std::to_string(tile.n) + "x" + std::to_string(tile.k);
  }
  static std::string text(const std::optional<int>& m, const std::optional<int>& n) {
    return std::to_string(m.value_or(0)) + "x" + std::to_string(n.value_or(0));
  }
  std::string warp_text() const { return text(config_.warp_m, config_.warp_n); }
  std::string thread_text() const { return text(config_.thread_m, config_.thread_n); }

  KernelConfig config_;
  GemmShape shape_;
  Diagnostics errors_;
};

}  // namespace

Diagnostics check_shape(const GemmShape& shape) {
  Diagnostics errors;
  const auto check = [&](const char* key, std::int64_t value) {
    if (value < 1 || value > largest_extent)
      errors.push_back({"", 0, 0, key, "a whole number from 1 to 2147483647", std::to_string(value)});
  };
  check("shape.m", shape.m);
  check("shape.n", shape.n);
  check("shape.k", shape.k);
  check("batch", shape.batch);
  if (errors.empty() && shape.flops() > largest_work)
    errors.push_back({"", 0, 0, "shape", "at most 2^62 operations (2 x M x N x K x batch)",
                      std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k) +
                          " batch " + std::to_string(shape.batch)});
  return errors;
}

Result<KernelConfig> resolve(const KernelConfig& config, const GemmShape& shape) {
  if (config.static_tile && config.family != Family::naive)
    return Diagnostic{
        "", 0, 0, "static_tile", "false (only naive kernels have tiles that the compiler may not know)", "true"};
  if (config.dtype_b && config.family != Family::triton && config.family != Family::mma)
    return Diagnostic{"",
                      0,
                      0,
                      "dtype_b",
                      "no value (only triton and mma kernels widen B in the main loop)",
                      std::string(name_of(*config.dtype_b))};
  if (config.clblast != ClblastParameters{} && config.family != Family::clblast)
    return Diagnostic{
        "", 0, 0, "family", "clblast (mdimc and the like are its parameters)", std::string(name_of(config.family))};
  if (config.family == Family::clblast) return resolve_clblast(config, shape);
  if (config.family == Family::mma) return resolve_mma(config, shape);
  if (config.family == Family::wgmma) return resolve_wgmma(config, shape);
  if (config.family == Family::tcgen05) return resolve_tcgen05(config, shape);
  if (config.family == Family::attention) return resolve_attention(config, shape);
  if (config.family == Family::flash3) return resolve_flash3(config, shape);
  if (config.family == Family::triton) return resolve_triton(config, shape);
  return Resolver(config, shape).run();
}

}  // namespace noteg::kernels
