// The rules of the blocked family: thread tiles, vectors of four, one or two buffers. And what the family is.
#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/rules.hpp"

namespace noteg::kernels {
namespace {

constexpr int vector = 4;  // elements

void settle_tile(Draft& draft) {
  Tile& tile = draft.config.tile;
  // Sliced kernels give each slice the 8 columns that an unsliced one has.
  if (tile.k == 0) tile.k = 8 * draft.config.sliced_k.value_or(1);
  if (!check_extents(draft)) return;
  if (tile.m % vector != 0 || tile.n % vector != 0 || tile.k % vector != 0)
    draft.report("tile", "extents that are multiples of 4 (blocked kernels load vectors of 4)", tile_text(tile));
  refuse_slices(draft);
}

void settle_work(Draft& draft) {
  KernelConfig& c = draft.config;
  if (c.warp_m)
    draft.report("warp_tile", "no value (blocked kernels number their threads through)", pair_text(c.warp_m, c.warp_n));
  if (!c.thread_m) c.thread_m = c.thread_n = std::min(c.tile.m, c.tile.n) >= 64 ? 8 : 4;
  const std::string thread_text = pair_text(c.thread_m, c.thread_n);
  if (c.tile.m % *c.thread_m != 0 || c.tile.n % *c.thread_n != 0)
    return draft.report("thread_tile", "extents that divide the tile " + tile_text(c.tile), thread_text);
  if (!check_accumulators(draft)) return;
  settle_threads(draft, c.tile.m / *c.thread_m * (c.tile.n / *c.thread_n), "one per thread tile");
  if (c.threads && *c.threads % 32 != 0)
    draft.report("threads",
                 "a multiple of 32 (tile " + tile_text(c.tile) + " over thread tiles of " + thread_text + ")",
                 std::to_string(*c.threads));
}

int usual_registers(const KernelConfig& c) {
  if (const KnownKernel* known = find_known_kernel(c); known != nullptr && known->registers != any)
    return known->registers;
  const int thread_m = c.thread_m.value_or(1), thread_n = c.thread_n.value_or(1);
  const int staged = (c.tile.m + c.tile.n) * c.tile.k / std::max(1, c.threads.value_or(32));
  return std::clamp(thread_m * thread_n + thread_m + thread_n + staged + 32, 32, 255);
}

Result<KernelConfig> resolve_blocked(const KernelConfig& config, const GemmShape& shape) {
  Draft draft = begin_ffma(config, shape);
  if (!draft.is_sound()) return draft.errors;
  settle_tile(draft);
  if (!draft.is_sound()) return draft.errors;
  settle_stages(draft, 2);
  settle_copies(draft, false, false);
  settle_work(draft);
  if (!draft.is_sound()) return draft.errors;
  settle_alignment(draft, vector);
  if (!draft.config.registers) draft.config.registers = usual_registers(draft.config);
  settle_shared_bytes(draft, stage_bytes(draft.config, row_padding));
  return draft.take();
}

bool read_schedule(KernelConfig& config, std::string_view text) {
  if (text != "single_buffer" && text != "double_buffer") return false;
  if (!config.stages) config.stages = text == "single_buffer" ? 1 : 2;
  return true;
}

}  // namespace

constinit const FamilyDescriptor blocked_family{
    .family = Family::blocked,
    .name = "blocked",
    .meaning = "register blocking, vector loads",
    .traits = {.stages = {1, 2, "1 or 2 (a blocked kernel has one or two buffers)"},
               .walks_columns_first = true,
               .prefetched_bytes = 0},
    .resolve = resolve_blocked,
    .build = build_blocked,
    .read_schedule = read_schedule,
};

}  // namespace noteg::kernels
