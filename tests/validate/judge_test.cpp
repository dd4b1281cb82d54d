// Power and energy of a row belong to the run that they were measured in, which need not be the run that was timed.
#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "sim/power/clock.hpp"
#include "sim/validate/outcome.hpp"

namespace noteg::validate {
namespace {

// A kernel of a fixed number of SM cycles that takes far more than the limit at the highest clock.
gpu::SimReport heavy_kernel(double clock_mhz) {
  gpu::SimReport report;
  report.activity_at = [](Hertz clock) {
    power::Activity activity;
    activity.issued[static_cast<std::size_t>(kernels::Opcode::ffma)] = 1.2e8;
    activity.time = Cycles{6e4} / clock;
    return activity;
  };
  report.time_us = report.activity_at(Hertz{clock_mhz * 1e6}).time.value * 1e6;
  report.power_w = 5000;
  report.energy_mj = report.power_w * report.time_us * 1e-3;
  return report;
}

MeasuredCase row(bool own_power_run) {
  MeasuredCase measured;
  measured.options.sm_clock_mhz = 1900;
  measured.own_power_run = own_power_run;
  measured.time_ms = measured.power_w = measured.energy_j = 1;
  return measured;
}

TEST(Judge, TakesPowerFromASettledRunWhereTheRowHasOne) {
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  ASSERT_TRUE(gpu) << to_string(gpu.errors());
  const gpu::SimReport report = heavy_kernel(1900);
  const Outcome own = outcome_of(row(true), *gpu, report), same = outcome_of(row(false), *gpu, report);
  EXPECT_NEAR(own.power_w->predicted, gpu->power.limit.value, 1);
  EXPECT_EQ(same.power_w->predicted, report.power_w);
  EXPECT_EQ(own.time_ms->predicted, same.time_ms->predicted);
  // Energy is that of the slower, settled run.
  EXPECT_GT(own.energy_j->predicted, own.power_w->predicted * report.time_us * 1e-6);
}

}  // namespace
}  // namespace noteg::validate
