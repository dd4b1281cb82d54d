// Laws of the flow of CTAs through an SM, and what it may not depend on.
#include "sim/chip/flow.hpp"

#include <array>

#include "tests/chip/chip_setup.hpp"

namespace noteg::chip {
namespace {

// The same whoever is beside it.
FlowRequest::Outside even_way(double cycles) { return {cycles, cycles, {cycles, cycles, cycles}}; }

// Three slots that share one rate, whoever is at work.
FlowRequest even_flow(std::int64_t ctas) {
  FlowRequest r;
  r.rate = [](std::size_t, const std::vector<int>&) { return 0.01; };
  r.alone = 0.01;
  r.shares = {1, 1, 1};
  r.done = {0, 0, 0};
  r.trips = 100;
  r.gap = r.end = even_way(0);
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
  r.end = even_way(700);
  EXPECT_NEAR(flow_time(r).cycles, without + 700, 1e-3);
  r.gap = even_way(1000);
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
  r.gap = even_way(500);
  r.gap_trips = 1;
  const double many = flow_time(r).cycles;
  r.ctas = 200000;
  EXPECT_NEAR(flow_time(r).cycles / many, 100, 0.2);
}

// Whoever ends or begins does so in the midst of the others.
TEST(Flow, OthersHoldUpWhatLiesOutsideTheLoops) {
  FlowRequest r = even_flow(30);
  r.shares = {1, 2, 3};
  r.gap = even_way(1000);
  r.gap_trips = 2;
  r.end = even_way(700);
  const double alone = flow_time(r).cycles;
  r.end = {700, 2100, {2100, 2100, 2100}};
  const double ends = flow_time(r).cycles;
  EXPECT_GE(ends, alone);
  EXPECT_LE(ends, alone + 1400);
  r.gap = {1000, 3000, {3000, 3000, 3000}};
  EXPECT_GT(flow_time(r).cycles, ends - 1400);
  EXPECT_LT(flow_time(r).cycles, ends + 27 * 2000);
}

// Those that start together end together and do not keep each other from it; where the others go on in their loops,
// they do.
TEST(Flow, LoopsHoldUpEndsMoreThanEndsDo) {
  FlowRequest together = even_flow(3), apart = together;
  apart.shares = {1, 2, 5};
  const double before = flow_time(apart).cycles;
  together.end = apart.end = {700, 700, {9000, 9000, 9000}};
  EXPECT_NEAR(flow_time(together).cycles, 3 * 100 / 0.01 + 700, 1e-3);
  EXPECT_NEAR(flow_time(apart).cycles, before + 700, 1e-3);  // the last has nobody beside it
  together.ctas = apart.ctas = 6;
  together.gap = apart.gap = {1000, 1000, {9000, 9000, 9000}};
  const double even = flow_time(together).cycles;
  EXPECT_NEAR(even, 6 * 100 / 0.01 + 1000 + 700, 1e-3);
  EXPECT_LT(flow_time(apart).cycles, even);
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
  r.gap = r.end = even_way(0);
  r.ctas = 3;
  EXPECT_NEAR(flow_time(r).cycles, 2 * 100 / 0.01, 1e-3);  // the two on the same sub-cores
  r.ctas = 4;                                              // the fourth follows the one that was alone
  EXPECT_NEAR(flow_time(r).cycles, 2 * 100 / 0.01, 1e-3);
}

// Three more for two groups of three slots that fall empty together: two and one, not three in the group that a few
// parts of a trip made first.
TEST(Flow, TheLastCtasLieEvenlyOverGroups) {
  FlowRequest r;
  r.groups = 2;
  r.rate = [](std::size_t, const std::vector<int>&) { return 0.01; };
  r.alone = 0.01;
  r.shares = {1, 1, 1, 1, 1, 1};
  r.gap = r.end = {0, 0, std::vector<double>(6, 0)};
  r.done = {0.5, 0, 0.5, 0, 0.5, 0};
  r.trips = 100;
  r.ctas = 9;
  const double even = flow_time(r).cycles;
  EXPECT_NEAR(even, 5 * 100 / 0.01, 2 / 0.01);
  r.done = {50, 0, 50, 0, 50, 0};  // these are first indeed
  EXPECT_NEAR(flow_time(r).cycles, (6 * 100 - 150) / 0.01, 1e-3);
}

// Seven CTAs in step: the seventh takes one of three slots that end together, the others stay empty.
TEST(Flow, SlotsInStepFallEmptyTogether) {
  FlowRequest r = even_flow(7);
  EXPECT_EQ(flow_time(r).emptied_together, 2);
  r.shares = {1, 2, 4};
  EXPECT_EQ(flow_time(r).emptied_together, 0);
}

// Loads of both kinds: two CTAs on an SM in eight rounds of them, which follow from rates; and tensor cores, whose
// rounds and first looks are runs of their own.
TEST(Flow, ThreadsDoNotShow) {
  SimOptions several;
  several.jobs = 3;
  const auto compare = [&](const std::string& on, const std::string& kernel, const kernels::GemmShape& shape) {
    const arch::GpuSpec gpu = gpu_of(on);
    const SimReport one = run(gpu, kernel, shape), more = run(gpu, kernel, shape, several);
    EXPECT_EQ(one.cycles, more.cycles);
    EXPECT_EQ(one.power_w, more.power_w);
    EXPECT_EQ(one.engine.simulated_warp_instructions, more.engine.simulated_warp_instructions);
  };
  compare("rtx3090", "blocked_sgemm_128x128x8_t8x8_db", {4096, 4096, 600, 1});
  compare("h800-pcie", "ampere_h16816gemm_128x128_ldg8_stages_32x5_tn", {3504, 10424, 1216, 1});
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
