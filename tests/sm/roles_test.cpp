// Warp roles: each warp runs the stream of its own role, and barriers still join all of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "arch/load.hpp"
#include "kernels/assembly/assembly.hpp"
#include "sim/sm/sm.hpp"

namespace noteg::sm {
namespace {

CoreCounters counted(std::string_view text) {
  const Result<kernels::Program> program = kernels::parse_assembly(text, "roles.nsass");
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  EXPECT_TRUE(program && gpu);
  if (!program || !gpu) return {};
  SmWork work;
  work.iterations = 5;
  const SmResult result = run_sm(decode(*program, gpu->sm), gpu->sm, {}, {}, work);
  EXPECT_FALSE(result.deadlock);
  return result.counters;
}

double issued(const CoreCounters& counters, kernels::Opcode op) {
  return counters.issued[static_cast<std::size_t>(op)];
}

TEST(Roles, EachWarpRunsItsOwnStream) {
  const CoreCounters c = counted(R"(
.role copy warps=0-0
a:
[B------:R-:W0:-:S02] LDG.E R4, [R8.64]
[B0-----:R-:W-:-:S02] STS [R9], R4
BAR.SYNC 0x0
BRA a
EXIT
.role math warps=1-4
b:
[B------:R-:W-:-:S04] FFMA R0, R1, R2, R0
BAR.SYNC 0x0
BRA b
EXIT
)");
  EXPECT_EQ(issued(c, kernels::Opcode::ldg), 5);
  EXPECT_EQ(issued(c, kernels::Opcode::ffma), 5 * 4);
  EXPECT_EQ(issued(c, kernels::Opcode::bar_sync), 5 * 5);
  EXPECT_EQ(issued(c, kernels::Opcode::exit), 5);
}

// H200M, warp_placement: the first warp of each of eight CTAs multiplies, the others wait for it. Two of them share a
// sub-core where CTAs begin on one after the other, four where on every second.
TEST(Roles, TheFirstWarpsOfCtasSpreadOverTheSubCores) {
  std::ifstream file(NOTEG_SOURCE_DIR "/tests/data/h200_memory_micro.csv");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    int warps = 0, ctas = 0;
    double measured = 0;
    if (std::sscanf(line.c_str(), "warp_placement,warps=%d;ctas=%d;busy=warp 0,%lf", &warps, &ctas, &measured) != 3)
      continue;
    std::string text = ".role busy warps=0-0\na:\n";
    for (int i = 0; i < 128; ++i)
      text += "[B------:R-:W-:-:S01] FFMA R" + std::to_string(2 * (i % 8)) + ", R20, R22, R24\n";
    text += "BRA a\nBAR.SYNC 0x0\nEXIT\n";
    if (warps > 1) text += ".role others warps=1-" + std::to_string(warps - 1) + "\nBAR.SYNC 0x0\nEXIT\n";
    const Result<kernels::Program> program = kernels::parse_assembly(text, "placed.nsass");
    const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
    ASSERT_TRUE(program && gpu) << to_string(program.errors());
    const auto cycles = [&](int resident) {
      const SmWork work{.resident = resident, .ctas = resident, .iterations = 50};
      return run_sm(decode(*program, gpu->sm), gpu->sm, {}, {}, work).cycles;
    };
    const double alone = 84.4;  // measured; a sub-core that two share takes 145 cycles
    EXPECT_NEAR(cycles(ctas) / cycles(1), measured / alone, 0.25 * measured / alone) << line;
    ++rows;
  }
  EXPECT_GT(rows, 30);
}

SmResult run_ctas(const std::string& text, const SmWork& work, const MemoryPort& port = {}) {
  const Result<kernels::Program> program = kernels::parse_assembly(text, "ctas.nsass");
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  EXPECT_TRUE(program && gpu);
  return run_sm(decode(*program, gpu->sm), gpu->sm, {}, port, work);
}

// Seven of eight warps end at once. Where four CTAs have room, there are more at a time behind the first that ends; not
// where all warps stay.
TEST(Roles, WarpsThatHaveEndedLeaveRoomForTheNextCtas) {
  const auto cycles = [](const std::string& others, int slots) {
    const std::string load = "[B------:R-:W0:-:S02] LDG.E R4, [R8.64]\n[B0-----:R-:W-:-:S02] NOP\n";
    const SmWork work{.resident = 4, .slots = slots, .ctas = 64, .iterations = 20, .start_interval = 100};
    MemoryPort port;
    port.latency = 500;
    const SmResult result =
        run_ctas(".role long warps=0-0\na:\n" + load + "BRA a\nEXIT\n.role others warps=1-7\n" + others, work, port);
    EXPECT_EQ(result.ctas, 64);
    EXPECT_FALSE(result.deadlock);
    return result.cycles;
  };
  const std::string end = "EXIT\n", stay =
                                        "b:\n[B------:R-:W0:-:S02] LDG.E R4, [R8.64]\n[B0-----:R-:W-:-:S02] NOP\n"
                                        "BRA b\nEXIT\n";
  EXPECT_LT(cycles(end, 16), 0.6 * cycles(end, 4));
  EXPECT_EQ(cycles(end, 0), cycles(end, 4));
  EXPECT_NEAR(cycles(stay, 16), cycles(stay, 4), 0.02 * cycles(stay, 4));
}

// --- when CTAs start and end ---------------------------------------------------------------------------------

// An H200 starts eight CTAs of an SM in 133 cycles and sees 1,056 of all SMs end in 1,280 (h200_memory_micro,
// cta_starts and memory_used). What follows an end may go on meanwhile.
TEST(Ctas, AreSeenToEndOneAfterTheOther) {
  const std::string text = ".role all warps=0-0\n[B------:R-:W-:-:S04] FADD R0, R1, R2\nEXIT\n";
  SmWork work{.resident = 8, .ctas = 8, .start_interval = 20, .end_interval = 158};
  const double together = run_ctas(text, work).cycles;
  EXPECT_GE(together, 7 * 158);
  work.end_slack = 300;
  EXPECT_NEAR(run_ctas(text, work).cycles, together - 300, 1);
  work.end_interval = 0;
  EXPECT_LT(run_ctas(text, work).cycles, 7 * 20 + 100);
  // Those that follow come no faster than the chip sees their predecessors end.
  work = {.resident = 8, .ctas = 80, .start_interval = 20, .end_interval = 158};
  EXPECT_GE(run_ctas(text, work).cycles, 79 * 158);
}

// What a CTA stores last lies in the load/store unit yet when its warp has ended.
TEST(Ctas, KeepTheirPlaceUntilTheirStoresHaveLeft) {
  const std::string end = "EXIT\n", store = "[B------:R-:W-:-:S02] STG.E.128 [R2.64], R4\n";
  const auto cycles = [&](const std::string& body) {
    return run_ctas(".role all warps=0-0\n" + body + end, {.resident = 1, .ctas = 1}).cycles;
  };
  EXPECT_GT(cycles(store), cycles("[B------:R-:W-:-:S02] FADD R0, R1, R2\n") + 15);
}

TEST(Roles, TheLeadingWarpTellsTheMainLoopWhicheverItIs) {
  Result<kernels::Program> program = kernels::parse_assembly(R"(
.role early warps=0-0
EXIT
.role rest warps=1-3
[B------:R-:W-:-:S04] FADD R0, R1, R2
b:
[B------:R-:W-:-:S04] FFMA R0, R1, R2, R0
[B------:R-:W-:-:S04] FFMA R0, R1, R2, R0
BRA b
EXIT
)",
                                                             "roles.nsass");
  const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
  ASSERT_TRUE(program && gpu);
  program->lead_warp = 1;
  program->mainloop_begin = program->loops.front().begin;
  program->epilogue_begin = program->loops.front().branch + 1;
  SmWork work;
  work.iterations = 100;
  const CoreCounters c = run_sm(decode(*program, gpu->sm), gpu->sm, {}, {}, work).counters;
  EXPECT_GT(c.mainloop_cycles, 800);
  EXPECT_LT(c.lead_epilogue_cycles, 100);
}

TEST(Roles, ATakenForwardBranchCostsANewFetch) {
  const auto cycles = [](std::string_view target) {
    const std::string text = "[B------:R-:W-:-:S05] BRA " + std::string(target) + "\nnext:\nNOP\nout:\nEXIT\n";
    const Result<kernels::Program> program = kernels::parse_assembly(text, "branch.nsass");
    const Result<arch::GpuSpec> gpu = arch::load_gpu("h200-sxm-141gb");
    EXPECT_TRUE(program && gpu);
    return run_sm(decode(*program, gpu->sm), gpu->sm, {}, {}, {}).cycles;
  };
  const double redirect = arch::load_gpu("h200-sxm-141gb")->sm.front_end.branch_redirect.value;
  EXPECT_EQ(cycles("next") - cycles("out"), redirect - 5);
}

}  // namespace
}  // namespace noteg::sm
