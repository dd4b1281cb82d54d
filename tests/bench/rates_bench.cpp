// Rates of what runs thousands of simulations or trees: configurations tuned, rows generated, forests fitted and asked.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <random>

#include "arch/load.hpp"
#include "sim/dataset/generate.hpp"
#include "sim/forest/forest.hpp"
#include "sim/forest/predictor.hpp"
#include "sim/tune/tune.hpp"
#include "tests/bench/bench_setup.hpp"

namespace {

void tune(benchmark::State& state, const char* arch, noteg::kernels::DataType type) {
  const auto gpu = noteg::arch::load_gpu(arch);
  noteg::tune::Problem problem{noteg::bench::square(4096), {}};
  problem.frame.dtype_in = type;
  if (type != noteg::kernels::DataType::f32) problem.frame.dtype_out = type;
  noteg::tune::TuneOptions options;
  options.top = 1;
  options.space.most = static_cast<std::size_t>(state.range(0));
  double considered = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const auto tuned = noteg::tune::tune(*gpu, problem, options);
    if (!tuned) return state.SkipWithError("no configuration");
    considered += static_cast<double>(tuned->considered);
  }
  state.counters["configurations_per_s"] = benchmark::Counter(considered, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(tune, simt_rtx4070, "rtx4070", noteg::kernels::DataType::f32)
    ->Arg(1000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tune, mma_a100, "a100-pcie-40gb", noteg::kernels::DataType::f16)
    ->Arg(1000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void generate(benchmark::State& state) {
  const auto sweep = noteg::dataset::read_sweep_text(
      "gpus: [a100-pcie-40gb]\nshape: {m: [256, 512, 1024], n: [256, 512, 1024], k: [256, 512, 1024]}\n"
      "kernels:\n  - {family: simt, tile: [64x64x8, 128x128x8]}\n",
      "bench.yaml");
  if (!sweep) return state.SkipWithError(noteg::to_string(sweep.errors()).c_str());
  const std::string path = "/tmp/noteg_bench_" + std::to_string(std::random_device{}()) + ".db";
  double rows = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const auto made = noteg::dataset::generate(*sweep, path, {});
    if (!made) return state.SkipWithError(noteg::to_string(made.errors()).c_str());
    rows += static_cast<double>(made->written);
    static_cast<void>(std::remove(path.c_str()));
  }
  state.counters["rows_per_s"] = benchmark::Counter(rows, benchmark::Counter::kIsRate);
}
BENCHMARK(generate)->Unit(benchmark::kMillisecond);

noteg::forest::TrainingSet table(Eigen::Index rows) {
  constexpr Eigen::Index features = 24, targets = 4;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  noteg::forest::TrainingSet set;
  set.x = Eigen::MatrixXd::NullaryExpr(rows, features, [&] { return uniform(random); });
  set.y = (set.x.leftCols(targets).array() * set.x.middleCols(targets, targets).array()).matrix();
  set.kinds.assign(static_cast<std::size_t>(features), noteg::forest::FeatureKind::number);
  return set;
}

void forest_fit(benchmark::State& state) {
  const noteg::forest::TrainingSet set = table(state.range(0));
  for ([[maybe_unused]] auto iteration : state)
    benchmark::DoNotOptimize(noteg::forest::train_forest(set, noteg::forest::random_forest()));
}
BENCHMARK(forest_fit)->Arg(16128)->Unit(benchmark::kMillisecond);

void forest_predict(benchmark::State& state) {
  const noteg::forest::TrainingSet set = table(16128);
  const auto forest = noteg::forest::train_forest(set, noteg::forest::random_forest());
  if (!forest) return state.SkipWithError("no forest");
  const noteg::forest::Predictor predictor(*forest);
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(predictor.predict(set.x, 1));
  state.counters["rows_per_s"] =
      benchmark::Counter(static_cast<double>(set.x.rows() * state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(forest_predict)->Unit(benchmark::kMillisecond);

}  // namespace
