// Defaults and rules of kernel configurations.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/families/rules.hpp"

namespace noteg::kernels {
namespace {

constexpr GemmShape cube{4096, 4096, 4096, 1};
constexpr std::int64_t largest = 2147483647;

KernelConfig simt(Tile tile, int stages, Layout layout, Flavor flavor = Flavor::cutlass) {
  KernelConfig config;
  config.flavor = flavor;
  config.tile = tile;
  config.stages = stages;
  config.layout = layout;
  return config;
}

std::string errors_of(const KernelConfig& config, const GemmShape& shape = cube) {
  const Result<KernelConfig> resolved = resolve(config, shape);
  return resolved ? "" : to_string(resolved.errors());
}

TEST(Resolve, FillsEveryValueOfASimtKernel) {
  const Result<KernelConfig> r = resolve(simt({128, 128, 8}, 4, Layout::nt), cube);
  ASSERT_TRUE(r) << to_string(r.errors());
  EXPECT_EQ(r->threads, 256);
  EXPECT_EQ(r->warp_m, 32);
  EXPECT_EQ(r->warp_n, 64);
  EXPECT_EQ(r->thread_m, 8);
  EXPECT_EQ(r->thread_n, 8);
  EXPECT_EQ(r->async_copy, true);
  EXPECT_EQ(r->sliced_k, 1);
  EXPECT_EQ(r->registers, 128);
  EXPECT_EQ(r->shared_bytes, 32768);
  EXPECT_EQ(r->align_a, 1);
  EXPECT_EQ(r->align_b, 1);
  EXPECT_EQ(r->align_c, 1);
}

TEST(Resolve, RefusesWhatCannotHoldItsStages) {
  KernelConfig config = simt({128, 128, 8}, 4, Layout::nn);
  config.shared_bytes = 16640;
  config.async_copy = false;
  const Result<KernelConfig> r = resolve(config, cube);
  ASSERT_FALSE(r);
  const std::string text = to_string(r.errors());
  EXPECT_NE(text.find("stages: expected 1 or 2 without async_copy"), std::string::npos) << text;
  EXPECT_NE(text.find("shared_bytes: expected at least 32768 bytes for 4 stages"), std::string::npos) << text;
}

TEST(Resolve, KeepsWhatWasGiven) {
  KernelConfig config = simt({128, 128, 8}, 2, Layout::nn);
  config.registers = 99;
  config.shared_bytes = 50000;
  config.async_copy = false;
  const Result<KernelConfig> r = resolve(config, cube);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->registers, 99);
  EXPECT_EQ(r->shared_bytes, 50000);
  EXPECT_EQ(r->async_copy, false);
}

TEST(Resolve, IsIdempotent) {
  const Result<KernelConfig> once = resolve(simt({256, 128, 8}, 4, Layout::tt), cube);
  ASSERT_TRUE(once);
  const Result<KernelConfig> twice = resolve(*once, cube);
  ASSERT_TRUE(twice) << to_string(twice.errors());
  EXPECT_EQ(twice->thread_m, once->thread_m);
  EXPECT_EQ(twice->registers, once->registers);
  EXPECT_EQ(twice->shared_bytes, once->shared_bytes);
}

TEST(Resolve, StagesDecideBetweenStagedAndAsynchronousCopies) {
  EXPECT_EQ(resolve(simt({128, 128, 8}, 2, Layout::nn), cube)->async_copy, false);
  EXPECT_EQ(resolve(simt({128, 128, 8}, 3, Layout::nn), cube)->async_copy, true);
}

// Two buffers of (128 + 128) x 8 floats, and 4 floats per k for each operand that is transposed on its way in.
TEST(Resolve, TransposedOperandsArePaddedInRegisterStagedKernels) {
  EXPECT_EQ(resolve(simt({128, 128, 8}, 2, Layout::tn), cube)->shared_bytes, 16384);
  EXPECT_EQ(resolve(simt({128, 128, 8}, 2, Layout::nn), cube)->shared_bytes, 16640);
  EXPECT_EQ(resolve(simt({128, 128, 8}, 2, Layout::tt), cube)->shared_bytes, 16640);
  EXPECT_EQ(resolve(simt({128, 128, 8}, 2, Layout::nt), cube)->shared_bytes, 16896);
}

TEST(Resolve, NaiveKernelsHaveOneThreadPerElement) {
  KernelConfig config;
  config.family = Family::naive;
  config.tile = {12, 0, 0};
  const Result<KernelConfig> r = resolve(config, {8192, 8192, 1024, 1});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->tile.n, 12);
  EXPECT_EQ(r->tile.k, 12);
  EXPECT_EQ(r->threads, 144);
  EXPECT_EQ(r->stages, 1);
  EXPECT_EQ(r->registers, 32);
  EXPECT_EQ(r->shared_bytes, 1152);
}

