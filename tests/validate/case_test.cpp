#include "sim/validate/measured_case.hpp"
#include "sim/validate/measured_source.hpp"

#include <gtest/gtest.h>

#include "sim/validate/measured_set.hpp"
#include "tests/validate/fixture.hpp"

namespace noteg::validate {
namespace {

using kernels::Family;
using kernels::Layout;

const std::string header =
    "source,gpu,op,dtype_in,dtype_acc,layout,batch,M,N,K,kernel_name,family,tile_m,tile_n,tile_k,stages,threads,grid_x,"
    "grid_y,split_k,time_ms,sm_clock_mhz,"
    "notes\n";

CaseOrReason one(const std::string& row) {
  const MeasuredData data = test::data_of(header + row + "\n");
  return case_of(data, data.rows.front());
}

MeasuredCase expressible(const std::string& row) {
  CaseOrReason result = one(row);
  if (const auto* reason = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *reason;
    return {};
  }
  return std::get<MeasuredCase>(result);
}

std::string reason(const std::string& row) {
  const CaseOrReason result = one(row);
  const auto* text = std::get_if<std::string>(&result);
  return text == nullptr ? "" : *text;
}

TEST(MeasuredCase, ReadsABlasSuffixOfASwappedProblem) {
  // PyTorch linear: both operands contiguous along K; PyTorch bmm: A along K, B along N.
  EXPECT_EQ(expressible("neusight,L4,linear,fp32,fp32,tn,1,64,128,256,,simt,64,128,8,2,256,,,1,1,,").config.layout,
            Layout::nt);
  EXPECT_EQ(expressible("neusight,L4,bmm,fp32,fp32,nn,1,64,128,256,,simt,64,128,8,2,256,,,1,1,,").config.layout,
            Layout::nn);
}

// NeuSight's L4 is always at its limit; a 300 W board has cooled before the fastest calls. TensorRT builds an engine
// between two of its layers.
TEST(MeasuredCase, WhatRanBeforeHeatsABoardAtItsLimit) {
  const MeasuredCase heated = expressible("neusight,L4,bmm,fp32,fp32,nn,1,64,128,256,,simt,64,128,8,2,256,,,1,1,,");
  EXPECT_EQ(heated.options.clock_mode, power::ClockMode::sustained);
  EXPECT_FALSE(heated.options.launches);
  const MeasuredCase cool =
      expressible("neusight,A100-PCIE-80GB,bmm,fp32,fp32,nn,1,64,128,256,,simt,64,128,8,2,256,,,1,1,,");
  EXPECT_EQ(cool.options.clock_mode, power::ClockMode::cool);
  EXPECT_TRUE(cool.options.launches);
  const MeasuredCase layer =
      expressible("aiconfigurator,L40S,gemm_int8,int8,int32,tn,1,64,128,256,,mma,64,128,64,3,128,,,1,1,,");
  EXPECT_EQ(layer.options.clock_mode, power::ClockMode::cool);
}

// 7 x 6 tiles of 112 x 128, clusters of two along our M: 126 CTAs are three slices of K.
TEST(MeasuredCase, CountsSlicesOfNamedKernelsByTheGrid) {
  const MeasuredCase split = expressible(
      "measured,NVIDIA "
      "H200,gemm,fp16,fp32,tn,1,768,768,12288,nvjet_sm90_hsh_112x128_64x7_1x2_h_bz_splitK_TNN,cublas,112,"
      "128,64,7,384,2,63,,1,,");
  EXPECT_EQ(split.config.split_k, 3);
  EXPECT_EQ(split.config.split_k_mode, kernels::SplitKMode::parallel);
  EXPECT_EQ(split.config.tile, (kernels::Tile{128, 112, 64}));
  const MeasuredCase whole = expressible(
      "measured,NVIDIA H200,gemm,fp16,fp32,tn,1,2304,768,2048,nvjet_sm90_hsh_112x128_64x7_1x2_h_bz_TNN,cublas,112,128,"
      "64,7,384,2,63,,1,,");
  EXPECT_EQ(whole.config.split_k, 1);
}

TEST(MeasuredCase, ReadsStorageLettersOfARowMajorProblem) {
  EXPECT_EQ(
      expressible("measured,NVIDIA H200,gemm,fp32,fp32,rr,1,64,128,256,,naive,16,16,16,1,256,,,1,1,,").config.layout,
      Layout::nn);
  EXPECT_EQ(expressible("measured,NVIDIA H200,gemm,fp32,fp32,tn,1,64,128,256,,cutlass_simt,64,128,8,4,128,,,1,1,,")
                .config.layout,
            Layout::nt);
  EXPECT_EQ(expressible("measured,NVIDIA H200,gemm,fp32,fp32,nn,1,64,128,256,,cutlass_simt,64,128,8,4,128,,,1,1,,")
                .config.layout,
            Layout::tt);
}

TEST(MeasuredCase, TransposesAColumnMajorProblem) {
  const MeasuredCase nn =
      expressible("gpperf_cutlass,RTX4070,gemm,fp32,fp32,nn,1,64,128,256,,simt,32,16,8,2,256,,,1,1,,");
  EXPECT_EQ(nn.config.layout, Layout::nn);
  EXPECT_EQ(nn.shape.m, 128);
  EXPECT_EQ(nn.shape.n, 64);
  EXPECT_EQ(nn.config.tile.m, 16);
  EXPECT_EQ(nn.config.tile.n, 32);
  EXPECT_EQ(
      expressible("gpperf_cutlass,RTX4070,gemm,fp32,fp32,tn,1,64,128,256,,simt,32,16,8,2,256,,,1,1,,").config.layout,
      Layout::nt);
  EXPECT_EQ(
      expressible("gpperf_cutlass,RTX4070,gemm,fp32,fp32,nt,1,64,128,256,,simt,32,16,8,2,256,,,1,1,,").config.layout,
      Layout::tn);
}

TEST(MeasuredCase, CutlassWalksTheRowsOfTheTransposedProblemFirst) {
  const MeasuredCase c = expressible(
      "gpperf_cutlass,RTX4070,gemm,fp32,fp32,nn,1,1024,512,256,cutlass_simt_sgemm_128x128_8x2_nn_align1,,128,128,8,2,"
      "256,,,1,1,,");
  EXPECT_EQ(c.shape.m, 512);
  EXPECT_EQ(c.config.raster, kernels::Raster::along_m);
}

TEST(MeasuredCase, LibraryKernelsShowTheirSlicesInTheGrid) {
  const auto row = [](const std::string& notes) {
    const MeasuredData data = test::data_of(
        "source,gpu,op,dtype_in,dtype_acc,layout,batch,M,N,K,kernel_name,family,grid_x,grid_y,grid_z,split_k,time_ms,"
        "notes\nmeasured,NVIDIA H200,gemm,fp32,fp32,tn,1,512,512,512,sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize"
        "64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas,cublas,8,8,4,,1," +
        notes + "\n");
    const CaseOrReason result = case_of(data, data.rows.front());
    return std::get<MeasuredCase>(result).config;
  };
  EXPECT_EQ(row("").split_k, 4);
  EXPECT_EQ(row("").split_k_mode, kernels::SplitKMode::serial);
  EXPECT_EQ(row("extra_kernels=splitKreduce_kernel").split_k_mode, kernels::SplitKMode::parallel);
}

TEST(TransposeProblem, IsItsOwnInverse) {
  for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn, Layout::tt}) {
    kernels::KernelConfig config;
    config.layout = layout;
    config.tile = {32, 64, 8};
    kernels::GemmShape shape{1, 2, 3, 4};
    transpose_problem(config, shape);
    transpose_problem(config, shape);
    EXPECT_EQ(config.layout, layout);
    EXPECT_EQ(config.tile.m, 32);
    EXPECT_EQ(shape.m, 1);
  }
}

