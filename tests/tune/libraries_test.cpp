// What the public programs choose, as laws of theirs: which tiles, and where one choice gives way to the next.
#include "sim/tune/libraries.hpp"

#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::tune {
namespace {

using gpu::Library;
using kernels::DataType;
using kernels::KernelConfig;

Problem product(DataType type, std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem{{m, n, k, 1}, {}};
  set_types(problem.frame, type);
  problem.frame.dtype_out = DataType::bf16;
  problem.frame.layout = kernels::Layout::nt;
  return problem;
}

KernelConfig only(Library library, const arch::GpuSpec& gpu, const Problem& problem) {
  const std::vector<KernelConfig> all = public_choices(library, gpu, problem);
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? KernelConfig{} : all.front();
}

const arch::GpuSpec& b200() {
  static const arch::GpuSpec gpu = *arch::load_gpu("b200-sxm-180gb");
  return gpu;
}

TEST(Libraries, ChooseKernelsThatResolve) {
  struct Case {
    Library library;
    const char* gpu;
    DataType type;
  };
  for (const auto& [library, name, type] : {Case{Library::sgl_kernel, "l40s", DataType::f8e4m3},
                                            Case{Library::sgl_kernel, "h100-sxm5-80gb", DataType::f8e4m3},
                                            Case{Library::sgl_kernel, "b200-sxm-180gb", DataType::f8e4m3},
                                            Case{Library::sgl_kernel, "h100-sxm5-80gb", DataType::s8},
                                            Case{Library::deep_gemm, "h100-sxm5-80gb", DataType::f8e4m3},
                                            Case{Library::deep_gemm, "b200-sxm-180gb", DataType::f8e4m3},
                                            Case{Library::flashinfer_cute, "b200-sxm-180gb", DataType::nvfp4},
                                            Case{Library::flashinfer_cutlass, "rtx-pro-6000-server", DataType::nvfp4},
                                            Case{Library::tensorrt_llm, "rtx-pro-6000-server", DataType::f8e4m3},
                                            Case{Library::vllm_triton, "l40s", DataType::f8e4m3}}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    for (const std::int64_t m : {1, 17, 128, 300, 5000}) {
      const Problem problem = product(type, m, 4096, 2048);
      const std::vector<KernelConfig> all = public_choices(library, gpu, problem);
      EXPECT_FALSE(all.empty()) << name << " " << m;
      for (const KernelConfig& kernel : all) {
        const Result<KernelConfig> resolved = kernels::resolve(kernel, problem.shape);
        EXPECT_TRUE(resolved) << name << " " << m << ": " << (resolved ? "" : to_string(resolved.errors()));
      }
    }
  }
}

TEST(Libraries, HaveNoChoiceOfTheirOwnForOtherTypesAndGpus) {
  const arch::GpuSpec a100 = *arch::load_gpu("a100-sxm4-80gb");
  for (const Library library : {Library::cublas, Library::sgl_kernel, Library::deep_gemm, Library::flashinfer_cute,
                                Library::flashinfer_cutlass, Library::tensorrt_llm, Library::vllm_triton}) {
    EXPECT_TRUE(public_choices(library, b200(), product(DataType::bf16, 512, 512, 512)).empty());
    EXPECT_TRUE(public_choices(library, a100, product(DataType::f8e4m3, 512, 512, 512)).empty());
  }
}

TEST(Libraries, SglangsTilesDependOnRowsAlone) {
  const auto tile = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return only(Library::sgl_kernel, b200(), product(DataType::f8e4m3, m, n, k)).tile;
  };
  for (const std::int64_t m : {1, 64, 65, 256, 257, 4096}) EXPECT_EQ(tile(m, 256, 65536), tile(m, 65536, 256)) << m;
  EXPECT_EQ(tile(17, 4096, 4096), tile(64, 4096, 4096));  // of the rows, the next power of two counts
  EXPECT_NE(tile(64, 4096, 4096), tile(65, 4096, 4096));
  EXPECT_NE(tile(256, 4096, 4096), tile(257, 4096, 4096));
}

TEST(Libraries, SglangsIntegersOnHopperTakeTurnsFromMoreThan128Rows) {
  const arch::GpuSpec h100 = *arch::load_gpu("h100-sxm5-80gb");
  const auto kernel = [&](std::int64_t m, std::int64_t n) {
    return only(Library::sgl_kernel, h100, product(DataType::s8, m, n, 4096));
  };
  EXPECT_EQ(kernel(129, 4096).schedule, kernels::schedule_from("pingpong"));
  EXPECT_EQ(kernel(128, 4096).schedule, kernels::schedule_from("ws"));
  EXPECT_NE(kernel(128, 4096).tile, kernel(128, 4104).tile);
  EXPECT_EQ(kernel(32, 4096).cluster_n, 8);
}

