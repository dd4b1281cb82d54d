#include "kernels/families/simt/simt_plan.hpp"

#include <algorithm>

#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr int warp_lanes = 32;

Diagnostic mistake(std::string key, std::string expected, int found) {
  return {"", 0, 0, std::move(key), std::move(expected), std::to_string(found)};
}

// CUTLASS takes 64 x 64 warp tiles in the largest CTA tiles and 32 x 64 or 64 x 32 otherwise; smaller tiles fill
// the warp tile as far as they go.
void default_warp_tile(SimtPlan& plan) {
  if (plan.warp_m == 0)
    plan.warp_m = std::min(plan.tile.m, plan.tile.m >= 256 || plan.tile.n <= 32 || plan.tile.m > plan.tile.n ? 64 : 32);
  if (plan.warp_n == 0) plan.warp_n = std::min(plan.tile.n, plan.warp_m >= 64 && plan.tile.m < 256 ? 32 : 64);
}

OperandCopy plan_copy(Matrix matrix, int extent, bool is_k_contiguous, int align, const SimtPlan& plan) {
  OperandCopy copy;
  copy.matrix = matrix;
  copy.extent = extent;
  copy.is_k_contiguous = is_k_contiguous;
  // An asynchronous copy cannot spread one access over several shared rows. CUTLASS transposes with scalar copies;
  // kernels whose operands are aligned to vectors (cuBLAS) keep K-major rows in shared memory instead and read
  // vectors along K, as many fragment loads for four k steps as the transposed layout needs.
  copy.width = align;
  copy.is_k_major = is_k_contiguous && plan.is_async && align > 1;
  while (copy.width > 1 && extent * plan.tile.k % (plan.threads * copy.width) != 0) copy.width /= 2;
  copy.store_width = is_k_contiguous ? 1 : copy.width;
  // Padding spreads a transposing copy over the banks. CUTLASS pads only when it stores by itself; cuBLAS kernels
  // are taken to be free of such conflicts always (their tn rates leave no room for them).
  copy.pad = is_k_contiguous && !copy.is_k_major && (!plan.is_async || plan.is_padded) ? 4 : 0;
  copy.copies = std::max(1, extent * plan.tile.k / (plan.threads * copy.width));
  return copy;
}

Diagnostics check(const SimtPlan& plan) {
  Diagnostics found;
  if (plan.tile.m <= 0 || plan.tile.n <= 0 || plan.tile.k <= 0)
    return {mistake("tile", "three positive extents", plan.tile.m)};
  if (plan.warp_m <= 0 || plan.tile.m % plan.warp_m != 0)
    found.push_back(mistake("warp_m", "a divisor of tile.m", plan.warp_m));
  if (plan.warp_n <= 0 || plan.tile.n % plan.warp_n != 0)
    found.push_back(mistake("warp_n", "a divisor of tile.n", plan.warp_n));
  if (plan.sliced_k <= 0 || plan.tile.k % plan.sliced_k != 0)
    found.push_back(mistake("sliced_k", "a divisor of tile.k", plan.sliced_k));
  if (plan.stages < 2) found.push_back(mistake("stages", "at least 2", plan.stages));
  return found;
}

struct LanePlace {
  int row = 0, column = 0;
};

// CUTLASS's interleaved lane layout: pairs of lanes share a column and walk two rows, so that both fragments'
// 16-byte loads merge. There the interleave is 1 where a thread holds only one vector along M or N; the library's
// ampere_sgemm kernels are taken to merge always, as the lane mapping of maxas does for the same loads. Its xmma
// kernels for operands along K walk the shorter axis of lanes first, so that loads along that axis never merge:
// wavefronts per load of 2.99 for 64 x 128 and 128 x 64, 3.31 for 128 x 128 tiles (H200M, counters).
LanePlace place_of(const SimtPlan& plan, int lane) {
  const bool wide_rows = plan.lanes_m <= plan.lanes_n;
  if (plan.walks_short_axis)
    return wide_rows ? LanePlace{lane % plan.lanes_m, lane / plan.lanes_m}
                     : LanePlace{lane / plan.lanes_n, lane % plan.lanes_n};
  const bool is_library = plan.is_padded;
  const int interleave = is_library || (plan.thread_m > 4 && plan.thread_n > 4) ? 2 : 1;
  const int minor_extent = wide_rows ? plan.lanes_n : plan.lanes_m;
  const int stride = minor_extent * interleave;
  const int major = lane / stride * interleave + lane % interleave;
  const int minor = lane % stride / interleave;
  return wide_rows ? LanePlace{major, minor} : LanePlace{minor, major};
}

}  // namespace