TEST(MeasuredCase, ReadsOursWhereTheSourceIsUnknown) {
  EXPECT_EQ(expressible("mine,L4,gemm,fp32,fp32,tn,1,64,128,256,,simt,64,128,8,2,256,,,1,1,,").config.layout,
            Layout::tn);
}

TEST(MeasuredCase, TakesNotesGridAndClock) {
  const MeasuredCase c = expressible(
      "neusight,L4,linear,fp32,fp32,tn,1,256,128,512,,simt,64,128,8,2,256,1,4,4,1,1234,sliced_k=4;time includes "
      "splitKreduce kernel");
  EXPECT_EQ(c.config.sliced_k, 4);
  EXPECT_EQ(c.config.split_k, 4);
  EXPECT_EQ(c.config.split_k_mode, kernels::SplitKMode::parallel);
  EXPECT_EQ(c.config.raster, kernels::Raster::along_n);
  EXPECT_TRUE(c.config.bias);
  EXPECT_EQ(c.options.sm_clock_mhz, 1234.0);
}

TEST(MeasuredCase, LetsExplicitColumnsWin) {
  const MeasuredCase c = expressible(
      "measured,NVIDIA "
      "H200,gemm,fp32,fp32,tn,1,64,128,256,cutlass_simt_sgemm_128x128_8x4_tn_align1,cutlass_simt,64,32,16,3,64,,,1,1,"
      ",");
  EXPECT_EQ(c.config.family, Family::simt);
  EXPECT_EQ(c.config.tile.m, 64);
  EXPECT_EQ(c.config.tile.n, 32);
  EXPECT_EQ(c.config.stages, 3);
  EXPECT_EQ(c.config.threads, 64);
}

