#include "kernels/families/clblast/clblast_plan.hpp"

#include <algorithm>

#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr int widest = 4;

AccessPattern of(Space space, Matrix matrix, bool store, int bytes) {
  AccessPattern p;
  p.space = space;
  p.matrix = matrix;
  p.store = store;
  p.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  return p;
}

std::uint32_t bytes_at(int elements) { return static_cast<std::uint32_t>(elements * f32_bytes); }

// Where a copying lane begins: its vectors along the extent, its rows along K.
struct CopyPlace {
  int element = 0, row = 0;
};

CopyPlace copy_place(const ClblastPlan& plan, const ClblastOperand& o, int lane) {
  const int vectors = o.extent / o.copy_threads / o.width;
  const int rows = plan.tile.k / (plan.threads / o.copy_threads);
  const int across = lane % o.copy_threads;
  return {(o.is_strided ? across : across * vectors) * o.width, lane / o.copy_threads * rows};
}

// Of `neighbours` elements in shared memory.
int merged_width(const ClblastPlan& plan, const ClblastOperand& o, int neighbours) {
  const bool merges = o.is_staged && !o.is_strided && o.matrix == plan.b.matrix && plan.a.is_staged && plan.a.width > 1;
  const int most = std::min(widest, plan.a.per_thread());
  int width = access_width(o);
  while (merges && width < most && neighbours % (2 * width) == 0) width *= 2;
  return width;
}

}  // namespace

int access_width(const ClblastOperand& o) { return std::min(o.width, widest); }

int private_width(const ClblastPlan& plan, const ClblastOperand& o) { return merged_width(plan, o, o.per_thread()); }

int copied_width(const ClblastPlan& plan, const ClblastOperand& o) {
  return merged_width(plan, o, o.extent / o.copy_threads);
}

int vector_step(const ClblastOperand& o) { return o.is_strided ? o.threads * o.width : o.width; }

ClblastPlan plan_clblast(const KernelConfig& config) {
  const ClblastParameters& p = config.clblast;
  ClblastPlan plan;
  plan.tile = config.tile;
  plan.threads = p.mdimc * p.ndimc;
  plan.kwi = p.kwi;
  plan.a = {Matrix::b, config.tile.n, p.vwm, p.sa, p.strm, p.mdimc, true, p.mdima};
  plan.b = {Matrix::a, config.tile.m, p.vwn, p.sb, p.strn, p.ndimc, false, p.ndimb};
  return plan;
}

AccessPattern private_pattern(const ClblastPlan& plan, const ClblastOperand& o, int bytes) {
  AccessPattern p = of(o.is_staged ? Space::shared : Space::global, o.matrix, false, bytes);
  for (int lane = 0; lane < 32; ++lane) {
    const int place = o.is_fastest ? lane % plan.a.threads : lane / plan.a.threads;
    p.offset[static_cast<std::size_t>(lane)] = bytes_at(place * (o.is_strided ? o.width : o.per_thread()));
  }
  return p;
}

AccessPattern copy_from(const ClblastPlan& plan, const ClblastOperand& o, int bytes) {
  AccessPattern p = of(Space::global, o.matrix, false, bytes);
  for (int lane = 0; lane < 32; ++lane) {
    const CopyPlace place = copy_place(plan, o, lane);
    p.offset[static_cast<std::size_t>(lane)] =
        bytes_at(place.element) + static_cast<std::uint32_t>(place.row) * nominal_pitch;
  }
  return p;
}

AccessPattern copy_to(const ClblastPlan& plan, const ClblastOperand& o, int bytes) {
  AccessPattern p = of(Space::shared, o.matrix, true, bytes);
  for (int lane = 0; lane < 32; ++lane) {
    const CopyPlace place = copy_place(plan, o, lane);
    p.offset[static_cast<std::size_t>(lane)] = bytes_at(place.row * o.extent + place.element);
  }
  return p;
}

AccessPattern result_pattern(const ClblastPlan& plan, int bytes, bool store) {
  AccessPattern p = of(Space::global, Matrix::c, store, bytes);
  const int along = plan.a.is_strided ? plan.a.width : plan.a.per_thread();
  const int across = plan.b.is_strided ? plan.b.width : plan.b.per_thread();
  for (int lane = 0; lane < 32; ++lane) {
    p.offset[static_cast<std::size_t>(lane)] =
        bytes_at(lane % plan.a.threads * along) +
        static_cast<std::uint32_t>(lane / plan.a.threads * across) * nominal_pitch;
  }
  return p;
}

}  // namespace noteg::kernels