int fragment_width(int thread_extent) { return thread_extent % 4 == 0 ? 4 : thread_extent % 2 == 0 ? 2 : 1; }

Result<SimtPlan> plan_simt(const KernelConfig& config, bool hardware_has_async_copy) {
  SimtPlan plan;
  plan.tile = config.tile;
  plan.stages = config.stages.value_or(hardware_has_async_copy ? 4 : 2);
  plan.sliced_k = config.sliced_k.value_or(1);
  plan.warp_m = config.warp_m.value_or(0);
  plan.warp_n = config.warp_n.value_or(0);
  default_warp_tile(plan);
  if (Diagnostics found = check(plan); !found.empty()) return found;
  plan.thread_m = config.thread_m.value_or(std::max(1, plan.warp_m / 4));
  plan.thread_n = config.thread_n.value_or(std::max(1, plan.warp_n / 8));
  plan.lanes_m = plan.warp_m / std::max(1, plan.thread_m);
  plan.lanes_n = plan.warp_n / std::max(1, plan.thread_n);
  if (plan.lanes_m * plan.lanes_n != warp_lanes) {
    return mistake("thread_m", "a thread tile that splits the warp tile among 32 lanes", plan.lanes_m * plan.lanes_n);
  }
  plan.k_steps = plan.tile.k / plan.sliced_k;
  plan.warps = plan.tile.m / plan.warp_m * (plan.tile.n / plan.warp_n) * plan.sliced_k;
  plan.threads = plan.warps * warp_lanes;
  plan.is_async = config.async_copy.value_or(plan.stages >= 3) && hardware_has_async_copy;
  plan.is_padded = config.flavor == Flavor::cublas || config.flavor == Flavor::xmma;
  plan.walks_short_axis =
      config.flavor == Flavor::xmma && a_contiguous_in_k(config.layout) && !b_contiguous_in_n(config.layout);
  plan.has_placeholders = plan.is_async && config.flavor != Flavor::xmma;
  plan.a = plan_copy(Matrix::a, plan.tile.m, a_contiguous_in_k(config.layout), config.align_a.value_or(1), plan);
  plan.b = plan_copy(Matrix::b, plan.tile.n, !b_contiguous_in_n(config.layout), config.align_b.value_or(1), plan);
  plan.store_width = std::clamp(config.align_c.value_or(1), 1, 4);
  while (plan.thread_n / plan.sliced_k % plan.store_width != 0) plan.store_width /= 2;
  if (plan.store_width < 1) plan.store_width = 1;
  plan.shared_bytes =
      std::int64_t{f32_bytes} * plan.stages * plan.tile.k * (plan.tile.m + plan.a.pad + plan.tile.n + plan.b.pad);
  return plan;
}

AccessPattern fragment_pattern(const SimtPlan& plan, bool of_a) {
  AccessPattern p;
  p.matrix = of_a ? Matrix::a : Matrix::b;
  const int width = fragment_width(of_a ? plan.thread_m : plan.thread_n);
  p.bytes_per_lane = static_cast<std::uint8_t>(width * f32_bytes);
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const LanePlace place = place_of(plan, lane);
    p.offset[static_cast<std::size_t>(lane)] =
        static_cast<std::uint32_t>((of_a ? place.row : place.column) * width * f32_bytes);
  }
  return p;
}

AccessPattern copy_pattern(const SimtPlan& plan, const OperandCopy& operand) {
  AccessPattern p;
  p.space = Space::global;
  p.matrix = operand.matrix;
  p.bytes_per_lane = static_cast<std::uint8_t>(operand.width * f32_bytes);
  const int row = operand.extent + operand.pad;
  const int run = (operand.is_k_contiguous ? plan.tile.k : operand.extent) / operand.width;  // lanes along memory
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const int along = lane % std::max(1, run) * operand.width;
    const int across = lane / std::max(1, run);
    const int shared = operand.is_k_major        ? across * plan.tile.k + along
                       : operand.is_k_contiguous ? along * row + across
                                                 : across * row + along;
    p.offset[static_cast<std::size_t>(lane)] =
        static_cast<std::uint32_t>(across) * nominal_pitch + static_cast<std::uint32_t>(along * f32_bytes);
    p.shared_offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(shared * f32_bytes);
  }
  return p;
}

AccessPattern store_pattern(const SimtPlan& plan, const OperandCopy& operand) {
  AccessPattern p = copy_pattern(plan, operand);
  p.space = Space::shared;
  p.store = true;
  p.bytes_per_lane = static_cast<std::uint8_t>(operand.store_width * f32_bytes);
  p.offset = p.shared_offset;
  p.shared_offset = {};
  return p;
}

}  // namespace noteg::kernels
