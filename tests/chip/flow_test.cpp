// Laws of the flow of CTAs through an SM, and what it may not depend on.
#include "sim/chip/flow.hpp"

#include <array>

#include "tests/chip/chip_setup.hpp"

namespace noteg::chip {
namespace {

// Three slots that share one rate, whoever is at work.
FlowRequest even_flow(std::int64_t ctas) {
  FlowRequest r;
  r.rate = [](std::size_t, const std::vector<int>&) { return 0.01; };
  r.alone = 0.01;
  r.shares = {1, 1, 1};
  r.done = {0, 0, 0};
  r.trips = 100;
  r.ctas = ctas;
  return r;
}

TEST(Flow, AtOneRateWorkTakesItsShareOfTime) {
  for (const std::int64_t ctas : {3, 4, 17, 60}) {
    FlowRequest r = even_flow(ctas);
    EXPECT_NEAR(flow_time(r).cycles, static_cast<double>(ctas) * 100 / 0.01, 1e-3);
    r.shares = {1, 2, 5};  // who is favoured does not matter to all of them together
    EXPECT_NEAR(flow_time(r).cycles, static_cast<double>(ctas) * 100 / 0.01, 1e-3);
  }
}

// A CTA that hardly moves beside the others does when they have ended.
TEST(Flow, StarvedCtasComeToAnEnd) {
  FlowRequest r = even_flow(12);
  r.shares = {0.1, 10, 20};
  EXPECT_NEAR(flow_time(r).cycles, 12 * 100 / 0.01, 1e-3);
}

TEST(Flow, WhatIsDoneBeforeIsNotDoneAgain) {
  FlowRequest r = even_flow(6);
  r.done = {10, 20, 30};
  r.began = 5000;
  EXPECT_NEAR(flow_time(r).cycles, 5000 + (600 - 60) / 0.01, 1e-3);
}

TEST(Flow, GapsAndEndsCost) {
  FlowRequest r = even_flow(30);
  r.shares = {1, 2, 3};
  const double without = flow_time(r).cycles;
  r.end = {700, 700};
  EXPECT_NEAR(flow_time(r).cycles, without + 700, 1e-3);
  r.gap = {1000, 1000};
  r.gap_trips = 2;
  EXPECT_GT(flow_time(r).cycles,
            without + 700 + 27 * 1.5 / 0.01);  // two trips' worth for each CTA that follows another
  EXPECT_LT(flow_time(r).cycles, without + 700 + 27 * 1000 + 27 * 2 / 0.01);
}

TEST(Flow, FewCtasInTheirLoopsAreSlower) {
  FlowRequest r = even_flow(31);
  const double even = flow_time(r).cycles;
  r.rate = [](std::size_t, const std::vector<int>& at_work) { return std::array{0.004, 0.008, 0.01}[at_work[0] - 1u]; };
  r.alone = 0.004;
  EXPECT_GT(flow_time(r).cycles, even);
  EXPECT_LT(flow_time(r).cycles, even + 100 / 0.004 + 100 / 0.008);
}

TEST(Flow, VeryManyCtasGoOnAsManyDo) {
  FlowRequest r = even_flow(2000);
  r.shares = {1, 2, 3};
  r.gap = {500, 500};
  r.gap_trips = 1;
  const double many = flow_time(r).cycles;
  r.ctas = 200000;
  EXPECT_NEAR(flow_time(r).cycles / many, 100, 0.2);
}

// Whoever ends or begins does so in the midst of the others.
TEST(Flow, OthersHoldUpWhatLiesOutsideTheLoops) {
  FlowRequest r = even_flow(30);
  r.shares = {1, 2, 3};
  r.gap = {1000, 1000};
  r.gap_trips = 2;
  r.end = {700, 700};
  const double alone = flow_time(r).cycles;
  r.end.among_all = 2100;
  const double ends = flow_time(r).cycles;
  EXPECT_GE(ends, alone);
  EXPECT_LE(ends, alone + 1400);
  r.gap.among_all = 3000;
  EXPECT_GT(flow_time(r).cycles, ends - 1400);
  EXPECT_LT(flow_time(r).cycles, ends + 27 * 2000);
}

// CTAs of two warps: those in even slots lie on other sub-cores than those in odd ones and do not share with them.
TEST(Flow, GroupsOfSlotsRunBesideEachOther) {
  FlowRequest r;
  r.groups = 2;
  r.rate = [](std::size_t, const std::vector<int>&) { return 0.01; };
  r.alone = 0.01;
  r.shares = {1, 1, 1};
  r.done = {0, 0, 0};
  r.trips = 100;
  r.ctas = 3;
  EXPECT_NEAR(flow_time(r).cycles, 2 * 100 / 0.01, 1e-3);  // the two on the same sub-cores
  r.ctas = 4;                                              // the fourth follows the one that was alone
  EXPECT_NEAR(flow_time(r).cycles, 2 * 100 / 0.01, 1e-3);
}

// Seven CTAs in step: the seventh takes one of three slots that end together, the others stay empty.
TEST(Flow, SlotsInStepFallEmptyTogether) {
  FlowRequest r = even_flow(7);
  EXPECT_EQ(flow_time(r).emptied_together, 2);
  r.shares = {1, 2, 4};
  EXPECT_EQ(flow_time(r).emptied_together, 0);
}

// Two CTAs on an SM, eight rounds of them, and loads of both kinds.
TEST(Flow, ThreadsDoNotShow) {
  const arch::GpuSpec gpu = gpu_of("rtx3090");
  const kernels::GemmShape shape{4096, 4096, 600, 1};
  SimOptions several;
  several.jobs = 3;
  const SimReport one = run(gpu, "blocked_sgemm_128x128x8_t8x8_db", shape);
  const SimReport more = run(gpu, "blocked_sgemm_128x128x8_t8x8_db", shape, several);
  EXPECT_EQ(one.cycles, more.cycles);
  EXPECT_EQ(one.power_w, more.power_w);
  EXPECT_EQ(one.engine.simulated_warp_instructions, more.engine.simulated_warp_instructions);
}

// What is stepped through grows neither with K nor with the number of tiles.
TEST(Flow, CostDoesNotGrow) {
  const arch::GpuSpec gpu = gpu_of("rtx4070");
  const SimReport small = run(gpu, "ampere_sgemm_64x64_nn", {4096, 4096, 1024, 1});
  const SimReport large = run(gpu, "ampere_sgemm_64x64_nn", {16384, 16384, 16384, 1});
  EXPECT_LT(large.engine.simulated_warp_instructions, 6e5);
  EXPECT_LT(large.engine.simulated_warp_instructions, 1.5 * small.engine.simulated_warp_instructions);
}

}  // namespace
}  // namespace noteg::chip
