// What the compiler makes of CLBlast's source: how far loops are unrolled, which occupancy registers are budgeted for,
// how far loads run ahead. Expected values are those of nvcc 13 for sm_86.
#include <gtest/gtest.h>

#include "kernels/families/build.hpp"
#include "kernels/families/clblast/clblast_plan.hpp"

namespace noteg::kernels {
namespace {

struct Choice {
  int mwg, nwg, mdimc, ndimc, vwm, vwn;
  bool sa, sb;
};

KernelConfig config_of(const Choice& c) {
  KernelConfig out;
  out.family = Family::clblast;
  out.layout = Layout::tn;
  out.tile = {c.nwg, c.mwg, 32};
  out.clblast = {.mdimc = c.mdimc, .ndimc = c.ndimc, .mdima = 16, .ndimb = 16, .kwi = 2, .vwm = c.vwm, .vwn = c.vwn};
  out.clblast.sa = c.sa;
  out.clblast.sb = c.sb;
  return *resolve(out, {1024, 1024, 1024, 1});
}

ClblastPlan plan_of(const Choice& c) { return plan_clblast(config_of(c)); }

TEST(ClblastCompiler, LoopsGoWhereLittleIsLeftOfThem) {
  EXPECT_EQ(unrolled_steps(plan_of({64, 128, 16, 8, 4, 2, true, true})), 32);
  EXPECT_EQ(unrolled_steps(plan_of({64, 128, 16, 8, 4, 4, true, true})), 2);
  EXPECT_EQ(unrolled_steps(plan_of({128, 128, 16, 8, 8, 2, true, true})), 2);
  EXPECT_EQ(unrolled_steps(plan_of({128, 64, 32, 8, 4, 4, false, true})), 32);
  EXPECT_EQ(unrolled_steps(plan_of({128, 128, 16, 16, 4, 2, false, true})), 2);
  EXPECT_EQ(unrolled_steps(plan_of({64, 64, 8, 8, 8, 2, false, false})), 2);
}

// 168 registers let an SM hold three CTAs of 128 threads, as many as 100 KiB hold of 33; 128 let it hold four.
TEST(ClblastCompiler, RegistersAreBudgetedForTheCtasThatSharedMemoryHolds) {
  const LatencyModel sm86;
  EXPECT_EQ(register_budget(plan_of({128, 128, 16, 8, 8, 2, true, true}), sm86), 168);
  EXPECT_EQ(register_budget(plan_of({64, 128, 16, 8, 4, 2, true, true}), sm86), 128);
  EXPECT_EQ(register_budget(plan_of({64, 64, 8, 8, 8, 2, false, false}), sm86), 96);
  LatencyModel roomy = sm86;
  roomy.shared_memory = 227 * 1024;
  EXPECT_EQ(register_budget(plan_of({128, 128, 16, 8, 8, 2, true, true}), roomy), 168);  // accumulators decide
}

TEST(ClblastCompiler, KernelsStayInTheirBudget) {
  for (const Choice& c : {Choice{128, 128, 16, 8, 8, 2, true, true}, Choice{64, 128, 16, 8, 4, 2, true, true},
                          Choice{128, 64, 32, 8, 4, 4, false, true}}) {
    BuildRequest request;
    request.config = config_of(c);
    EXPECT_LE(build_program(request)->registers, register_budget(plan_of(c), request.latency));
  }
}

// In a loop without iterations those of the first steps come before the barrier already.
TEST(ClblastCompiler, UnstagedLoadsRunAhead) {
  BuildRequest request;
  request.config = config_of({128, 64, 32, 8, 4, 4, false, true});
  const int ahead = steps_ahead(plan_clblast(request.config), plan_clblast(request.config).a,
                                register_budget(plan_clblast(request.config), request.latency));
  EXPECT_GE(ahead, 2);
  const Program p = *build_program(request);
  int loads = 0;
  for (std::int32_t at = p.mainloop_begin; p.code[static_cast<std::size_t>(at)].op != Opcode::ffma; ++at)
    loads += p.code[static_cast<std::size_t>(at)].op == Opcode::ldg ? 1 : 0;
  EXPECT_GE(loads, ahead + 2);  // two copies to shared memory
}

}  // namespace
}  // namespace noteg::kernels
