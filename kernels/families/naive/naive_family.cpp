// The rules of the naive family: a cube of a tile, one element per thread, one buffer. And what the family is.
#include "kernels/families/build.hpp"
#include "kernels/families/rules.hpp"

namespace noteg::kernels {
namespace {

constexpr int usual_registers = 32;

void settle_tile(Draft& draft) {
  Tile& tile = draft.config.tile;
  if (tile.n == 0) tile.n = tile.m;
  if (tile.k == 0) tile.k = tile.m;
  if (!check_extents(draft)) return;
  if (tile.m != tile.n || tile.m != tile.k || tile.m > 32)
    return draft.report("tile", "a naive kernel's cube of 1 to 32, for example 16x16x16", tile_text(tile));
  refuse_slices(draft);
}

void settle_work(Draft& draft) {
  KernelConfig& c = draft.config;
  if (c.warp_m)
    draft.report("warp_tile", "no value (a naive thread computes one element)", pair_text(c.warp_m, c.warp_n));
  if (c.thread_m && (*c.thread_m != 1 || *c.thread_n != 1))
    draft.report("thread_tile", "1x1 (a naive thread computes one element)", pair_text(c.thread_m, c.thread_n));
  c.thread_m = c.thread_n = 1;
  settle_threads(draft, c.tile.m * c.tile.n, "one per element of the tile");
}

Result<KernelConfig> resolve_naive(const KernelConfig& config, const GemmShape& shape) {
  Draft draft = begin_ffma(config, shape);
  if (!draft.is_sound()) return draft.errors;
  settle_tile(draft);
  if (!draft.is_sound()) return draft.errors;
  settle_stages(draft, 1);
  settle_copies(draft, false, false);
  settle_work(draft);
  if (!draft.is_sound()) return draft.errors;
  settle_alignment(draft, 1);
  if (!draft.config.registers) draft.config.registers = usual_registers;
  settle_shared_bytes(draft, stage_bytes(draft.config, 0));
  return draft.take();
}

// The measurements call the barriers around each tile so.
bool read_schedule(KernelConfig&, std::string_view text) { return text == "sync2"; }

}  // namespace

constinit const FamilyDescriptor naive_family{
    .family = Family::naive,
    .name = "naive",
    .meaning = "one thread per element",
    .traits = {.stages = {1, 1, "1 (a naive kernel has one buffer)"},
               .walks_columns_first = true,
               .takes_static_tile = true,
               .prefetched_bytes = 0},
    .resolve = resolve_naive,
    .build = build_naive,
    .read_schedule = read_schedule,
};

}  // namespace noteg::kernels
