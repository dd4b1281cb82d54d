#include "sim/tune/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/gpu/limits/explain.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::tune {
namespace {

Problem sgemm(std::int64_t m, std::int64_t n, std::int64_t k) { return {{m, n, k, 1}, {}}; }

double time_of(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel, const Problem& problem,
               gpu::SmCache& cache) {
  return gpu::simulate(gpu, kernel, problem.shape, {}, cache)->time_us;
}

TEST(Catalogue, EveryKernelResolvesForItsTypes) {
  for (const char* name : {"a100-pcie-40gb", "rtx3090", "l4", "h100-sxm5-80gb"}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    const std::vector<kernels::KernelConfig> kernels = library_kernels(gpu, {});
    EXPECT_GE(kernels.size(), 8U) << name;
    for (const kernels::KernelConfig& kernel : kernels) {
      const Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, {4096, 4096, 4096, 1});
      EXPECT_TRUE(resolved) << kernel.name << ": " << (resolved ? "" : to_string(resolved.errors()));
    }
  }
}

TEST(Catalogue, ALibraryFromBeforeNvjetHasOnlyHoppersOlderKernels) {
  const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb");
  kernels::KernelConfig frame;
  frame.dtype_in = kernels::DataType::f16;
  const auto nvjet = [](const kernels::KernelConfig& kernel) { return kernel.name.starts_with("nvjet"); };
  EXPECT_TRUE(std::ranges::any_of(library_kernels(gpu, frame), nvjet));
  const std::vector<kernels::KernelConfig> before = library_kernels(gpu, frame, true);
  EXPECT_FALSE(std::ranges::any_of(before, nvjet));
  EXPECT_GE(before.size(), 8U);
}

TEST(Catalogue, ThePageIsUpToDate) {
  const std::string path = std::string(NOTEG_SOURCE_DIR) + "/docs/reference/library-catalogue.md";
  if (std::getenv("NOTEG_UPDATE_GENERATED") != nullptr) std::ofstream(path, std::ios::binary) << catalogue_reference();
  const Result<std::string> found = read_text_file(path);
  ASSERT_TRUE(found) << to_string(found.errors());
  EXPECT_TRUE(*found == catalogue_reference()) << "run test_tune with NOTEG_UPDATE_GENERATED=1";
}

using kernels::DataType;

struct LibraryTypes {
  DataType in, acc, out;
};

constexpr LibraryTypes library_types[] = {
    {DataType::f32, DataType::f32, DataType::f32},       {DataType::tf32, DataType::f32, DataType::f32},
    {DataType::f16, DataType::f32, DataType::f16},       {DataType::f16, DataType::f32, DataType::f32},
    {DataType::f16, DataType::f16, DataType::f16},       {DataType::bf16, DataType::f32, DataType::bf16},
    {DataType::bf16, DataType::f32, DataType::f32},      {DataType::f8e4m3, DataType::f32, DataType::bf16},
    {DataType::f8e4m3, DataType::f32, DataType::f8e4m3}, {DataType::f8e5m2, DataType::f32, DataType::f16},
    {DataType::s8, DataType::s32, DataType::s32},        {DataType::s8, DataType::s32, DataType::s8},
};

// What --kernel-name NAME and the options that no name replaces give for a kernel that --kernel auto has chosen.
kernels::KernelConfig asked_for_again(const kernels::KernelConfig& chosen, const kernels::GemmShape& shape) {
  const Result<kernels::KernelConfig> named = kernels::config_from_name(chosen.name);
  if (!named) {
    ADD_FAILURE() << chosen.name << ": " << to_string(named.errors());
    return {};
  }
  kernels::KernelConfig config = *named;
  config.split_k = chosen.split_k;
  config.split_k_mode = chosen.split_k_mode;
  config.bias = chosen.bias;
  config.reads_c = chosen.reads_c;
  const Result<kernels::KernelConfig> resolved = kernels::resolve(config, shape);
  if (!resolved) ADD_FAILURE() << chosen.name << ": " << to_string(resolved.errors());
  return resolved ? *resolved : kernels::KernelConfig{};
}

