// The rules of the gemv family: few rows of C, no tile in shared memory. And what the family is.
#include <algorithm>
#include <array>

#include "kernels/families/build.hpp"
#include "kernels/families/gemv/gemv.hpp"
#include "kernels/families/rules.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::kernels {
namespace {

constexpr int usual_threads = 128, most_rows = 8, most_results = 16;  // of a CTA: a thread has a sum for each

DataType sum_of(DataType in) { return in == DataType::s8 ? DataType::s32 : DataType::f32; }

void settle_types(Draft& draft) {
  KernelConfig& c = draft.config;
  if (!gemv_takes(c.dtype_in))
    return draft.report("dtype_in", "f16, bf16, f8e4m3 or s8 (gemv)", std::string(name_of(c.dtype_in)));
  if (c.dtype_acc != sum_of(c.dtype_in))
    draft.report("dtype_acc",
                 std::string(name_of(sum_of(c.dtype_in))) + " (gemv, of " + std::string(name_of(c.dtype_in)) + ")",
                 std::string(name_of(c.dtype_acc)));
  if (!a_contiguous_in_k(c.layout) || b_contiguous_in_n(c.layout))
    draft.report("layout", "nt (a gemv thread reads along K)", std::string(name_of(c.layout)));
}

// K in equal steps, of 16 bytes for each thread at most, and of as many lanes of every warp. Without tile.k or threads:
// what K keeps busy, up to 128.
void settle_steps(Draft& draft) {
  KernelConfig& c = draft.config;
  const int width = elements_of_access(c.dtype_in);
  const auto busy = [&](std::int64_t k) { return ceil_div(ceil_div(k, width), 32) * 32; };
  if (!c.threads)
    c.threads =
        static_cast<int>(c.tile.k > 0 ? busy(c.tile.k) : std::min<std::int64_t>(usual_threads, busy(draft.shape.k)));
  if (*c.threads < 32 || *c.threads > largest_cta || *c.threads % 32 != 0)
    return draft.report("threads", "a multiple of 32 up to 1024 (gemv)", std::to_string(*c.threads));
  const int longest = *c.threads * width;
  if (c.tile.k == 0) c.tile.k = longest;
  if (c.tile.k < width || c.tile.k > longest)
    return draft.report("tile", std::to_string(width) + " to " + std::to_string(longest) + " of K (16 bytes a thread)",
                        tile_text(c.tile));
  const std::int64_t steps = ceil_div(draft.shape.k, c.tile.k), of_lane = std::int64_t{*c.threads} / 32 * width;
  c.tile.k = static_cast<int>(ceil_div(ceil_div(draft.shape.k, steps), of_lane) * of_lane);
}

void settle_tile(Draft& draft) {
  const Tile& tile = draft.config.tile;
  if (std::min(tile.m, tile.n) < 1 || std::max(tile.m, tile.n) > most_rows)
    return draft.report("tile", "1 to 8 rows and columns of a CTA, for example 1x2x1024", tile_text(tile));
  if (tile.m * tile.n > most_results) return draft.report("tile", "16 results of a CTA at most", tile_text(tile));
  refuse_slices(draft);
  settle_steps(draft);
}

void settle_work(Draft& draft) {
  KernelConfig& c = draft.config;
  if (c.warp_m) draft.report("warp_tile", "no value (gemv threads share K)", pair_text(c.warp_m, c.warp_n));
  if (c.thread_m) draft.report("thread_tile", "no value (gemv threads share K)", pair_text(c.thread_m, c.thread_n));
  const int width = elements_of_access(c.dtype_in);
  if (draft.shape.k % width != 0)
    draft.report("shape.k", "a multiple of " + std::to_string(width) + " (gemv reads 16 bytes at a time)",
                 std::to_string(draft.shape.k));
  const auto settle = [&](const char* key, std::optional<int>& value, int wanted) {
    if (value && *value != wanted) draft.report(key, std::to_string(wanted) + " (gemv)", std::to_string(*value));
    value = wanted;
  };
  settle("align_a", c.align_a, width);
  settle("align_b", c.align_b, width);
  settle("align_c", c.align_c, 1);
}

// As nvcc 12 allocates them for one, two and four rows, two columns (sm_90); for more what the builder needs.
void settle_registers(Draft& draft) {
  KernelConfig& c = draft.config;
  struct Row {
    DataType type;
    int of_one, of_two, of_four;
  };
  constexpr std::array read{Row{DataType::s8, 42, 54, 62}, Row{DataType::f16, 30, 36, 54},
                            Row{DataType::bf16, 38, 38, 54}, Row{DataType::f8e4m3, 28, 38, 70}};
  const auto* row = std::ranges::find(read, c.dtype_in, &Row::type);
  const int sums = c.tile.m * c.tile.n;
  if (!c.registers && sums <= 8) c.registers = sums <= 2 ? row->of_one : sums <= 4 ? row->of_two : row->of_four;
}

Result<KernelConfig> resolve_gemv(const KernelConfig& config, const GemmShape& shape) {
  Draft draft = begin_without_tensor_cores(config, shape);
  if (!draft.is_sound()) return draft.errors;
  settle_types(draft);
  settle_tile(draft);
  if (!draft.is_sound()) return draft.errors;
  settle_stages(draft, 1);
  settle_copies(draft, false, false);
  settle_work(draft);
  if (!draft.is_sound()) return draft.errors;
  settle_registers(draft);
  const std::int64_t partial_sums = gemv_shared_bytes(draft.config);
  settle_shared_bytes(draft, partial_sums, partial_sums);
  return draft.take();
}

// As many rows as there are, and CTAs of two columns as TensorRT-LLM's, or of four.
void add_gemvs(const TuningRequest& request, std::vector<KernelConfig>& out) {
  if (request.shape.m > most_rows || !gemv_takes(request.frame.dtype_in)) return;
  for (const int columns : {2, 4}) {
    if (request.shape.m * columns > most_results) continue;
    KernelConfig kernel;
    kernel.family = Family::gemv;
    kernel.tile = {static_cast<int>(request.shape.m), columns, 0};
    out.push_back(in_frame(kernel, request.frame));
  }
}

}  // namespace

bool gemv_takes(DataType type) {
  return type == DataType::f16 || type == DataType::bf16 || type == DataType::f8e4m3 || type == DataType::s8;
}

int elements_of_access(DataType type) { return static_cast<int>(gemv_access_bytes / bytes_of(type)); }

std::int64_t gemv_shared_bytes(const KernelConfig& config) {
  constexpr int sum_bytes = 4;
  return std::int64_t{sum_bytes} * config.tile.m * config.tile.n * (*config.threads / 32);
}

constinit const FamilyDescriptor gemv_family{
    .family = Family::gemv,
    .name = "gemv",
    .meaning = "dot products for few rows: the threads of a CTA share K",
    .traits = {.multiplies_with = "dot",
               .stages = {1, 1, "1 (a gemv kernel loads one step of K at a time)"},
               .takes_few_rows = true,
               .prefetched_bytes = 0},
    .resolve = resolve_gemv,
    .build = build_gemv,
    .add_candidates = add_gemvs,
};

}  // namespace noteg::kernels
