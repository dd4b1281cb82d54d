// The laws of the waterfall, on a model of three lines: time is work over SMs and clock, and a run fails on demand.
#include "sim/compare/waterfall.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arch/load.hpp"

namespace noteg::compare {
namespace {

using kernels::Family;

kernels::KernelConfig kernel_of(Family family) {
  kernels::KernelConfig kernel;
  kernel.family = family;
  return kernel;
}

// wgmma needs TMA; an mma kernel takes half as long as a simt one.
Result<double> toy(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel) {
  if (kernel.family == Family::wgmma && !gpu.sm.has_tma) return Diagnostic{"", 0, 0, "family", "TMA", "none"};
  const double rate = gpu.sms * gpu.clock.sustained.value * std::cbrt(gpu.l2.size.value) / gpu.sm.cta_launch.value *
                      std::sqrt(gpu.dram.bandwidth.value) / gpu.power.limit.value;
  return 1e18 / rate / (kernel.family == Family::simt ? 1 : 2);
}

struct Gpus : testing::Test {
  arch::GpuSpec ampere = *arch::load_gpu("a100-pcie-40gb"), ada = *arch::load_gpu("l4"),
                hopper = *arch::load_gpu("h100-sxm5-80gb");
  static Side side(const arch::GpuSpec& gpu, Family family) {
    return {gpu.id, &gpu, kernel_of(family), *toy(gpu, kernel_of(family))};
  }
};

double product(const Waterfall& w) {
  double all = 1;
  for (const Step& step : w.steps) all *= step.ratio;
  return all;
}

void expect_exact(const Waterfall& w) {
  ASSERT_FALSE(w.steps.empty());
  EXPECT_EQ(w.steps.back().time_us, w.to_us);
  EXPECT_NEAR(product(w) / w.ratio(), 1, 8 * std::numeric_limits<double>::epsilon());
}

TEST_F(Gpus, StepsMultiplyToTheWholeRatio) {
  for (const arch::GpuSpec* to : {&ada, &hopper}) {
    const Waterfall w = waterfall(side(ampere, Family::simt), side(*to, Family::simt), {toy, {}});
    ASSERT_EQ(w.steps.size(), arch::field_group_count);
    EXPECT_EQ(w.steps.front().group, "SM core");
    EXPECT_EQ(w.steps.back().group, "power");
    expect_exact(w);
  }
}

TEST_F(Gpus, TakingEveryGroupMakesTheOtherGpu) {
  arch::GpuSpec gpu = ampere;
  for (std::size_t i = 0; i < arch::field_group_count; ++i)
    arch::take_group(gpu, hopper, static_cast<arch::FieldGroup>(i));
  const arch::GpuSpec* both[] = {&gpu, &hopper};
  EXPECT_TRUE(arch::differences(both).empty());
  EXPECT_EQ(gpu.sm.name, "sm_90");
}

TEST_F(Gpus, OneGroupMovesOnlyItsFields) {
  arch::GpuSpec gpu = ada;
  arch::take_group(gpu, hopper, arch::FieldGroup::l2);
  const arch::GpuSpec* both[] = {&ada, &gpu};
  for (const arch::Difference& one : arch::differences(both)) EXPECT_TRUE(one.field->key.starts_with("l2."));
}

TEST_F(Gpus, ACopyDiffersInOneStepOnly) {
  arch::GpuSpec more = ada;
  more.sms *= 2;
  const Waterfall w = waterfall(side(ada, Family::simt), side(more, Family::simt), {toy, {}});
  for (const Step& step : w.steps) {
    EXPECT_EQ(step.fields_changed, step.group == "SM count" ? 1 : 0);
    EXPECT_DOUBLE_EQ(step.ratio, step.group == "SM count" ? 0.5 : 1);
  }
}

// Half the power limit is half the clock: it is in the first and in the last step, and in no other.
TEST_F(Gpus, PowerIsOneStepBehindAllOthers) {
  arch::GpuSpec held = ada;
  held.power.limit = held.power.limit * 0.5;
  const auto time = [&](double power, const arch::GpuSpec& gpu) { return 1e6 / gpu.sms / std::min(1.0, power); };
  const RunKernel as_asked = [&](const arch::GpuSpec& gpu, const kernels::KernelConfig&) -> Result<double> {
    return time(gpu.power.limit / ada.power.limit, gpu);
  };
  const RunKernel at_burst = [&](const arch::GpuSpec& gpu, const kernels::KernelConfig&) -> Result<double> {
    return time(1, gpu);
  };
  arch::GpuSpec more = ada;
  more.sms *= 2;
  const kernels::KernelConfig kernel = kernel_of(Family::simt);
  const Waterfall w = waterfall({"held", &held, kernel, *as_asked(held, kernel)},
                                {"more", &more, kernel, *as_asked(more, kernel)}, {as_asked, at_burst});
  expect_exact(w);
  EXPECT_EQ(w.steps.front().group, "burst clock");
  EXPECT_DOUBLE_EQ(w.steps.front().ratio, 0.5);
  for (const Step& step : w.steps)
    EXPECT_DOUBLE_EQ(step.ratio, step.group == "SM count" || step.group == "burst clock" ? 0.5 : 1);
}

TEST_F(Gpus, KernelsAreExchangedWhereTheMachineRunsThem) {
  const Waterfall last = waterfall(side(ampere, Family::mma), side(hopper, Family::wgmma), {toy, {}});
  EXPECT_EQ(last.steps[last.steps.size() - 2].group, "kernel");
  EXPECT_EQ(last.steps.back().group, "power");
  expect_exact(last);
  const Waterfall first = waterfall(side(hopper, Family::wgmma), side(ada, Family::mma), {toy, {}});
  EXPECT_EQ(first.steps.front().group, "kernel");
  expect_exact(first);
}

TEST_F(Gpus, AStepThatCannotRunJoinsTheNext) {
  const auto picky = [](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel) -> Result<double> {
    if (gpu.sm.has_tma && gpu.sms < 120) return Diagnostic{"", 0, 0, "sms", "more", "fewer"};
    return toy(gpu, kernel);
  };
  const Waterfall w = waterfall(side(ampere, Family::simt), side(hopper, Family::simt), {picky, {}});
  EXPECT_EQ(w.steps.front().group, "SM core + SM count");
  expect_exact(w);
}

}  // namespace
}  // namespace noteg::compare