// Types x generations x layouts x shapes, every kernel of the catalogue with every number of slices.
TEST(Catalogue, EveryNamedKernelCanBeAskedForAgainByItsName) {
  std::size_t names = 0;
  for (const char* name : {"a100-pcie-40gb", "rtx3090", "l4", "h100-sxm5-80gb"}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    for (const LibraryTypes& types : library_types)
      for (const kernels::Layout layout :
           {kernels::Layout::nn, kernels::Layout::nt, kernels::Layout::tn, kernels::Layout::tt})
        for (const kernels::GemmShape& shape :
             {kernels::GemmShape{4096, 4096, 4096, 1}, kernels::GemmShape{16, 4096, 11008, 1},
              kernels::GemmShape{333, 777, 1036, 1}, kernels::GemmShape{640, 130, 5002, 3}}) {
          Problem problem{shape, {}};
          problem.frame.dtype_in = types.in;
          problem.frame.dtype_acc = types.acc;
          problem.frame.dtype_out = types.out;
          problem.frame.layout = layout;
          for (const kernels::KernelConfig& choice : library_choices(gpu, problem)) {
            Result<kernels::KernelConfig> chosen = kernels::resolve(choice, shape);
            if (!chosen) continue;
            kernels::name_as_library(*chosen);
            ASSERT_TRUE(asked_for_again(*chosen, shape) == *chosen) << chosen->name << " on " << name;
            ++names;
          }
        }
  }
  EXPECT_GT(names, 10000U);
}