TEST(Resolve, SlicesShareTheThreads) {
  KernelConfig config = simt({32, 32, 0}, 2, Layout::nt, Flavor::cublas);
  config.sliced_k = 4;
  const Result<KernelConfig> r = resolve(config, cube);
  ASSERT_TRUE(r) << to_string(r.errors());
  EXPECT_EQ(r->tile.k, 32);
  EXPECT_EQ(r->threads, 128);
  EXPECT_EQ(r->warp_m, 32);
  EXPECT_EQ(r->warp_n, 32);
}

TEST(Resolve, BlockedKernelsLoadTheWidestVectorsThatDivideTheExtents) {
  KernelConfig config;
  config.family = Family::blocked;
  config.tile = {128, 128, 8};
  const Result<KernelConfig> whole = resolve(config, {204, 156, 172, 1});
  ASSERT_TRUE(whole) << to_string(whole.errors());
  EXPECT_EQ(whole->align_a, 4);
  EXPECT_EQ(whole->align_b, 4);
  const Result<KernelConfig> odd = resolve(config, {204, 155, 170, 1});
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->align_a, 2);
  EXPECT_EQ(odd->align_b, 1);
}

TEST(Resolve, AGivenAlignmentMustDivideTheContiguousExtent) {
  KernelConfig config = simt({128, 128, 8}, 4, Layout::nt);
  config.align_a = 4;
  EXPECT_EQ(errors_of(config, {128, 128, 128, 1}), "");
  EXPECT_EQ(errors_of(config, {128, 128, 130, 1}),
            "align_a: expected a divisor of the contiguous extent 130, found 4\n");
}

TEST(Resolve, SplitKIsReducedInsideTheKernelUnlessSaidOtherwise) {
  KernelConfig config = simt({128, 128, 8}, 4, Layout::nn);
  EXPECT_EQ(resolve(config, cube)->split_k_mode, SplitKMode::none);
  config.split_k = 4;
  EXPECT_EQ(resolve(config, cube)->split_k_mode, SplitKMode::serial);
  config.split_k_mode = SplitKMode::parallel;
  EXPECT_EQ(resolve(config, cube)->split_k_mode, SplitKMode::parallel);
}

TEST(Resolve, TellsEveryMistakeAtOnce) {
  KernelConfig config = simt({128, 128, 8}, 9, Layout::nn);
  config.split_k = 0;
  config.swizzle_log2 = -1;
  EXPECT_EQ(errors_of(config, {0, 1, 1, 1}),
            "shape.m: expected an integer from 1 to 2147483647, found 0\n"
            "stages: expected an integer from 1 to 8, found 9\n"
            "split_k: expected an integer from 1 to 4096, found 0\n"
            "swizzle_log2: expected an integer from 0 to 5, found -1\n");
}

KernelConfig mma(Tile tile, DataType in, DataType acc) {
  KernelConfig config;
  config.family = Family::mma;
  config.flavor = Flavor::cutlass;
  config.tile = tile;
  config.dtype_in = in;
  config.dtype_acc = config.dtype_out = acc;
  config.layout = Layout::nt;
  return config;
}

