#include "sim/workload/workload.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "sim/workload/power_trace.hpp"

namespace noteg::workload {
namespace {

Operation linear(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count = 1) {
  Operation o;
  o.name = "linear";
  o.m = m, o.n = n, o.k = k, o.count = count;
  set_types(o, kernels::DataType::f16);
  o.frame.layout = kernels::Layout::nt;
  return o;
}

Operation elementwise(std::int64_t m, std::int64_t n) {
  Operation o = linear(m, n, 1);
  o.name = "norm";
  o.op = Op::elementwise;
  return o;
}

Request request(std::vector<Operation> operations, double limit_w = 0) {
  Request out;
  out.steps.push_back({"", {{"layer", 4, std::move(operations)}}, 16, 0, 1});
  Case one{"a100", {*arch::load_gpu("a100-sxm4-80gb"), {}, {}}, "", 0};
  one.machine.sim.l2 = gpu::L2State::steady;
  one.machine.sim.kernel_chosen = true;
  if (limit_w > 0) one.machine.gpu.power.limit = Watts{limit_w};
  out.cases.push_back(std::move(one));
  return out;
}

Results run_of(Request given) {
  Bench bench;
  Result<Results> results = run(std::move(given), bench);
  if (!results) throw std::runtime_error(to_string(results.errors()));
  return std::move(*results);
}

// A library does not know what the board may draw.
TEST(Workload, KernelsAreTheBoardsWhateverTheLimitsAndTheirOrder) {
  const auto kernels_of = [](const std::vector<double>& limits) {
    Request asked = request({linear(512, 4096, 4096)});
    const Case board = asked.cases.front();
    asked.cases.clear();
    for (const double limit : limits) {
      asked.cases.push_back(board);
      asked.cases.back().machine.board_limit = board.machine.gpu.power.limit;
      asked.cases.back().machine.gpu.power.limit = Watts{limit};
    }
    const Results results = run_of(asked);
    std::map<double, std::string> out;
    for (std::size_t i = 0; i < limits.size(); ++i)
      out[limits[i]] = results.cases[i].operations[0].launches[0].cost.kernel;
    return out;
  };
  const auto upwards = kernels_of({120, 400});
  EXPECT_EQ(upwards, kernels_of({400, 120}));
  EXPECT_EQ(upwards.at(120), upwards.at(400));
}

TEST(Workload, SumsAreThoseOfTheSingleRuns) {
  const Request asked = request({linear(16, 1024, 512, 3), linear(64, 512, 512)});
  const Results results = run_of(asked);
  const Machine& machine = asked.cases.front().machine;
  double sum = 0, energy = 0;
  for (const Operation& o : asked.steps[0].blocks[0].operations) {
    tune::KernelChooser chooser;
    gpu::SmCache cache;
    const kernels::GemmShape shape{o.m, o.n, o.k, 1};
    const auto kernel = chooser.best(machine.gpu, {shape, o.frame}, machine.sim);
    ASSERT_TRUE(kernel);
    const auto report = gpu::simulate(machine.gpu, *kernel, shape, machine.sim, cache);
    ASSERT_TRUE(report);
    sum += report->time_us * 4 * static_cast<double>(o.count);
    energy += report->energy_mj * 4 * static_cast<double>(o.count);
  }
  EXPECT_NEAR(results.cases[0].time_us / sum, 1, 1e-12);
  EXPECT_NEAR(results.cases[0].energy_mj / energy, 1, 1e-12);
}

TEST(Workload, SimulatesEqualLaunchesOnce) {
  std::vector<Operation> many;
  for (int i = 0; i < 2000; ++i) many.push_back(linear(16, 1024, 512));
  const Results results = run_of(request(many));
  EXPECT_EQ(results.launches, 2000U);
  EXPECT_EQ(results.distinct, 1U);
  EXPECT_NEAR(results.cases[0].time_us / (8000 * results.cases[0].operations[0].launches[0].cost.time_us), 1, 1e-9);
}

TEST(Workload, IsTheSameForAnyNumberOfThreads) {
  Request one = request({linear(16, 1024, 512), linear(32, 512, 512), elementwise(16, 512)}), four = one;
  four.jobs = 4;
  const Heading heading{"w", {}};
  EXPECT_EQ(to_json(run_of(one), heading), to_json(run_of(four), heading));
}

TEST(Workload, AHostThatSendsOneKernelAfterTheOtherHoldsShortOnesUp) {
  Request graph = request({elementwise(16, 512)}), stream = graph;
  stream.launch = LaunchMode::stream;
  stream.dispatch = Seconds{50e-6};
  EXPECT_DOUBLE_EQ(run_of(graph).cases[0].waiting_us, 0);
  EXPECT_NEAR(run_of(stream).cases[0].time_us, 4 * 50 + 50, 1e-9) << "four launches, and the first call";
  stream.dispatch = Seconds{1e-9};
  EXPECT_NEAR(run_of(stream).cases[0].time_us / run_of(graph).cases[0].time_us, 1, 0.001);
}

TEST(Workload, OneClockForAllKeepsTheMeanPowerWithinTheLimit) {
  Request asked = request({linear(4096, 4096, 4096), elementwise(4096, 16384)}, 250);
  asked.clocks = Clocks::shared;
  const Results results = run_of(asked);
  const CaseResult& r = results.cases[0];
  EXPECT_TRUE(r.throttled);
  EXPECT_NEAR(r.power_w() / 250, 1, 0.02);
  EXPECT_DOUBLE_EQ(r.lowest_clock_mhz, r.highest_clock_mhz);
  const double each = run_of(request({linear(4096, 4096, 4096), elementwise(4096, 16384)}, 250)).cases[0].time_us;
  EXPECT_LT(r.time_us, each * 1.01) << "the memory kernel leaves power to the GEMM";
}

TEST(Workload, ALimitThatNoClockKeepsIsSaid) {
  for (const Clocks clocks : {Clocks::shared, Clocks::each}) {
    Request within = request({linear(4096, 4096, 4096)}, 250), beyond = request({linear(4096, 4096, 4096)}, 70);
    within.clocks = beyond.clocks = clocks;
    EXPECT_EQ(run_of(within).cases[0].throttle_reason, "the power limit of 250 W");
    const Results results = run_of(beyond);
    const std::string reason = "the power limit of 70 W, and even the lowest clock needs more";
    EXPECT_GT(results.cases[0].power_w(), 70);
    EXPECT_EQ(results.cases[0].throttle_reason, reason);
    EXPECT_NE(to_text(results, {"w", {}}).find(", held down by " + reason), std::string::npos);
  }
}

TEST(Workload, SaysOfEachStepWhatStandsForItsAttention) {
  Operation attention = linear(1, 512, 128);
  attention.op = Op::attention_prefill;
  attention.name = "attention";
  attention.heads = attention.kv_heads = 8;
  Request asked = request({attention});
  asked.steps[0].label = "1 token";
  asked.steps.push_back(asked.steps[0]);
  asked.steps[1].label = "512 tokens";
  asked.steps[1].blocks[0].operations[0].m = 512;
  asked.cases.push_back(asked.cases[0]);
  asked.cases[1].step = 1;
  const std::string text = to_text(run_of(asked), {"w", {}});
  EXPECT_NE(text.find("attention_prefill (1 token): modelled as a memory kernel"), std::string::npos) << text;
  EXPECT_NE(text.find("attention_prefill (512 tokens): modelled as one fused kernel"), std::string::npos) << text;
}

TEST(Workload, AClockCapHoldsAllKernelsBelowIt) {
  Request asked = request({linear(256, 1024, 1024), elementwise(4096, 4096)});
  Machine& machine = asked.cases[0].machine;
  machine.gpu = with_clock_cap(machine.gpu, Hertz{1.0e9});
  const Results results = run_of(asked);
  EXPECT_NEAR(results.cases[0].highest_clock_mhz, 1000, 1e-6);
  EXPECT_NEAR(results.cases[0].lowest_clock_mhz, 1000, 1e-6);
}

TEST(Workload, SaysWhatNoKernelRuns) {
  Operation o = linear(16, 1024, 512);
  set_types(o, kernels::DataType::f8e4m3);
  Bench bench;
  const Result<Results> results = run(request({o}), bench);
  ASSERT_FALSE(results);
  EXPECT_NE(to_string(results.errors()).find("a100"), std::string::npos);
}

TEST(PowerTrace, StartsIdleAndTheLimiterBringsTheMeanToTheLimit) {
  const Results results = run_of(request({linear(4096, 4096, 4096)}, 250));
  const std::vector<TraceRow> trace = power_trace(results.cases[0], {Seconds{0.1}, Seconds{2}});
  EXPECT_EQ(trace.front().operation, "idle");
  EXPECT_GT(trace[1].power.value, 250) << "the limiter has not seen it yet";
  EXPECT_NEAR(trace.back().averaged.value / 250, 1, 0.05);
  for (std::size_t i = 1; i < trace.size(); ++i) EXPECT_GE(trace[i].time, trace[i - 1].time);
}

}  // namespace
}  // namespace noteg::workload