TEST(KernelChooser, SaysWhichLayoutNarrowOperandsNeed) {
  KernelChooser chooser;
  Problem problem = sgemm(256, 256, 256);
  problem.frame.dtype_in = kernels::DataType::f8e4m3;
  problem.frame.dtype_acc = kernels::DataType::f32;
  problem.frame.layout = kernels::Layout::nn;
  const arch::GpuSpec gpu = *arch::load_gpu("l40s");
  const Result<kernels::KernelConfig> refused = chooser.best(gpu, problem, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(to_string(refused.errors()).find("needs --layout nt"), std::string::npos);
  problem.frame.layout = kernels::Layout::nt;
  EXPECT_TRUE(chooser.best(gpu, problem, {}));
}

TEST(KernelChooser, SaysANameThatGivesTheSameKernelAgain) {
  KernelChooser chooser;
  for (const char* name : {"rtx4090", "h100-sxm5-80gb"}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    for (const LibraryTypes& types : {library_types[0], library_types[1], library_types[5]}) {
      Problem problem = sgemm(16, 4096, 2048);
      problem.frame.dtype_in = types.in;
      problem.frame.dtype_acc = types.acc;
      problem.frame.dtype_out = types.out;
      problem.frame.bias = true;
      const kernels::KernelConfig chosen = *chooser.best(gpu, problem, {});
      EXPECT_TRUE(asked_for_again(chosen, problem.shape) == chosen) << chosen.name;
    }
  }
}

TEST(Slices, OnlyWhereTheGridLeavesSmsIdleAndSlicesKeepDepth) {
  kernels::KernelConfig kernel;
  kernel.tile = {128, 128, 8};
  EXPECT_EQ(slice_counts(kernel, {8192, 8192, 4096, 1}, 108), std::vector<int>{1});
  EXPECT_EQ(slice_counts(kernel, {128, 128, 16, 1}, 108), std::vector<int>{1});
  const std::vector<int> deep = slice_counts(kernel, {128, 128, 65536, 1}, 108);
  EXPECT_EQ(deep.back(), 32);
}

TEST(KernelChooser, TakesLargeTilesForLargeProblemsAndSplitsDeepOnes) {
  KernelChooser chooser;
  const arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  const kernels::KernelConfig large = *chooser.best(gpu, sgemm(8192, 8192, 512), {});
  EXPECT_GE(large.tile.m * large.tile.n, 128 * 128);
  EXPECT_EQ(large.split_k, 1);
  EXPECT_GT(chooser.best(gpu, sgemm(128, 128, 32768), {})->split_k, 1);
}

// The pilot run may miss the best by a little, not by much.
TEST(KernelChooser, TheChosenKernelIsCloseToTheBestOfTheCatalogue) {
  KernelChooser chooser;
  gpu::SmCache cache;
  for (const char* name : {"a100-pcie-40gb", "h100-sxm5-80gb"}) {
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    const Problem problem = sgemm(1024, 768, 256);
    double best = 1e30;
    for (const kernels::KernelConfig& kernel : library_choices(gpu, problem))
      if (const Result<gpu::SimReport> report = gpu::simulate(gpu, kernel, problem.shape, {}, cache))
        best = std::min(best, report->time_us);
    EXPECT_LE(time_of(gpu, *chooser.best(gpu, problem, {}), problem, cache), 1.08 * best) << name;
  }
}

// Of bf16 products with K contiguous in both operands, one in two runs the tile that cuBLAS 13.0 ran on our H100, or
// its mirror image.
TEST(KernelChooser, ChoosesNvjetTilesAsCublasDoes) {
  const Result<CsvTable> table = read_csv(NOTEG_SOURCE_DIR "/tests/data/h100_nvjet_launches.csv");
  ASSERT_TRUE(table) << to_string(table.errors());
  const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb");
  KernelChooser chooser;
  int asked = 0, same = 0;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto text = [&](const char* column) { return table->rows.at(row, *table->column(column)); };
    const auto extent = [&](const char* column) { return static_cast<std::int64_t>(*parse_number(text(column))); };
    const kernels::KernelConfig ran = *kernels::config_from_name(std::string(text("kernel_name")));
    if (ran.dtype_in != DataType::bf16 || ran.layout != kernels::Layout::nt) continue;
    kernels::KernelConfig frame;
    frame.dtype_in = frame.dtype_out = DataType::bf16;
    frame.layout = ran.layout;
    const Result<kernels::KernelConfig> chosen =
        chooser.best(gpu, {{extent("M"), extent("N"), extent("K"), 1}, frame}, {});
    ASSERT_TRUE(chosen) << to_string(chosen.errors());
    const std::pair tile{chosen->tile.m, chosen->tile.n};
    ++asked;
    same += tile == std::pair{ran.tile.m, ran.tile.n} || tile == std::pair{ran.tile.n, ran.tile.m} ? 1 : 0;
  }
  EXPECT_EQ(asked, 46);
  EXPECT_GE(same, 22);
}

// Serial slices too, whose epilogues the bound leaves out.
TEST(KernelChooser, NoKernelIsFasterThanItsLeastTime) {
  gpu::SmCache cache;
  gpu::SimOptions sim;
  sim.pilot = true;
  sim.l2 = gpu::L2State::steady;
  Problem problem = sgemm(16, 1024, 4096);
  problem.frame.dtype_in = kernels::DataType::f16;
  const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb");
  int several_slices = 0;
  for (const kernels::KernelConfig& kernel : library_choices(gpu, problem)) {
    const Result<gpu::KernelLaunch> launch = gpu::launch_of(gpu, kernel, problem.shape, sim, cache);
    const Result<gpu::SimReport> report = gpu::simulate(gpu, kernel, problem.shape, sim, cache);
    if (!launch || !report) continue;
    several_slices += kernel.split_k > 1 ? 1 : 0;
    EXPECT_LE(gpu::least_time(gpu, *launch, sim, cache).value * 1e6, report->time_us * (1 + 1e-9))
        << kernel.name << " in " << kernel.split_k;
  }
  EXPECT_GT(several_slices, 20);
}