TEST(MeasuredCase, FillsBlanksFromTheKernelName) {
  const MeasuredCase c = expressible(
      "measured,NVIDIA H200,gemm,fp32,fp32,tn,1,512,512,256,cutlass_simt_sgemm_128x64_8x4_tn_align1,,,,,,,,,1,1,,");
  EXPECT_EQ(c.config.family, Family::simt);
  EXPECT_EQ(c.config.tile.m, 128);
  EXPECT_EQ(c.config.tile.n, 64);
  EXPECT_EQ(c.config.tile.k, 8);
  EXPECT_EQ(c.config.stages, 4);
}

TEST(MeasuredCase, HasAReasonForEveryRowThatItCannotExpress) {
  EXPECT_NE(reason("neusight,L4,bmm,fp32,fp32,nn,1,64,128,256,,,64,128,8,,,,,1,1,,").find("no kernel_name"),
            std::string::npos);
  EXPECT_NE(reason("neusight,L4,bmm,fp32,fp32,nn,1,64,128,256,,warp9,64,128,8,,,,,1,1,,").find("warp9"),
            std::string::npos);
  EXPECT_NE(reason("neusight,L4,bmm,fp32,fp32,xx,1,64,128,256,,simt,64,128,8,,,,,1,1,,").find("layout"),
            std::string::npos);
  EXPECT_NE(reason("neusight,L4,bmm,fp99,fp32,nn,1,64,128,256,,simt,64,128,8,,,,,1,1,,").find("fp99"),
            std::string::npos);
  EXPECT_NE(
      reason("neusight,L4,bmm,fp32,fp32,nn,1,-64,128,256,,simt,64,128,8,,,,,1,1,,").find("M: expected an integer"),
      std::string::npos);
  EXPECT_NE(reason("neusight,L4,bmm,fp32,fp32,nn,1,64.5,128,256,,simt,64,128,8,,,,,1,1,,").find("integer"),
            std::string::npos);
  EXPECT_NE(reason("neusight,L4,bmm,fp32,fp32,nn,1,64,128,,,simt,64,128,8,,,,,1,1,,").find("K is blank"),
            std::string::npos);
  EXPECT_NE(reason("neusight,L4,bmm,fp32,fp32,nn,1,64,128,256,,simt,,,8,,,,,1,1,,").find("tile"), std::string::npos);
  EXPECT_NE(reason("neusight,L4,bmm,fp32,fp32,nn,1,64,128,256,,simt,64,64,8,,,,,1,,,").find("time_ms is blank"),
            std::string::npos);
  EXPECT_NE(reason("neusight,L4,bmm,fp32,fp32,nn,1,64,128,256,,simt,64,64,8,,,,,1,-3,,").find("time_ms"),
            std::string::npos);
  EXPECT_NE(reason("siboehm,RTXA6000,gemm,fp32,fp32,,1,64,128,256,sgemm_0_cublas,,,,,,,,,1,1,,").find("library"),
            std::string::npos);
}