// Registers, shared memory and threads of compiled CUTLASS kernels (H200 measurements).
TEST(Resolve, MmaKernelsGetTheResourcesOfCompiledOnes) {
  const KernelConfig r = *resolve(mma({128, 128, 32}, DataType::f16, DataType::f32), cube);
  EXPECT_EQ(r.registers, 228);
  EXPECT_EQ(r.shared_bytes, 65536);
  EXPECT_EQ(r.threads, 128);
  EXPECT_EQ(r.warp_m, 64);
  EXPECT_EQ(r.stages, 4);
  EXPECT_EQ(r.instruction, (Tile{16, 8, 16}));
  EXPECT_EQ(r.align_a, 8);
  EXPECT_EQ(resolve(mma({128, 128, 0}, DataType::s8, DataType::s32), cube)->registers, 234);
  EXPECT_EQ(resolve(mma({64, 64, 32}, DataType::f16, DataType::f16), cube)->registers, 80);
}

TEST(Resolve, MmaTypesMustGoTogether) {
  EXPECT_EQ(errors_of(mma({128, 128, 32}, DataType::bf16, DataType::f16)),
            "dtype_acc: expected f32 with operands of type bf16, found f16\n");
  EXPECT_EQ(errors_of(mma({128, 128, 32}, DataType::f32, DataType::f32)),
            "dtype_in: expected f16, bf16, tf32, f8e4m3, f8e5m2, mxfp8, mxfp4, nvfp4, s8 or s4 (f32 operands run as "
            "tf32), found f32\n");
  KernelConfig transposed = mma({128, 128, 64}, DataType::s8, DataType::s32);
  transposed.layout = Layout::nn;
  EXPECT_EQ(errors_of(transposed),
            "layout: expected nt, both operands along K (8- and 4-bit elements cannot be transposed on their way), "
            "found nn\n");
}

TEST(Resolve, RefusesTensorKeysAndTypesOfOtherFamilies) {
  KernelConfig config = simt({128, 128, 32}, 4, Layout::nn);
  config.sparse = true;
  EXPECT_EQ(errors_of(config), "sparse: expected no value (the key belongs to the tensor-core families), found one\n");
  config.sparse = false;
  config.dtype_in = DataType::f16;
  EXPECT_EQ(errors_of(config),
            "dtype_in: expected f32 (the naive, blocked and simt families compute with FFMA), found f16\n");
}

TEST(Resolve, OnlyNaiveKernelsMayHaveAStaticTile) {
  KernelConfig config = simt({128, 128, 32}, 4, Layout::nn);
  config.static_tile = true;
  EXPECT_EQ(errors_of(config),
            "static_tile: expected false (only naive kernels have tiles that the compiler may not know), found true\n");
}

TEST(Resolve, HalfATileIsRefused) {
  KernelConfig config = simt({128, 128, 8}, 4, Layout::nn);
  config.warp_m = 32;
  EXPECT_EQ(errors_of(config), "warp_tile: expected both extents, for example 32x64, found only one\n");
}

