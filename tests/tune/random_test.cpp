// Whatever valid configuration runs, its report adds up: shares sum to 1, phases to the run time, nothing is negative,
// and more work takes no less time. A few dozen at random; NOTEG_RANDOM_RUNS asks for more (ctest -L slow: 1000).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

#include "arch/load.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/tune/candidates.hpp"

namespace noteg::tune {
namespace {

constexpr const char* gpus[] = {"l4", "rtx4070", "a100-pcie-40gb", "rtx3090", "h100-sxm5-80gb", "tiny"};

template <class List>
const auto& one_of(const List& list, std::mt19937& random) {
  return list[random() % std::size(list)];
}

// Any family, its keys drawn from what is usual; most draws break a rule and are drawn again.
kernels::KernelConfig draw(std::mt19937& random, const arch::GpuSpec& gpu, const Problem& problem) {
  using kernels::Family;
  kernels::KernelConfig config;
  switch (random() % 4) {
    case 0:
      config.family = Family::naive;
      config.tile.m = static_cast<int>(4 + random() % 29);
      return in_frame(config, problem.frame);
    case 1: {
      constexpr int sides[] = {32, 64, 96, 128};
      constexpr int threads[] = {4, 8};
      config.family = Family::blocked;
      config.tile = {one_of(sides, random), one_of(sides, random), static_cast<int>(8 << random() % 2)};
      config.thread_m = one_of(threads, random);
      config.thread_n = one_of(threads, random);
      config.stages = static_cast<int>(1 + random() % 2);
      return in_frame(config, problem.frame);
    }
    default: {
      static thread_local std::vector<kernels::KernelConfig> all;
      all = configurations(gpu, problem, {{}, 500});
      return one_of(all, random);
    }
  }
}

std::int64_t extent(std::mt19937& random) {
  const auto size = static_cast<std::int64_t>(std::exp2(5 + static_cast<double>(random() % 1000) / 1000 * 7));
  return random() % 2 == 0 ? size : (size + 31) / 32 * 32;
}

void check(const gpu::SimReport& r) {
  EXPECT_GT(r.time_us, 0);
  EXPECT_GT(r.power_w, 0);
  EXPECT_GT(r.energy_mj, 0);
  EXPECT_NEAR(std::accumulate(r.stalls.begin(), r.stalls.end(), 0.0), 1, 1e-6);
  const gpu::Phases& p = r.phases_us;
  EXPECT_NEAR((p.launch + p.prologue + p.mainloop + p.epilogue + p.tail) / r.time_us, 1, 1e-6);
  for (const double phase : {p.launch, p.prologue, p.mainloop, p.epilogue}) EXPECT_GE(phase, 0);
  EXPECT_GE(p.tail, -1e-6 * r.time_us);
  for (const double busy : {r.pipes.fma, r.pipes.alu, r.pipes.tensor, r.pipes.lsu, r.pipes.issue}) {
    EXPECT_GE(busy, 0);
    EXPECT_LE(busy, 1);
  }
  EXPECT_GE(r.memory.l2_hit_rate, 0);
  EXPECT_LE(r.memory.l2_hit_rate, 1);
  EXPECT_GT(r.pct_of_peak, 0);
  EXPECT_LE(r.pct_of_peak, 100.5);
}

TEST(RandomConfigurations, ReportsAddUpAndMoreWorkTakesNoLessTime) {
  const char* asked = std::getenv("NOTEG_RANDOM_RUNS");
  const int wanted = asked != nullptr ? std::atoi(asked) : 40;
  std::mt19937 random(7);
  int done = 0, tries = 0;
  while (done < wanted && tries < 40 * wanted) {
    ++tries;
    const arch::GpuSpec gpu = *arch::load_gpu(one_of(gpus, random));
    Problem problem;
    problem.shape = {extent(random), extent(random), extent(random), 1};
    if (random() % 3 == 0) problem.frame.dtype_in = problem.frame.dtype_out = kernels::DataType::f16;
    const kernels::KernelConfig config = draw(random, gpu, problem);
    gpu::SimOptions options;
    options.sm_clock_mhz = 1400;
    gpu::SmCache cache;
    const auto report = gpu::simulate(gpu, config, problem.shape, options, cache);
    if (!report) continue;
    ++done;
    SCOPED_TRACE(gpu.id + " " + std::string(name_of(config.family)) + " tile " + std::to_string(config.tile.m) + "x" +
                 std::to_string(config.tile.n) + "x" + std::to_string(config.tile.k) + ", " +
                 std::to_string(problem.shape.m) + "x" + std::to_string(problem.shape.n) + "x" +
                 std::to_string(problem.shape.k));
    check(*report);
    kernels::GemmShape deeper = problem.shape;
    deeper.k *= 2;
    const auto more = gpu::simulate(gpu, config, deeper, options, cache);
    if (more) {
      EXPECT_GE(more->time_us, 0.99 * report->time_us);
    }
  }
  EXPECT_EQ(done, wanted);
}

}  // namespace
}  // namespace noteg::tune
