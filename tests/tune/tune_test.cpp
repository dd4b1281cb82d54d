#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/tune/problem.hpp"
#include "sim/tune/tune.hpp"

namespace noteg::tune {

namespace {

const Problem problem{{512, 384, 128, 1}, {}};

Tuned tuned(unsigned jobs, Objective objective = Objective::time, const std::atomic<bool>* stop = nullptr) {
  TuneOptions options;
  options.jobs = jobs;
  options.top = 3;
  options.objective = objective;
  options.space.most = 60;
  options.stop = stop;
  return *tune(*arch::load_gpu("tiny"), problem, options);
}

TEST(Space, HoldsTensOfThousandsAndAnEvenChoiceOfThem) {
  const arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  EXPECT_GT(configurations(gpu, {{512, 512, 4096, 1}, {}}, {}).size(), 10000U);
  EXPECT_EQ(configurations(gpu, {{512, 512, 4096, 1}, {}}, {{}, 100}).size(), 100U);
}

TEST(Tune, RanksByTheObjectiveAndSaysWhy) {
  const Tuned result = tuned(2);
  ASSERT_EQ(result.top.size(), 3U);
  for (std::size_t i = 1; i < result.top.size(); ++i) EXPECT_LE(result.top[i - 1].time_us, result.top[i].time_us);
  EXPECT_EQ(result.considered, 60U);
  EXPECT_EQ(result.simulated + result.pruned + result.failed, result.valid);
  EXPECT_EQ(result.why.find("by estimate, the winner is limited by "), 0U);
  const Tuned frugal = tuned(2, Objective::energy);
  for (std::size_t i = 1; i < frugal.top.size(); ++i) EXPECT_LE(frugal.top[i - 1].energy_mj, frugal.top[i].energy_mj);
}

// The best of few is never faster than the best of all, and more of them are never worse.
TEST(Tune, QuickSimulatesAsManyAsAskedFor) {
  TuneOptions options;
  options.top = 1;
  options.space.most = 60;
  const arch::GpuSpec gpu = *arch::load_gpu("tiny");
  double before = 1e30;
  for (const std::size_t quick : {1U, 4U}) {
    options.quick = quick;
    const Tuned result = *tune(gpu, problem, options);
    EXPECT_LE(result.ranked.size(), quick);
    const double best = result.top.front().time_us;
    EXPECT_LE(best, before);
    before = best;
  }
  EXPECT_GE(before, tuned(1).top.front().time_us);
}

TEST(Tune, TheSameBytesForAnyNumberOfJobs) {
  const auto text = [](unsigned jobs) {
    Results results{"tiny", "tiny", Objective::time, {}, false};
    results.tuned.push_back(tuned(jobs));
    return to_text(results) + to_csv(results);
  };
  EXPECT_EQ(text(1), text(5));
}

TEST(Tune, WhatTheBoundRulesOutCouldNotHaveWon) {
  const arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  const Problem large{{2048, 2048, 64, 1}, {}};
  const std::vector<Candidate> all = candidates_of(gpu, configurations(gpu, large, {{}, 150}), large.shape);
  RankRequest request;
  request.gpu = &gpu;
  request.shape = large.shape;
  const Ranking pruned = rank(all, request);
  request.wanted = all.size();
  const Ranking full = rank(all, request);
  EXPECT_EQ(full.pruned, 0U);
  EXPECT_EQ(pruned.best.front().config, full.best.front().config);
}

TEST(Tune, StoppedItStillHasWhatWasRanked) {
  const std::atomic<bool> stop = true;
  const Tuned result = tuned(1, Objective::time, &stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.simulated, 0U);
}

TEST(Tune, EmittedKernelFilesReadBackAsTheyWere) {
  for (const gpu::SimReport& report : tuned(2).top) {
    const Result<kernels::KernelConfig> read = kernels::read_kernel_text(kernels::to_yaml(report.kernel, "a\nb"), "x");
    ASSERT_TRUE(read) << to_string(read.errors());
    EXPECT_EQ(kernels::resolve(*read, problem.shape)->tile, report.kernel.tile);
    EXPECT_EQ(*kernels::resolve(*read, problem.shape), report.kernel);
  }
}

TEST(Tune, ProfilerLinesNameTheKernel) {
  kernels::KernelConfig kernel;
  kernel.tile = {128, 64, 8};
  kernel.split_k = 4;
  kernel.split_k_mode = kernels::SplitKMode::serial;
  const std::string line =
      cutlass_profiler_line(*arch::load_gpu("l4"), *kernels::resolve(kernel, {512, 512, 512, 1}), {512, 512, 512, 1});
  for (const char* part : {"--operation=Gemm --m=512", "--A=f32:row --B=f32:row", "--op_class=simt",
                           "--cta_m=128 --cta_n=64 --cta_k=8", "--split_k_slices=4", "--min_cc=89"})
    EXPECT_NE(line.find(part), std::string::npos) << part << "\n" << line;
}

}  // namespace

namespace {

TEST(ShapeFile, ReadsOneProblemPerLine) {
  const Result<std::vector<CountedProblem>> read = parse_shapes(
      "# a layer\n\n128x256x64  times=32 # qkv\n64x64x64 batch=8 dtype=f16 layout=nt\r\n", "layer.txt", {});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->at(0).problem.shape.n, 256);
  EXPECT_EQ(read->at(0).count, 32);
  EXPECT_EQ(read->at(1).problem.shape.batch, 8);
  EXPECT_EQ(read->at(1).problem.frame.dtype_in, kernels::DataType::f16);
  EXPECT_EQ(read->at(1).problem.frame.dtype_acc, kernels::DataType::f32);
  EXPECT_EQ(read->at(1).problem.frame.layout, kernels::Layout::nt);
}

TEST(ShapeFile, TellsEveryMistakeWithItsPlace) {
  const Result<std::vector<CountedProblem>> read =
      parse_shapes("128x256\n64x64x64 times=0 size=3\n64x0x64 dtype=f12\n", "layer.txt", {});
  ASSERT_FALSE(read);
  ASSERT_EQ(read.errors().size(), 5U);
  EXPECT_EQ(read.errors()[0].to_string().find("layer.txt:1:1: shape: expected MxNxK"), 0U);
  EXPECT_EQ(read.errors()[1].to_string().find("layer.txt:2:10: times: expected an integer"), 0U);
  EXPECT_FALSE(parse_shapes("# nothing\n", "layer.txt", {}));
  EXPECT_FALSE(read_shapes("/nowhere/layer.txt", {}));
}

}  // namespace

}  // namespace noteg::tune