TEST(NoteValue, FindsTheKeyBetweenSemicolons) {
  EXPECT_EQ(note_value("a=1;sliced_k=4;b", "sliced_k"), 4);
  EXPECT_EQ(note_value("xsliced_k=4", "sliced_k"), std::nullopt);
  EXPECT_EQ(note_value("sliced_k=four", "sliced_k"), std::nullopt);
  EXPECT_EQ(note_value("", "sliced_k"), std::nullopt);
}

TEST(HostTime, IsTheLongerOfTheHostsFloorAndTheGpusTimeWithItsLead) {
  const HostTime host{30, 5, 4};
  EXPECT_DOUBLE_EQ(with_host(host, 24.999), 30);
  EXPECT_DOUBLE_EQ(with_host(host, 25.001), 30.001);
  EXPECT_DOUBLE_EQ(with_host({}, 7), 7);
  EXPECT_DOUBLE_EQ(with_host(host, 1, 2), 34);
  EXPECT_DOUBLE_EQ(with_host(host, 100, 2), 105);
}

// A split that leaned to one side, or depended on one extent alone, would judge other shapes than it was fitted on.
TEST(Halves, AreEvenAndDependOnEveryExtent) {
  int judged = 0, count = 0;
  for (std::int64_t batch : {1, 16})
    for (std::int64_t m = 128; m <= 1024; m += 128)
      for (std::int64_t n = 128; n <= 1024; n += 128)
        for (std::int64_t k = 64; k <= 1024; k += 64, ++count) judged += half_of({m, n, k, batch}) == Half::judged;
  EXPECT_NEAR(static_cast<double>(judged) / count, 0.5, 0.03);
  const auto flips = [](auto shape_of) {
    int changes = 0;
    for (std::int64_t i = 1; i < 64; ++i) changes += half_of(shape_of(i)) != half_of(shape_of(i + 1));
    return changes;
  };
  EXPECT_GT(flips([](std::int64_t i) { return kernels::GemmShape{i, 64, 64, 1}; }), 10);
  EXPECT_GT(flips([](std::int64_t i) { return kernels::GemmShape{64, i, 64, 1}; }), 10);
  EXPECT_GT(flips([](std::int64_t i) { return kernels::GemmShape{64, 64, i, 1}; }), 10);
  EXPECT_GT(flips([](std::int64_t i) { return kernels::GemmShape{64, 64, 64, i}; }), 10);
}

TEST(HostTime, IsZeroForSetsWithoutHostDispatch) {
  EXPECT_DOUBLE_EQ(host_time_of("measured", "gemm", "NVIDIA H200").floor_us, 0);
  EXPECT_GT(host_time_of("neusight", "bmm", "A100-PCIE-40GB").floor_us, 0);
}

TEST(MeasuredCase, ReadsTritonsConfigurationFromTheColumns) {
  const MeasuredCase row = expressible(
      "triton_inductor,A100-80GB,gemm,bf16,fp32,tn,1,512,1024,2048,triton_mm,,64,128,32,4,256,64,1,1,0.1,,ld_a=2048");
  EXPECT_EQ(row.config.family, Family::triton);
  EXPECT_EQ(row.config.tile, (kernels::Tile{64, 128, 32}));
  EXPECT_EQ(row.config.stages, 4);
  EXPECT_EQ(row.config.layout, Layout::nt);
  EXPECT_EQ(row.config.raster, kernels::Raster::along_n);  // groups of eight rows of tiles
  EXPECT_EQ(row.config.swizzle_log2, 3);
  EXPECT_EQ(row.config.dtype_out, kernels::DataType::bf16);
  EXPECT_EQ(row.options.l2, gpu::L2State::overwritten);
}