TEST(KernelChooser, WhatItRemembersDoesNotShow) {
  const arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  KernelChooser used, fresh;
  static_cast<void>(used.best(gpu, sgemm(4096, 4096, 4096), {}));
  static_cast<void>(used.best(gpu, sgemm(64, 4096, 1024), {}));
  EXPECT_EQ(*used.best(gpu, sgemm(512, 1024, 2048), {}), *fresh.best(gpu, sgemm(512, 1024, 2048), {}));
}

TEST(KernelChooser, SaysWhereTheCatalogueHasNothing) {
  arch::GpuSpec gpu = *arch::load_gpu("a100-pcie-40gb");
  gpu.sm.name = "sm_70";
  const Result<kernels::KernelConfig> none = KernelChooser().best(gpu, sgemm(64, 64, 64), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.errors().front().to_string().find("sm_70"), std::string::npos);
}

// What a plain `simulate` answers with is the first row of --explain, whatever the library's kernel is.
TEST(AutoKernel, APlainRunNamesWhatTheWholeTableNames) {
  using kernels::DataType;
  const std::vector<const char*> gpus{"rtx3090",        "rtx4070",       "l4", "a30", "a100-pcie-80gb",
                                      "h100-sxm5-80gb", "h200-sxm-141gb"};
  const std::vector<kernels::GemmShape> shapes{{4096, 4096, 4096, 1}, {1024, 1024, 1024, 1}, {16, 4096, 4096, 1},
                                               {2176, 3000, 512, 1},  {8192, 8192, 64, 1},   {128, 128, 8192, 1},
                                               {6144, 1536, 2048, 1}, {333, 4444, 1000, 2}};
  const std::vector<DataType> types{DataType::f32, DataType::f16, DataType::bf16};
  std::vector<std::tuple<const char*, kernels::GemmShape, DataType>> runs;
  for (const char* gpu : gpus)
    for (const kernels::GemmShape& shape : shapes)
      for (const DataType type : types) runs.emplace_back(gpu, shape, type);
  ASSERT_GE(runs.size(), 160U);
  KernelChooser chooser;
  gpu::SmCache cache;
  std::vector<std::string> wrong(runs.size());
  share_work(runs.size(), 2, {}, [&](std::size_t i) {
    const auto& [name, shape, type] = runs[i];
    const arch::GpuSpec gpu = *arch::load_gpu(name);
    kernels::KernelConfig frame;
    frame.dtype_in = frame.dtype_out = type;
    const Result<kernels::KernelConfig> kernel = chooser.best(gpu, {shape, frame}, {});
    if (!kernel) {
      wrong[i] = to_string(kernel.errors());
      return;
    }
    const auto judged = [&](gpu::Experiments experiments) {
      return gpu::explain(gpu, *kernel, shape, {}, cache, experiments);
    };
    const Result<gpu::Explanation> plain = judged(gpu::Experiments::decisive), all = judged(gpu::Experiments::all);
    if (!plain || !all) {
      wrong[i] = "refused";
      return;
    }
    const gpu::Bottleneck &a = plain->report.bottleneck, &b = all->report.bottleneck;
    if (a.name != b.name || a.because != b.because || b.name != all->costs.front().limit)
      wrong[i] = a.name + " against " + all->costs.front().limit + ": " + a.because + " against " + b.because;
    for (const gpu::LimitCost& cost : all->costs)
      if (!cost.limit.ends_with("_pipe") && cost.pct_of_peak > 100 + 1e-6)
        wrong[i] += " " + cost.limit + " passes the roof";
  });
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [name, shape, type] = runs[i];
    EXPECT_EQ(wrong[i], "") << name << ' ' << shape.m << 'x' << shape.n << 'x' << shape.k << ' ' << name_of(type);
  }
}

}  // namespace
}  // namespace noteg::tune
