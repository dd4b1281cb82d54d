// Rows that a changed GPU made give its constant back; rows that are noise change nothing; what is written is read.
#include "sim/adapt/adapt.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <set>

#include "arch/load.hpp"
#include "sim/adapt/suggest.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/dataset/items.hpp"
#include "sim/learn/estimate.hpp"
#include "sim/learn/measured_table.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/learn/model_runs.hpp"
#include "tests/validate/fixture.hpp"

namespace noteg::adapt {
namespace {

// A roofline in the place of the engine: what is tested here knows no engine.
Result<gpu::SimReport> roofline(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                const kernels::GemmShape& shape, const gpu::SimOptions& options) {
  Result<gpu::SimReport> report = dataset::unsimulated(gpu, kernel, shape, options);
  if (!report) return report;
  const double bytes = 4.0 * static_cast<double>(shape.m * shape.n + shape.m * shape.k + shape.k * shape.n);
  const double math = shape.flops() / (gpu.sms * 256 * gpu.clock.sustained.value);
  const double dram = bytes / (gpu.dram.bandwidth.value * gpu.dram.read_efficiency);
  report->time_us = 1e6 * (std::max(math, dram) + gpu.launch.kernel.value);
  return report;
}

arch::SourcedGpu gpu_of(const arch::Overrides& overrides = {}) {
  const Result<arch::SourcedGpu> gpu = arch::load_sourced_gpu("rtx4070", overrides);
  EXPECT_TRUE(gpu) << to_string(gpu.errors());
  return gpu ? *gpu : arch::SourcedGpu{};
}

// Times of a changed GPU, each off by a share of the noise that looks random.
validate::MeasuredData rows_of(const arch::Overrides& changes, double noise, int count) {
  const arch::GpuSpec gpu = gpu_of(changes).gpu;
  std::string text = "source,gpu,dtype_in,family,layout,M,N,K,tile_m,tile_n,tile_k,time_ms\n";
  for (int i = 0; i < count; ++i) {
    const int m = 512 * (1 + i % 5), n = 512 * (1 + (i / 2) % 7), k = i % 3 == 0 ? 64 : 256 * (1 + i % 4);
    const kernels::GemmShape shape{m, n, k, 1};
    kernels::KernelConfig kernel;
    kernel.family = kernels::Family::simt;
    kernel.tile = {128, 128, 8};
    const Result<gpu::SimReport> report = roofline(gpu, kernel, shape, {});
    EXPECT_TRUE(report) << to_string(report.errors());
    const double off = 1 + noise * (static_cast<double>((i * 7919) % 101) / 50 - 1);
    text += fmt::format("made,RTX4070,f32,simt,nn,{},{},{},128,128,8,{}\n", m, n, k, report->time_us * 1e-3 * off);
  }
  return test::data_of(text);
}

TEST(Adapt, TellsAClockFromTwelveRowsAndLeavesTheRest) {
  const Result<Adaptation> adapted =
      adapt(gpu_of(), rows_of({{"clock.sustained", "2.3 GHz"}}, 0.002, 12), {}, roofline);
  ASSERT_TRUE(adapted) << to_string(adapted.errors());
  ASSERT_TRUE(adapted->constants_helped);
  EXPECT_EQ(adapted->constants.front().key, "clock.sustained");
  // Between what was known beforehand and what the rows say.
  EXPECT_LT(adapted->gpu.gpu.clock.sustained.value, 0.97 * gpu_of().gpu.clock.sustained.value);
  EXPECT_GT(adapted->gpu.gpu.clock.sustained.value, 2.3e9);
  EXPECT_LT(adapted->adapted, 0.5 * adapted->simulator);
}

TEST(Adapt, IsNoWorseThanTheSimulatorWhereRowsAreNoise) {
  const Result<Adaptation> adapted = adapt(gpu_of(), rows_of({}, 0.2, 14), {}, roofline);
  ASSERT_TRUE(adapted) << to_string(adapted.errors());
  EXPECT_LE(adapted->adapted, adapted->simulator * 1.0001);
}

TEST(Adapt, TheModelReadsAsItWasWritten) {
  const Result<Adaptation> adapted = adapt(gpu_of(), rows_of({{"clock.sustained", "2.2 GHz"}}, 0.01, 12), {}, roofline);
  ASSERT_TRUE(adapted) << to_string(adapted.errors());
  const Result<learn::Model> read = learn::parse_model(learn::to_json(adapted->model), "model.json");
  ASSERT_TRUE(read) << to_string(read.errors());
  learn::MeasuredOptions options;
  options.gpu = adapted->gpu.gpu;
  const Result<learn::MeasuredTable> other = learn::measured_table(rows_of({}, 0, 5), options, roofline);
  ASSERT_TRUE(other) << to_string(other.errors());
  const auto first = learn::Estimator(adapted->model).estimate(other->table, true, 1);
  const auto again = learn::Estimator(*read).estimate(other->table, true, 1);
  ASSERT_TRUE(first && again);
  for (std::size_t row = 0; row < first->size(); ++row) {
    EXPECT_NEAR((*first)[row].targets[0].value, (*again)[row].targets[0].value, 1e-6);
    EXPECT_LE((*again)[row].targets[0].intervals[0].low, (*again)[row].targets[0].value);
  }
}

TEST(Adapt, FewerThanFourRowsAreRefused) {
  const Result<Adaptation> adapted = adapt(gpu_of(), rows_of({}, 0, 3), {}, roofline);
  ASSERT_FALSE(adapted);
  EXPECT_EQ(adapted.errors().front().expected, "at least 4 rows whose time is the GPU's own");
}

TEST(Suggest, NamesDifferentLaunchesAndAFileToFillIn) {
  const validate::Chooser chooser = [](const arch::GpuSpec&, const kernels::KernelConfig& frame,
                                       const kernels::GemmShape&, const gpu::SimOptions&) {
    kernels::KernelConfig kernel = frame;
    kernel.family = kernels::Family::mma;
    kernel.tile = {128, 128, 32};
    return Result<kernels::KernelConfig>(kernel);
  };
  const arch::GpuSpec gpu = gpu_of().gpu;
  const Result<std::vector<Launch>> launches = suggest(gpu, {}, 8, {}, chooser, roofline);
  ASSERT_TRUE(launches) << to_string(launches.errors());
  ASSERT_EQ(launches->size(), 8U);
  std::set<std::string> shapes;
  for (const Launch& l : *launches) shapes.insert(fmt::format("{}x{}x{}", l.shape.m, l.shape.n, l.shape.k));
  EXPECT_EQ(shapes.size(), 8U);
  const std::string csv = to_csv(*launches, gpu);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 9);
  EXPECT_TRUE(csv.starts_with("gpu,op,dtype_in"));
  EXPECT_EQ(profiler_lines(*launches).size(), 8U);
}

TEST(CardSweep, IsASweepWhoseKernelsTheCardRuns) {
  for (const char* gpu : {"rtx4070", "h100-sxm5-80gb"}) {
    const Result<std::string> text = card_sweep({{gpu}, {kernels::DataType::f32, kernels::DataType::f16}, 64, 1});
    ASSERT_TRUE(text) << to_string(text.errors());
    const Result<dataset::Sweep> sweep = dataset::read_sweep_text(*text, "s.yaml");
    ASSERT_TRUE(sweep) << to_string(sweep.errors());
    const dataset::Items items(*sweep);
    ASSERT_EQ(items.count(), 64u);
    std::size_t impossible = 0;
    for (std::size_t row = 0; row < items.count(); ++row)
      impossible += kernels::resolve(items.kernel_of(items.at(row)), items.at(row).shape) ? 0 : 1;
    EXPECT_LT(impossible, 8u);
  }
  EXPECT_FALSE(card_sweep({{"no-such-gpu"}}));
}

TEST(OutsideRuns, AreCountedByColumn) {
  learn::OutsideRuns outside;
  EXPECT_EQ(outside.sentence(), "");
  outside.count("");
  outside.count("kernel.m 9 is outside 1 to 8; kernel.dtype_in bf16 was not seen");
  outside.count("kernel.dtype_in bf16 was not seen");
  EXPECT_EQ(
      outside.sentence(),
      "2 of 3 runs lie outside what the model was trained on: kernel.dtype_in bf16 was not seen (2), kernel.m 9 is "
      "outside 1 to 8 (1)");
}

}  // namespace
}  // namespace noteg::adapt
