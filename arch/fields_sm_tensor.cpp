// Keys of the SM: tensor cores.
#include "arch/field_row.hpp"

namespace noteg::arch::detail {

std::vector<Field> sm_tensor_fields() {
  constexpr Range cycles{0.25, 10000};
  return {
      row("sm.tensor.mma", NOTEG_MEMBER(sm.tensor.mma), cycles,
          "Forms of mma.sync: SM cycles from issue to a dependent one on the same accumulators, and between two of a "
          "sub-core; sp_ marks a 2:4 sparse A. Forms that are not listed do not exist.",
          "tensor pipe, mma family"),
      row("sm.tensor.wgmma", NOTEG_MEMBER(sm.tensor.wgmma), cycles,
          "Forms of wgmma with N = 256, as for mma.sync, per warp group; times are proportional to N.",
          "tensor pipe, wgmma family"),
      row("sm.tensor.f32_accumulate_slowdown", NOTEG_MEMBER(sm.tensor.f32_accumulate_slowdown), {1, 8},
          "Factor on the interval of mma forms that accumulate in f32: 2 on GeForce parts.", "tensor pipe"),
      row("sm.tensor.clock_share", NOTEG_MEMBER(sm.tensor.clock_share), {0.5, 1},
          "Share of clock.sustained that kernels with tensor multiply-accumulates do not exceed, however little power "
          "they take.",
          "upper end of the solved clock"),
  };
}

}  // namespace noteg::arch::detail