TEST(MeasuredCase, ReadsTheTypeOfWeightsBehindThatOfActivations) {
  const MeasuredCase row = expressible(
      "triton_inductor,A100-80GB,gemm_mixed,fp16xint8,fp32,tn,1,16,1024,2048,triton_mixed_mm,,16,64,128,4,128,16,1,1,"
      "0.1,,");
  EXPECT_EQ(row.config.dtype_in, kernels::DataType::f16);
  EXPECT_EQ(row.config.dtype_b, kernels::DataType::s8);
}

// Heads that share keys are rows of one product; N is keys and values.
TEST(MeasuredCase, ReadsAttentionAsAProduct) {
  const std::string row =
      "aiconfigurator_attention,A100-SXM4-80GB,attention_prefill,bf16,fp32,,2,512,512,128,flash,,,,,,,,,,0.1,,";
  const MeasuredCase prefill = expressible(row + "heads=8;kv_heads=2;causal=1");
  EXPECT_EQ(prefill.config.family, Family::attention);
  EXPECT_EQ(prefill.config.attention.group, 4);
  EXPECT_TRUE(prefill.config.attention.causal);
  EXPECT_EQ(prefill.shape.m, 2048);
  EXPECT_EQ(prefill.shape.n, 256);
  EXPECT_EQ(prefill.shape.k, 512);
  EXPECT_EQ(prefill.shape.batch, 4);
  EXPECT_NE(reason(row + "heads=8").find("kv_heads"), std::string::npos);
}

// FlashAttention-3 puts the heads that share keys side by side in the rows of a block; new keys and values are written
// into the pages of the cache by a kernel before it.
TEST(MeasuredCase, ReadsAttentionOnWarpgroups) {
  const MeasuredCase prefill = expressible(
      "aiconfigurator_attention,H100-SXM5-80GB,attention_prefill,bf16,fp32,,2,100,100,128,fa3,,,,,,,,,,0.1,,"
      "heads=8;kv_heads=2;causal=1;paged KV cache");
  EXPECT_EQ(prefill.config.family, Family::flash3);
  EXPECT_EQ(prefill.shape.m, 400);
  ASSERT_EQ(prefill.before.size(), 2u);  // the cache's write and the count of blocks
  EXPECT_DOUBLE_EQ(prefill.before.front().bytes_out(), 2.0 * 100 * 2 * 2 * 128 * 2);
}

// SGLang's pages are of one token and its blocks the library's; vLLM's are of 64, and short queries have one consumer.
TEST(MeasuredCase, DecodesByTheBlocksAndPagesOfEachLibrary) {
  const std::string row =
      "aiconfigurator_attention,H100-SXM5-80GB,attention_decode,bf16,fp32,,16,1,4096,128,fa3,,,,,,,,,,0.1,,";
  const MeasuredCase sglang = expressible(row + "heads=8;kv_heads=2;causal=0;paged KV cache;sglang");
  EXPECT_EQ(sglang.config.tile, (kernels::Tile{128, 256, 128}));
  EXPECT_EQ(sglang.config.attention.page, 1);
  EXPECT_FALSE(sglang.bounds_slices);
  const MeasuredCase vllm = expressible(row + "heads=8;kv_heads=2;causal=0;paged KV cache;vllm");
  EXPECT_EQ(vllm.config.tile, (kernels::Tile{64, 256, 128}));
  EXPECT_EQ(vllm.config.attention.page, 64);
  EXPECT_TRUE(vllm.bounds_slices);
  EXPECT_EQ(vllm.key_heads, 2);
}

TEST(MeasuredCase, ReadsALayerOfExperts) {
  const std::string row =
      "aiconfigurator_moe,H100-SXM5-80GB,moe,bf16,fp32,tn,16,64,512,2048,vllm_triton,,,,,,,,,,0.1,,";
  const MeasuredCase layer = expressible(row + "experts=16;topk=2;distribution=balanced");
  ASSERT_TRUE(layer.experts);
  EXPECT_EQ(layer.experts->loads, operators::Histogram(16, 8));
  EXPECT_NE(reason(row + "experts=16").find("topk"), std::string::npos);
}

}  // namespace
}  // namespace noteg::validate
