// The kernels beside a narrow product, as laws of the programs that run them.
#include "sim/validate/quantisation/quantisation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <regex>
#include <string>

#include "arch/load.hpp"
#include "sim/validate/quantisation/eager_quantisation.hpp"

namespace noteg::validate {
namespace {

using gpu::Library;
using kernels::DataType;

const arch::GpuSpec& b200() {
  static const arch::GpuSpec gpu = *arch::load_gpu("b200-sxm-180gb");
  return gpu;
}

double us(Library library, std::int64_t m, std::int64_t n, std::int64_t k, DataType type = DataType::f8e4m3) {
  return quantisation_time(b200(), {m, n, k, 1}, type, library).value * 1e6;
}

constexpr std::array libraries{Library::cublas,    Library::sgl_kernel,      Library::flashinfer_cutlass,
                               Library::deep_gemm, Library::flashinfer_cute, Library::tensorrt_llm};

TEST(Quantisation, IsNeverFasterThanItsBytes) {
  for (const Library library : libraries)
    for (const std::int64_t m : {1, 100, 5000, 30000})
      EXPECT_GE(us(library, m, 4096, 16384) * 1e-6, static_cast<double>(m) * 16384 * 3 / b200().dram.bandwidth.value);
}

TEST(Quantisation, GrowsWithRowsAndDepth) {
  for (const Library library : libraries) {
    EXPECT_LE(us(library, 1000, 4096, 8192), us(library, 2000, 4096, 8192));
    EXPECT_LE(us(library, 1000, 4096, 8192), us(library, 1000, 4096, 16384));
  }
}

TEST(Quantisation, OfActivationsDoesNotKnowTheWeights) {
  for (const Library library : libraries) {
    if (library == Library::deep_gemm) continue;
    EXPECT_EQ(us(library, 64, 256, 4096), us(library, 64, 65536, 4096));
  }
}

TEST(Quantisation, SpreadsDeepGemmsScalesByACtaForEachRowOfWeights) {
  // Four scales are one vector of 16 bytes: each further row of the weights costs the launch of a CTA.
  const double more = us(Library::deep_gemm, 1, 65536, 512) - us(Library::deep_gemm, 1, 1024, 512);
  const double launches = 64512 * b200().launch.cta_rate.value / b200().clock.sustained.value * 1e6;
  EXPECT_GT(more, launches);
  EXPECT_LT(more, 1.1 * launches);
  EXPECT_LT(us(Library::deep_gemm, 1, 65536, 128), us(Library::deep_gemm, 1, 65536, 512) - 0.5 * launches);
}

TEST(Quantisation, OnHopperTakesDeepGemmsScalesAsTheyAre) {
  const arch::GpuSpec h100 = *arch::load_gpu("h100-sxm5-80gb");
  const auto time = [&](std::int64_t n) {
    return quantisation_time(h100, {64, n, 4096, 1}, DataType::f8e4m3, Library::deep_gemm).value;
  };
  EXPECT_EQ(time(256), time(65536));
}

TEST(Quantisation, ByOneScaleForAllReadsTwice) {
  EXPECT_GT(us(Library::tensorrt_llm, 8192, 256, 8192), us(Library::tensorrt_llm, 8192, 256, 8192, DataType::nvfp4));
}

TEST(Quantisation, ByAKnownScaleTakesOnePassWhoseResultMayStayInL2) {
  const arch::GpuSpec l40s = *arch::load_gpu("l40s");
  const auto time = [&](std::int64_t m, bool known) {
    return quantisation_time(l40s, {m, 256, 8192, 1}, DataType::f8e4m3, Library::tensorrt_llm, known).value;
  };
  for (const std::int64_t m : {1, 1000, 30000}) EXPECT_LT(time(m, true), 0.7 * time(m, false)) << m;
  EXPECT_LT(time(2000, true), 2000.0 * 8192 * 3 / l40s.dram.bandwidth.value);
  EXPECT_GT(time(30000, true), 30000.0 * 8192 * 3 / l40s.dram.bandwidth.value);
}

TEST(Quantisation, CountsTheBytesThatItMoves) {
  const power::Activity a = quantisation_activity(b200(), {128, 512, 4096, 2}, DataType::f8e4m3, Library::sgl_kernel);
  EXPECT_DOUBLE_EQ(a.dram_read_bytes.value, 2.0 * 128 * 4096 * 2);
  EXPECT_DOUBLE_EQ(a.dram_write_bytes.value, 2.0 * 128 * 4096);
  EXPECT_EQ(a.time, quantisation_time(b200(), {128, 512, 4096, 2}, DataType::f8e4m3, Library::sgl_kernel));
}

TEST(Quantisation, ByOperationsInTurnNeverBeatsItsTensorsOfFloats) {
  const arch::GpuSpec h100 = *arch::load_gpu("h100-sxm5-80gb");
  // 47 bytes a value once nothing of it stays in L2, and nine kernels however little there is.
  const EagerQuantisation large = eager_quantisation(h100, 8192, 8192), small = eager_quantisation(h100, 1, 64);
  EXPECT_DOUBLE_EQ((large.dram_read + large.dram_written).value, 47.0 * 8192 * 8192);
  EXPECT_GT(large.time.value, 47.0 * 8192 * 8192 / h100.dram.bandwidth.value);
  EXPECT_GT(small.time.value, 9 * h100.launch.kernel.value);
  EXPECT_LT(small.dram_written.value, 1.0);
  const auto time = [&](DataType type) {
    return quantisation_time(h100, {8192, 64, 8192, 1}, type, Library::sgl_kernel);
  };
  EXPECT_EQ(time(DataType::s8), large.time);
  EXPECT_GT(time(DataType::s8).value, 5 * time(DataType::f8e4m3).value);
}

TEST(Quantisation, ReducesARowByAsManyThreadsAsPyTorchGivesIt) {
  // 160 values for each of 32 lanes are fewer than 16 for each of 16 warps, so that a warp has a row; 320 are not.
  const RowReduction by_warp = row_reduction(48, 5120), by_cta = row_reduction(48, 10240), one = row_reduction(1, 4096);
  EXPECT_EQ(by_warp.ctas, 3);
  EXPECT_EQ(by_warp.rounds, 40);
  EXPECT_EQ(by_cta.ctas, 48);
  EXPECT_EQ(by_cta.rounds, 5);
  EXPECT_EQ(one.ctas, 1);
  EXPECT_EQ(one.threads, 512);
  EXPECT_EQ(one.rounds, 2);
}

// Own kernels of the structure of SGLang's, on an H100: tests/data/h100_launches.csv.
TEST(Quantisation, TakesAsLongAsMeasured) {
  const arch::GpuSpec h100 = *arch::load_gpu("h100-sxm5-80gb");
  const std::regex row("quantise_(rows|groups),rows=(\\d+);columns=(\\d+),([0-9.]+),us,.*");
  std::ifstream file(NOTEG_SOURCE_DIR "/tests/data/h100_launches.csv");
  double sum = 0, off = 0, count = 0;
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    const Library library = found[1] == "rows" ? Library::sgl_kernel : Library::deep_gemm;
    const kernels::GemmShape shape{std::stoll(found[2]), 128, std::stoll(found[3]), 1};
    const double time = quantisation_time(h100, shape, DataType::f8e4m3, library).value * 1e6;
    const double error = time / std::stod(found[4]) - 1;
    EXPECT_LT(std::abs(error), 0.5) << line;
    sum += error;
    off += std::abs(error);
    ++count;
  }
  EXPECT_EQ(count, 364);
  EXPECT_LT(std::abs(sum / count), 0.06);
  EXPECT_LT(off / count, 0.11);
}

TEST(Quantisation, KnowsTheLibraryByTheNotes) {
  EXPECT_EQ(library_in_notes("TensorRT-LLM weight-only plugin kernel alone", "gemm_weight_only"),
            Library::tensorrt_llm);
  EXPECT_EQ(library_in_notes("sglang int8_wo path: per-token int8 quantisation + int8 scaled_mm", "linear_quant"),
            Library::sgl_kernel);
  EXPECT_EQ(library_in_notes("DeepGEMM fp8 1x128/128x128 block scales;sglang", "linear_quant"), Library::deep_gemm);
  EXPECT_EQ(library_in_notes("sgl_kernel fp8_scaled_mm (CUTLASS)", "linear_quant"), Library::sgl_kernel);
  EXPECT_EQ(library_in_notes("time includes static activation quantisation kernel;sglang 0.5.12", "linear_quant"),
            Library::sgl_kernel);
  EXPECT_EQ(library_in_notes("random operands;trtllm 1.3.0rc15", "linear_quant"), Library::tensorrt_llm);
  EXPECT_EQ(library_in_notes("random operands;trtllm 1.3.0rc15", "linear"), Library::cublas);
}

}  // namespace
}  // namespace noteg::validate
