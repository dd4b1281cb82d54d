// How the last CTAs of a grid fall onto SMs that have just finished whole rounds.
#include "tests/gpu/chip_setup.hpp"

namespace noteg::gpu {
namespace {

// Tiles of the grid: 2 on every SM of 132 for two rounds, and `rest` on top.
double time_with_rest(const std::string& kernel, std::int64_t tile_m, std::int64_t tile_n, std::int64_t rest) {
  const kernels::GemmShape shape{tile_m, tile_n * (2 * 264 + rest), 2048, 1};
  SimOptions options;
  options.sm_clock_mhz = 1755;
  return run(gpu_of("h100-sxm5-80gb"), kernel, shape, options).time_us;
}

TEST(Tail, CtasInStepTakeTheRestByWholeRounds) {
  const std::string kernel =
      "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel";
  const double whole = time_with_rest(kernel, 128, 64, 264);
  EXPECT_NEAR(time_with_rest(kernel, 128, 64, 112), whole, 0.05 * whole);
  EXPECT_LT(time_with_rest(kernel, 128, 64, 1), 0.92 * whole);  // a single one has an SM to itself
}

TEST(Tail, OthersSpreadItOverTheSms) {
  const std::string kernel = "cutlass_simt_sgemm_128x128_8x4_nn_align1";  // 8 warps
  const double whole = time_with_rest(kernel, 128, 128, 264);
  EXPECT_LT(time_with_rest(kernel, 128, 128, 112), 0.92 * whole);
}

}  // namespace
}  // namespace noteg::gpu