TEST(Resolve, SurvivesExtremeNumbers) {
  for (const int value : {0, -1, 1, 3, 1024, 1025, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    for (const Family family : {Family::naive, Family::blocked, Family::simt}) {
      KernelConfig config = simt({value, value, value}, 1, Layout::tt);
      config.family = family;
      static_cast<void>(errors_of(config));
      config.tile = {128, 128, 8};
      config.warp_m = config.warp_n = config.thread_m = config.thread_n = value;
      static_cast<void>(errors_of(config));
      config.warp_m = config.warp_n = config.thread_m = config.thread_n = std::nullopt;
      config.threads = config.sliced_k = config.stages = config.align_a = value;
      static_cast<void>(errors_of(config));
    }
  }
}

TEST(CheckShape, ReachesFromOneToThirtyOneBits) {
  EXPECT_TRUE(check_shape({1, 1, 1, 1}).empty());
  EXPECT_TRUE(check_shape({largest, 1, 1, 1}).empty());
  EXPECT_EQ(to_string(check_shape({largest + 1, 1, 1, 1})),
            "shape.m: expected an integer from 1 to 2147483647, found 2147483648\n");
  EXPECT_EQ(to_string(check_shape({1, -5, 1, 0})),
            "shape.n: expected an integer from 1 to 2147483647, found -5\n"
            "batch: expected an integer from 1 to 2147483647, found 0\n");
}

// 2 * M * N * K * batch = 2^62 is the last that fits.
TEST(CheckShape, RefusesWorkThatWouldOverflow) {
  constexpr std::int64_t two_20 = 1 << 20;
  constexpr std::int64_t two_21 = 1 << 21;
  EXPECT_TRUE(check_shape({two_21, two_20, two_20, 1}).empty());
  EXPECT_FALSE(check_shape({two_21, two_20, two_20, 2}).empty());
  EXPECT_EQ(to_string(check_shape({largest, largest, largest, largest})),
            "shape: expected at most 2^62 operations (2 x M x N x K x batch), "
            "found 2147483647x2147483647x2147483647 batch 2147483647\n");
}

TEST(WarpGrid, IsTheSquarestThatDividesTheTile) {
  const auto grid = [](Tile tile, int warps) {
    const std::optional<WarpGrid> found = default_warp_grid(tile, warps);
    return found ? std::pair(found->m, found->n) : std::pair(0, 0);
  };
  EXPECT_EQ(grid({128, 128, 8}, 8), std::pair(4, 2));
  EXPECT_EQ(grid({128, 128, 8}, 4), std::pair(2, 2));
  EXPECT_EQ(grid({128, 64, 8}, 4), std::pair(2, 2));
  EXPECT_EQ(grid({64, 64, 8}, 2), std::pair(2, 1));
  EXPECT_EQ(grid({32, 128, 8}, 2), std::pair(1, 2));
  EXPECT_EQ(grid({128, 256, 8}, 8), std::pair(2, 4));
  EXPECT_EQ(grid({33, 35, 8}, 2), std::pair(0, 0));
}

TEST(Layout, BlasLettersDependOnWhoSwappedTheProblem) {
  EXPECT_EQ(layout_from_blas("tn", true), Layout::nt);
  EXPECT_EQ(layout_from_blas("nn", true), Layout::nn);
  EXPECT_EQ(layout_from_blas("nt", true), Layout::tn);
  EXPECT_EQ(layout_from_blas("tt", true), Layout::tt);
  EXPECT_EQ(layout_from_blas("tn", false), Layout::nt);
  EXPECT_EQ(layout_from_blas("nn", false), Layout::tt);
  EXPECT_EQ(layout_from_blas("nt", false), Layout::tn);
  EXPECT_EQ(layout_from_blas("tt", false), Layout::nn);
  EXPECT_FALSE(layout_from_blas("n", true));
  EXPECT_FALSE(layout_from_blas("nx", false));
}

TEST(Shape, IsThreeWholeNumbers) {
  ASSERT_TRUE(shape_from("4096x512x64"));
  EXPECT_EQ(shape_from("4096x512x64")->n, 512);
  for (const char* text :
       {"", "4096", "1x2", "1x2x3x4", "1x-2x3", "1xx3", "1x2x3 ", "ax2x3", "1x2x99999999999999999999"})
    EXPECT_FALSE(shape_from(text)) << text;
}

TEST(DataTypes, HaveOneNameAndSeveralSpellings) {
  for (const char* text : {"f32", "fp32", "float"}) EXPECT_EQ(data_type_from(text), DataType::f32) << text;
  EXPECT_EQ(data_type_from("e4m3"), DataType::f8e4m3);
  EXPECT_EQ(data_type_from("int8"), DataType::s8);
  EXPECT_FALSE(data_type_from("f33"));
  EXPECT_EQ(name_of(DataType::f8e5m2), "f8e5m2");
  EXPECT_EQ(bytes_of(DataType::s4), 0.5);
}

}  // namespace
}  // namespace noteg::kernels