TEST(Libraries, WeightOnlyTilesAreSlicedByWholeTilesOfK) {
  const arch::GpuSpec a100 = *arch::load_gpu("a100-sxm4-80gb"), h100 = *arch::load_gpu("h100-sxm5-80gb");
  Problem problem = product(DataType::f16, 16, 4096, 64 * 12);
  EXPECT_TRUE(public_choices(Library::tensorrt_llm, a100, problem).empty()) << "weights of 16 bits";
  problem.frame.dtype_b = DataType::s4;
  const std::vector<KernelConfig> all = public_choices(Library::tensorrt_llm, a100, problem);
  EXPECT_EQ(all.size(), 5U * 3 * 5);  // 1, 2, 3, 4 and 6 divide twelve tiles; 5 and 7 do not
  for (const KernelConfig& kernel : all) {
    EXPECT_EQ(12 % kernel.split_k, 0);
    EXPECT_TRUE(resolve(kernel, problem.shape)) << kernel.tile.m << "x" << kernel.tile.n;
  }
  EXPECT_TRUE(public_choices(Library::tensorrt_llm, h100, problem).empty());
}

TEST(Libraries, PluginsCompareTheirKernelsAtThePowerOfTwoThatFollows) {
  gpu::SimOptions sim;
  sim.library = Library::tensorrt_llm;
  sim.l2 = gpu::L2State::cold;
  const auto rows = [&](DataType type, std::int64_t m) { return comparison_of(sim, product(type, m, 256, 256)); };
  EXPECT_EQ(rows(DataType::s8, 384).shape.m, 512);
  EXPECT_EQ(rows(DataType::s8, 512).shape.m, 512);
  EXPECT_EQ(rows(DataType::s8, 9000).shape.m, 8192);
  EXPECT_EQ(rows(DataType::s8, 384).l2, gpu::L2State::steady) << "the same matrices fifteen times";
  EXPECT_EQ(rows(DataType::f16, 384).shape.m, 384) << "cuBLAS chooses for what it is given";
  EXPECT_EQ(rows(DataType::f16, 384).l2, gpu::L2State::cold);
}

TEST(Libraries, DeepGemmOnHopperNeverMulticastsWithinOneWave) {
  const arch::GpuSpec h100 = *arch::load_gpu("h100-sxm5-80gb");
  for (const std::int64_t m : {1, 64, 500, 4096})
    for (const std::int64_t n : {128, 2048, 16384}) {
      const KernelConfig kernel = only(Library::deep_gemm, h100, product(DataType::f8e4m3, m, n, 4096));
      const std::int64_t tiles = ceil_div(m, kernel.tile.m) * ceil_div(n, kernel.tile.n);
      EXPECT_TRUE(tiles > h100.sms || kernel.cluster_m * kernel.cluster_n == 1) << m << "x" << n;
      EXPECT_TRUE(kernel.tile.m <= 128 || kernel.tile.n <= 128) << m << "x" << n;
      EXPECT_EQ(kernel.tile.k, 128);
    }
}

TEST(Libraries, FlashinferAsksForAPowerOfTwoOfRows) {
  const auto chosen = [](std::int64_t m) {
    return only(Library::flashinfer_cute, b200(), product(DataType::nvfp4, m, 8192, 4096));
  };
  EXPECT_EQ(chosen(1024).tile, chosen(2040).tile);
  EXPECT_EQ(chosen(4096).tile, chosen(32768).tile);
}

TEST(Libraries, DeepGemmTakesOneWaveWhereABlockGivesOne) {
  for (const std::int64_t m : {1, 40, 128, 500, 1024})
    for (const std::int64_t n : {256, 2048, 8192}) {
      const KernelConfig kernel = only(Library::deep_gemm, b200(), product(DataType::f8e4m3, m, n, 4096));
      const std::int64_t tiles = ceil_div(m, kernel.tile.m) * ceil_div(n, kernel.tile.n);
      const std::int64_t largest = ceil_div(m, 128) * ceil_div(n, 256);
      if (largest > b200().sms) continue;
      EXPECT_LE(tiles, b200().sms) << m << "x" << n;
    }
}

}  // namespace
}  // namespace noteg::tune
