// CLBlast's Xgemm: counts that follow from its parameters, its rules, and what shared memory and merging make of its
// accesses.
#include <gtest/gtest.h>

#include "kernels/access/wavefronts.hpp"
#include "kernels/config/config_file.hpp"
#include "kernels/families/build.hpp"
#include "kernels/families/clblast/clblast_plan.hpp"

namespace noteg::kernels {
namespace {

KernelConfig clblast(int mwg, int nwg) {
  KernelConfig c;
  c.family = Family::clblast;
  c.layout = Layout::tn;
  c.tile = {nwg, mwg, 32};
  c.clblast = {.mdimc = 16, .ndimc = 8, .mdima = 16, .ndimb = 32, .kwi = 2, .vwm = 4, .vwn = 2};
  return c;
}

std::int64_t executed(const Program& p, Opcode op, std::int64_t iterations) {
  std::int64_t count = 0;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(p.code.size()); ++at) {
    if (p.code[static_cast<std::size_t>(at)].op != op) continue;
    std::int64_t times = 1;
    for (const Loop& loop : p.loops)
      if (loop.begin <= at && at <= loop.branch) times *= loop.is_main ? iterations : loop.iterations;
    count += times;
  }
  return count;
}

Program built(const KernelConfig& config) {
  BuildRequest request;
  request.config = *resolve(config, {1024, 1024, 1024, 1});
  return *build_program(request);
}

TEST(Clblast, MultipliesEveryElementOfItsTileOnce) {
  const Program p = built(clblast(128, 64));
  // 8 x 8 results a thread, 32 k an iteration.
  EXPECT_EQ(executed(p, Opcode::ffma, 1), 8 * 8 * 32);
  EXPECT_EQ(p.warps, 4);
  EXPECT_EQ(p.shared_bytes, 4 * 32 * (128 + 64));
}

TEST(Clblast, StagedOperandsComeThroughSharedMemoryOthersStraight) {
  KernelConfig c = clblast(128, 64);
  const Program both = built(c);
  // 128 x 32 and 64 x 32 elements by 128 threads: loads of four and of two.
  EXPECT_EQ(executed(both, Opcode::ldg, 1), 128 * 32 / 128 / 4 + 64 * 32 / 128 / 2);
  EXPECT_EQ(executed(both, Opcode::bar_sync, 1), 2);
  c.clblast.sa = c.clblast.sb = false;
  const Program none = built(c);
  EXPECT_EQ(executed(none, Opcode::lds, 1) + executed(none, Opcode::sts, 1) + executed(none, Opcode::bar_sync, 1), 0);
  EXPECT_EQ(executed(none, Opcode::ldg, 1), 32 * (8 / 4 + 8 / 2));
  EXPECT_EQ(none.shared_bytes, 0);
}

TEST(Clblast, ReadsVectorsAsTheSourceDeclaresThem) {
  KernelConfig c = clblast(128, 64);
  c.clblast.sa = false;
  EXPECT_EQ(executed(built(c), Opcode::lds, 1), 32 * (8 / 2));
  c.clblast.sa = true;
  c.clblast.vwm = c.clblast.vwn = 1;
  EXPECT_EQ(executed(built(c), Opcode::lds, 1), 32 * (8 + 8));
}

// Behind vectors of A in shared memory the compiler knows B's elements aligned.
TEST(Clblast, NeighboursOfBMergeBehindVectorsOfA) {
  KernelConfig c = clblast(128, 64);
  c.clblast.ndimb = 16;
  for (const int vwn : {1, 2, 4}) {
    c.clblast.vwn = vwn;
    EXPECT_EQ(executed(built(c), Opcode::lds, 1), 32 * (8 / 4 + 8 / 4)) << vwn;
  }
  c.clblast.vwn = 2;
  c.clblast.strn = true;  // no neighbours
  EXPECT_EQ(executed(built(c), Opcode::lds, 1), 32 * (8 / 4 + 8 / 2));
}

// Otherwise all warps would load at the same time and multiply at the same time.
TEST(Clblast, LoadsStandBetweenProducts) {
  const Program p = built(clblast(128, 64));
  int products = 0, late = 0;
  for (std::int32_t at = p.mainloop_begin; at < p.epilogue_begin; ++at) {
    const Opcode op = p.code[static_cast<std::size_t>(at)].op;
    products += op == Opcode::ffma ? 1 : 0;
    late += op == Opcode::lds && products > 0 ? 1 : 0;
  }
  EXPECT_GT(products, 8 * 8 * 2);  // of more steps than the source unrolls
  EXPECT_GE(late, products / 64 * (2 + 2) - 2 * (2 + 2));
}

// 256 results a thread: the compiler spills, which is not modelled.
TEST(Clblast, MoreAccumulatorsThanRegistersAreRefused) {
  BuildRequest request;
  request.config = clblast(128, 128);
  request.config.clblast.mdimc = request.config.clblast.ndimc = 8;
  request.config = *resolve(request.config, {1024, 1024, 1024, 1});
  EXPECT_FALSE(build_program(request));
}

TEST(Clblast, RulesAreThoseOfItsTuner) {
  const auto message = [](const KernelConfig& c) {
    const auto resolved = resolve(c, {1024, 1024, 1024, 1});
    return resolved ? std::string() : resolved.errors().front().to_string();
  };
  KernelConfig c = clblast(64, 64);
  c.clblast.vwm = 8;
  EXPECT_EQ(message(c), "mdimc: expected a divisor of MWG by MDIMC x VWM = 64, found 128");
  c = clblast(128, 64);
  c.layout = Layout::nn;
  EXPECT_NE(message(c).find("layout: expected tn"), std::string::npos);
  c = clblast(128, 64);
  c.family = Family::simt;
  EXPECT_NE(message(c).find("family: expected clblast"), std::string::npos);
}

TEST(Clblast, FilesReadBackAsTheyWere) {
  const KernelConfig c = *resolve(clblast(128, 64), {1024, 1024, 1024, 1});
  EXPECT_EQ(*resolve(*read_kernel_text(to_yaml(c, ""), "c.yaml"), {1024, 1024, 1024, 1}), c);
}

}  // namespace
}  // namespace noteg::kernels
