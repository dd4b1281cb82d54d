// The table of errors that intervals are made of: which rows count, and that its factors keep their promise.
#include "sim/validate/validate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/validate/fixture.hpp"

namespace noteg::validate {
namespace {

// Errors of each GPU, family and kernel of its own size, with a bias; every shape on every GPU.
std::vector<CountedRow> made_up_rows() {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<CountedRow> rows;
  constexpr kernels::Family families[] = {kernels::Family::naive, kernels::Family::blocked, kernels::Family::simt,
                                          kernels::Family::mma};
  for (int gpu = 0; gpu < 8; ++gpu)
    for (const kernels::Family family : families)
      for (int tile = 32; tile <= 128; tile *= 2) {
        const double bias = 0.03 * normal(random), spread = 0.03 + 0.02 * std::abs(normal(random));
        for (int shape = 0; shape < 20; ++shape) {
          gpu::MeasuredError row;
          row.at.gpu = "gpu" + std::to_string(gpu);
          row.at.generation = gpu % 2 == 0 ? "sm_80" : "sm_89";
          row.at.family = family;
          row.at.tile = {tile, tile, 8};
          row.at.time_us = std::exp2(shape);
          row.at.waves = std::exp2(0.5 * shape - 2);
          row.at.iterations = 64;
          row.source = "made_up";
          row.error = bias + spread * normal(random);
          rows.push_back({row, std::to_string(shape)});
        }
      }
  return rows;
}

TEST(ErrorTable, HoldsTheStatedShareOfWhateverIsLeftOut) {
  const gpu::ErrorTable table = error_table(made_up_rows());
  int ways = 0;
  for (const gpu::Coverage& coverage : table.coverage) {
    if (coverage.of != "all") continue;
    ++ways;
    EXPECT_EQ(coverage.rows, 8 * 4 * 3 * 20);
    for (std::size_t share = 0; share < 3; ++share)
      EXPECT_NEAR(coverage.held[share], gpu::interval_shares[share], 0.04) << coverage.left_out;
  }
  EXPECT_EQ(ways, 4);
  EXPECT_EQ(to_text(table), to_text(error_table(made_up_rows())));
}

TEST(ErrorTable, CountsNoRowThatAConstantWasFittedOnNorOneThatIsMostlyTheHosts) {
  const std::string head = "source,gpu,op,dtype_in,layout,batch,M,N,K,family,tile_m,tile_n,tile_k,time_ms\n";
  std::string text = head;
  for (int m = 1024; m < 1024 + 64; ++m)
    for (const char* source : {"vidur", "elsewhere"})
      text +=
          std::string(source) + ",A100-80GB,linear,fp32,nn,1," + std::to_string(m) + ",1024,1024,simt,128,128,8,2\n";
  text += "neusight,NVIDIA L4,bmm,fp32,nn,1,1025,32,32,simt,128,128,8,0.05\n";
  const test::TemporaryFile file("rows.csv", text);
  const Result<Validation> result = validate({file.path()}, {}, test::fake_simulator);
  ASSERT_TRUE(result) << to_string(result.errors());
  ASSERT_EQ(result->predicted, 129u);
  std::size_t vidur = 0, elsewhere = 0, neusight = 0, judged = 0;
  for (const Outcome& outcome : result->outcomes) judged += outcome.prediction.half == Half::judged ? 1 : 0;
  for (const CountedRow& row : counted_rows(*result)) {
    vidur += row.row.source == "vidur" ? 1 : 0;
    elsewhere += row.row.source == "elsewhere" ? 1 : 0;
    neusight += row.row.source == "neusight" ? 1 : 0;
  }
  EXPECT_EQ(elsewhere, 64u);
  EXPECT_EQ(neusight, 0u);
  EXPECT_LT(vidur, 64u);
  EXPECT_GT(vidur, 10u);
  EXPECT_LE(vidur, judged / 2 + 1);
}

TEST(Sample, TakesSoManyRowsOfEachGroupAndCountsTheOthers) {
  std::string text = "source,gpu,op,M,N,K,family,tile_m,tile_n,tile_k,time_ms,dtype_in\n";
  for (int m = 1; m <= 50; ++m)
    for (const char* gpu : {"NVIDIA L4", "A40"})
      text += std::string("one,") + gpu + ",gemm," + std::to_string(m) + ",512,512,simt,64,64,8,1,fp32\n";
  const test::TemporaryFile file("sample.csv", text);
  ValidateOptions options;
  options.by = {"gpu"};
  options.sample = 7;
  const Result<Validation> result = validate({file.path()}, options, test::fake_simulator);
  ASSERT_TRUE(result) << to_string(result.errors());
  EXPECT_EQ(result->filtered, 86u);
  for (const Group& group : result->groups) EXPECT_EQ(group.rows, 7u);
}

TEST(Coverage, IsTheShareOfMeasuredTimesInTheirIntervals) {
  const auto simulator = [](const arch::GpuSpec& gpu, const kernels::KernelConfig& config,
                            const kernels::GemmShape& shape, const gpu::SimOptions& options) {
    Result<gpu::SimReport> report = test::fake_simulator(gpu, config, shape, options);
    report->confidence.intervals.back() = {0.9 * report->time_us, 1.1 * report->time_us};
    return report;
  };
  std::string text = "gpu,M,N,K,family,tile_m,tile_n,tile_k,time_ms,dtype_in\n";
  for (const char* time : {"0.95", "1.05", "1.2", "0.5"})  // of 1 ms
    text += std::string("NVIDIA L4,1000,1000,500,simt,64,64,8,") + time + ",fp32\n";
  const test::TemporaryFile file("coverage.csv", text);
  const Result<Validation> result = validate({file.path()}, {}, simulator);
  ASSERT_TRUE(result) << to_string(result.errors());
  ASSERT_TRUE(result->all && result->all->coverage_90);
  EXPECT_DOUBLE_EQ(*result->all->coverage_90, 0.5);
}

}  // namespace
}  // namespace noteg::validate
