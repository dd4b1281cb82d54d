// Stall stacks against the warp states that an H200 counts: the launches of naive, blocked and CUTLASS kernels that
// fill it, each into a flushed L2.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sim/gpu/simulate.hpp"
#include "sim/sm/counters.hpp"
#include "tests/validate/counted_launches.hpp"

namespace noteg::validate {
namespace {

using sm::Stall;

// What the tool calls it, and what the model does.
struct State {
  std::vector<const char*> counted;
  std::vector<Stall> model;
};

const std::vector<State>& states() {
  static const std::vector<State> all{{{"selected"}, {Stall::selected}},
                                      {{"not_selected"}, {Stall::not_selected}},
                                      {{"wait"}, {Stall::wait}},
                                      {{"short_scoreboard"}, {Stall::short_scoreboard}},
                                      {{"long_scoreboard"}, {Stall::long_scoreboard, Stall::async_copy}},
                                      {{"barrier"}, {Stall::barrier}},
                                      {{"math_pipe_throttle"}, {Stall::math_pipe}},
                                      {{"mio_throttle", "lg_throttle"}, {Stall::memory_queue}},
                                      {{"dispatch_stall"}, {Stall::dispatch}},
                                      {{"no_instruction"}, {Stall::no_instruction}},
                                      {{"imc_miss"}, {Stall::constant_miss}},
                                      {{"drain"}, {}}};
  return all;
}

std::vector<double> shares(std::vector<double> of) {
  const double sum = std::accumulate(of.begin(), of.end(), 0.0);
  for (double& each : of) each /= sum;
  return of;
}

struct Stack {
  std::vector<double> counted, model;  // by state; sum to 1

  // 0: the same; 1: nothing in common.
  [[nodiscard]] double distance() const {
    double sum = 0;
    for (std::size_t i = 0; i < counted.size(); ++i) sum += std::abs(counted[i] - model[i]) / 2;
    return sum;
  }
};

Stack stack_of(const MeasuredData& data, const MeasuredRow& row, const MeasuredCase& one, const arch::GpuSpec& gpu,
               gpu::SmCache& cache) {
  RowView view(data, row);
  gpu::SimOptions options;
  options.l2 = gpu::L2State::empty;
  options.sm_clock_mhz =
      view.positive("sm__cycles_elapsed.max").value_or(0) / (view.positive("time_ms").value_or(1) * 1e-3) * 1e-6;
  const Result<gpu::SimReport> report = gpu::simulate(gpu, one.config, one.shape, options, cache);
  EXPECT_TRUE(report) << to_string(report.errors());
  Stack out;
  for (const State& state : states()) {
    double counted = 0, model = 0;
    for (const char* name : state.counted)
      counted += view.positive("smsp__average_warps_issue_stalled_" + std::string(name) + "_per_issue_active.ratio")
                     .value_or(0);
    for (const Stall stall : state.model) model += report ? report->stalls[static_cast<std::size_t>(stall)] : 0;
    out.counted.push_back(counted);
    out.model.push_back(model);
  }
  return {shares(std::move(out.counted)), shares(std::move(out.model))};
}

// Whether its CTAs give each SM some.
bool fills(const MeasuredCase& one) { return one.shape.m * one.shape.n >= 256 * 256; }

const std::map<std::string, std::vector<Stack>>& stacks_by_family() {
  static const std::map<std::string, std::vector<Stack>> all = [] {
    std::map<std::string, std::vector<Stack>> out;
    each_counted_launch([&](const MeasuredData& data, const MeasuredRow& row, const MeasuredCase& one,
                            const arch::GpuSpec& gpu, gpu::SmCache& cache) {
      if (!fills(one)) return;
      const std::string family(RowView(data, row).text("family"));
      out[family].push_back(stack_of(data, row, one, gpu, cache));
    });
    return out;
  }();
  return all;
}

// The mean over launches of what `value` gives.
template <class Value>
double mean_of(const std::vector<Stack>& stacks, const Value& value) {
  double sum = 0;
  for (const Stack& stack : stacks) sum += value(stack);
  return sum / static_cast<double>(stacks.size());
}

TEST(StallCounters, StacksAreNearThoseCounted) {
  const std::map<std::string, double> within{{"naive", 0.15}, {"blocked", 0.183}, {"cutlass_simt", 0.127}};
  for (const auto& [family, most] : within) {
    const std::vector<Stack>& stacks = stacks_by_family().at(family);
    EXPECT_GE(stacks.size(), 14U) << family;
    const double distance = mean_of(stacks, [](const Stack& s) { return s.distance(); });
    RecordProperty("distance_" + family, std::to_string(distance));
    EXPECT_LE(distance, most) << family;
    EXPECT_LE(mean_of(stacks, [](const Stack& s) { return std::abs(s.model[0] - s.counted[0]); }), 0.04) << family;
    EXPECT_LE(mean_of(stacks, [](const Stack& s) { return std::abs(s.model[1] - s.counted[1]); }), 0.075) << family;
  }
}

}  // namespace
}  // namespace noteg::validate
