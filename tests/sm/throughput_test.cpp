// Throughput and latency of single instructions against our H200 micro-benchmarks (one CTA on one SM).
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernels/assembly/assembly.hpp"
#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm {
namespace {

std::string loop(int warps, const std::string& directives, const std::string& body) {
  return fmt::format(".warps {}\n{}loop:\n{}[B------:R-:W-:-:S01] BRA loop ;\n", warps, directives, body);
}

// --- dependent chains: cycles per instruction -------------------------------------------------------------------

struct Chain {
  const char* instruction;
  const char* control;
  double measured;
};

class DependentChain : public testing::TestWithParam<Chain> {};

TEST_P(DependentChain, HasTheMeasuredLatency) {
  std::string body;
  for (int i = 0; i < 64; ++i) body += fmt::format("[{}] {} ;\n", GetParam().control, GetParam().instruction);
  EXPECT_NEAR(cycles_per_iteration({.text = loop(1, "", body)}) / 64, GetParam().measured, 0.25);
}

INSTANTIATE_TEST_SUITE_P(H200, DependentChain,
                         testing::Values(Chain{"FFMA R4, R4, R5, R6", "B------:R-:W-:-:S04", 4.069},
                                         Chain{"FADD R4, R4, R5", "B------:R-:W-:-:S04", 4.068},
                                         Chain{"FMUL R4, R4, R5", "B------:R-:W-:-:S04", 4.068},
                                         Chain{"IMAD R4, R4, R5, R6", "B------:R-:W-:-:S04", 4.069},
                                         Chain{"LOP3.LUT R4, R4, R5, R6, 0x96, !PT", "B------:R-:W-:-:S04", 4.069},
                                         Chain{"SHF.L.U32 R4, R4, 0x1, R5", "B------:R-:W-:-:S04", 4.069},
                                         Chain{"LDS R4, [R4]", "B0-----:R-:W0:-:S02", 23.07}));

// --- constants ----------------------------------------------------------------------------------------------------

// H200M, constants: 2.02 cycles of the SM for each load, all lanes at one address.
TEST(Constants, OneUnitServesTheSm) {
  std::string body;
  for (int i = 0; i < 16; ++i) body += fmt::format("[B------:R-:W0:-:S01] LDC R{}, c[0x0][0x210] ;\n", 8 + i);
  for (const int warps : {8, 16}) {
    const double each = cycles_per_iteration({.text = loop(warps, "", body)}) / (16 * warps);
    EXPECT_NEAR(each, 2.05, 0.15) << warps;
  }
}

// --- packed halves ------------------------------------------------------------------------------------------------

// h100_sm_micro, half_pipe: 2.02 cycles alone, on the half where no IMAD runs.
TEST(PackedHalves, TakeTwoCyclesOfTheHalfWithoutIntegers) {
  std::string alone, beside;
  for (int i = 0; i < 32; ++i) {
    const std::string half = fmt::format("[B------:R-:W-:-:S01] HFMA2 R{0}, R{0}, 1.0, R3 ;\n", 8 + i % 8);
    alone += half;
    beside += half + fmt::format("[B------:R-:W-:-:S01] IMAD R{0}, R{0}, 0x3, R3 ;\n", 16 + i % 8);
  }
  EXPECT_NEAR(cycles_per_iteration({.text = loop(16, "", alone)}), 32 * 2 * 4, 8);
  EXPECT_LT(cycles_per_iteration({.text = loop(16, "", beside)}), 0.8 * 32 * (2 + 2) * 4);
}

// --- copies to shared memory --------------------------------------------------------------------------------------

struct CopyBurst {
  int rows;
  double measured;  // cycles that four copies more of each of eight warps hold a load behind them
};

class CopiesPastL1 : public testing::TestWithParam<CopyBurst> {};

// h100_sm_micro, copy_burst: a request of each row, a cycle each, and nothing passes them.
TEST_P(CopiesPastL1, HoldWhatComesBehindTheirRequests) {
  const auto load_arrives = [](int copies) {
    const int lanes = 32 / GetParam().rows;
    std::string text = fmt::format(".warps 8\n.access R2 global 16 lane/{0}*4096+lane%{0}*16\n", lanes);
    for (int i = 0; i < copies; ++i) text += "[B------:R-:W-:-:S04] LDGSTS.E.BYPASS.128 [R8], [R2] ;\n";
    text += "[B------:R-:W0:-:S02] LDS R6, [R10] ;\n[B0-----:R-:W-:-:S01] NOP ;\n[B------:R-:W-:-:S01] EXIT ;\n";
    return last_issue_before_exit({.text = text});
  };
  EXPECT_NEAR(load_arrives(8) - load_arrives(4), GetParam().measured, 0.13 * GetParam().measured);
}

INSTANTIATE_TEST_SUITE_P(H100, CopiesPastL1, testing::Values(CopyBurst{4, 115}, CopyBurst{8, 265}, CopyBurst{16, 576}));

// --- shared memory: cycles per warp instruction of the whole SM --------------------------------------------------

struct SharedRow {
  const char* mnemonic;
  int bytes;
  const char* lanes;
  int warps;
  double measured;
};

class SharedThroughput : public testing::TestWithParam<SharedRow> {};

TEST_P(SharedThroughput, TakesTheMeasuredCyclesPerInstruction) {
  const SharedRow& row = GetParam();
  const bool store = std::string(row.mnemonic).starts_with("STS");
  std::string body;
  for (int i = 0; i < 64; ++i) {
    body += store ? fmt::format("[B------:R-:W-:-:S01] {} [R2], R{} ;\n", row.mnemonic, 8 + 4 * (i % 8))
                  : fmt::format("[B------:R-:W-:-:S01] {} R{}, [R2] ;\n", row.mnemonic, 8 + 4 * (i % 8));
  }
  const std::string access = fmt::format(".access R2 shared {} {}\n", row.bytes, row.lanes);
  const double cycles = cycles_per_iteration({.text = loop(row.warps, access, body)}) / (64.0 * row.warps);
  // The benchmark's loop holds 8 accesses: its branch costs up to half a cycle for each where few warps hide it.
  const double tolerance = row.warps <= 4 ? 0.55 / std::min(row.warps, 2) : std::max(0.03 * row.measured, 0.06);
  EXPECT_NEAR(cycles, row.measured, tolerance) << row.mnemonic << " " << row.lanes << " " << row.warps << " warps";
}

INSTANTIATE_TEST_SUITE_P(
    H200, SharedThroughput,
    testing::Values(SharedRow{"LDS", 4, "lane*4", 4, 1.127}, SharedRow{"LDS", 4, "lane*4", 8, 1.039},
                    SharedRow{"LDS", 4, "lane*4", 32, 1.013}, SharedRow{"LDS.64", 8, "lane*8", 8, 2.032},
                    SharedRow{"LDS.64", 8, "lane*8", 32, 2.009}, SharedRow{"LDS.64", 8, "lane*8", 4, 2.206},
                    SharedRow{"LDS.128", 16, "lane*16", 4, 4.082}, SharedRow{"LDS.128", 16, "lane*16", 8, 4.034},
                    SharedRow{"LDS.128", 16, "lane*16", 32, 4.015}, SharedRow{"LDS", 4, "0", 8, 1.040},
                    SharedRow{"LDS", 4, "0", 32, 1.013}, SharedRow{"LDS.128", 16, "0", 8, 2.061},
                    SharedRow{"LDS.128", 16, "0", 16, 2.026}, SharedRow{"LDS.128", 16, "0", 32, 2.023},
                    SharedRow{"LDS", 4, "lane*8", 8, 2.038}, SharedRow{"LDS", 4, "lane*16", 8, 4.039},
                    SharedRow{"LDS", 4, "lane*32", 8, 8.036}, SharedRow{"LDS", 4, "lane*64", 8, 16.04},
                    SharedRow{"LDS", 4, "lane*128", 8, 32.03}, SharedRow{"LDS", 4, "lane*16", 1, 8.509},
                    SharedRow{"LDS", 4, "lane*32", 1, 16.52}, SharedRow{"LDS", 4, "lane*64", 1, 32.52},
                    SharedRow{"LDS", 4, "lane*128", 1, 64.52}, SharedRow{"STS", 4, "lane*4", 8, 1.025},
                    SharedRow{"STS.64", 8, "lane*8", 8, 2.029}, SharedRow{"STS.128", 16, "lane*16", 8, 4.031},
                    SharedRow{"STS", 4, "lane*8", 8, 2.014}, SharedRow{"STS", 4, "lane*16", 8, 3.995},
                    SharedRow{"STS", 4, "lane*32", 8, 7.958}, SharedRow{"STS", 4, "lane*128", 8, 31.73}));

// 24 sixteenths: every second access takes a wavefront more.
TEST(SharedThroughputOfVaryingAccesses, IsTheMeanOfTheirWavefronts) {
  std::string body;
  for (int i = 0; i < 64; ++i) body += fmt::format("[B------:R-:W-:-:S01] LDS R{}, [R2] ;\n", 8 + 4 * (i % 8));
  Result<kernels::Program> program =
      kernels::parse_assembly(loop(8, ".access R2 shared 4 lane*4\n", body), "varying.nsass");
  ASSERT_TRUE(program) << to_string(program.errors());
  for (kernels::AccessPattern& each : program->patterns) each.mean_wavefronts = 24;
  const arch::SmSpec& sm = sm_of("h200-sxm-141gb");
  SmWork work;
  work.iterations = 64;
  const SmResult result = run_sm(decode(*program, sm, {}, {}), sm, {}, {}, work);
  const double accesses = 64.0 * 8 * 64;
  EXPECT_NEAR(result.counters.shared_wavefronts / accesses, 1.5, 0.005);  // EXIT leaves the last in the queue
  EXPECT_NEAR(result.cycles / accesses, 1.5, 0.05);
}

// --- barriers ---------------------------------------------------------------------------------------------------

struct BarrierRow {
  int warps;
  double measured;
};

class Barrier : public testing::TestWithParam<BarrierRow> {};

TEST_P(Barrier, BackToBackCostsTheMeasuredCycles) {
  std::string body;
  for (int i = 0; i < 32; ++i) body += "[B------:R-:W-:-:S01] BAR.SYNC.DEFER_BLOCKING 0x0 ;\n";
  const double cycles = cycles_per_iteration({.text = loop(GetParam().warps, "", body)}) / 32;
  EXPECT_NEAR(cycles, GetParam().measured, std::max(1.0, 0.04 * GetParam().measured));
}

INSTANTIATE_TEST_SUITE_P(H200, Barrier,
                         testing::Values(BarrierRow{1, 14.29}, BarrierRow{2, 16.29}, BarrierRow{4, 20.29},
                                         BarrierRow{6, 24.31}, BarrierRow{8, 28.30}, BarrierRow{12, 36.33},
                                         BarrierRow{16, 44.33}, BarrierRow{24, 60.34}, BarrierRow{32, 76.33}));

// Beside LDS that keep the front busy, where these take two cycles each for their addresses: barriers bring none.
TEST(BarrierBesideLds, CostsNothingWhereAddressesTakeTwoCycles) {
  const auto cycles = [](const std::string& gpu, bool with_barriers) {
    std::string body;
    for (int i = 0; i < 64; ++i) {
      body += fmt::format("[B------:R-:W-:-:S01] LDS R{}, [R2] ;\n", 8 + i % 32);
      if (with_barriers && i % 16 == 0) body += "[B------:R-:W-:-:S01] BAR.SYNC.DEFER_BLOCKING 0x0 ;\n";
    }
    return cycles_per_iteration({.text = loop(2, ".access R2 shared 4 lane*4\n", body), .resident = 8, .gpu = gpu});
  };
  EXPECT_LT(cycles("rtx4070", true), 1.03 * cycles("rtx4070", false));
  EXPECT_GT(cycles("h200-sxm-141gb", true), 1.06 * cycles("h200-sxm-141gb", false));
}

// --- pipes of the whole SM: sub-cores that share one get a quarter each -----------------------------------------

double cycles_of_64(const arch::SmSpec& sm, const std::string& instruction) {
  std::string body;
  for (int i = 0; i < 64; ++i) body += fmt::format("[B------:R-:W-:-:S01] {} ;\n", instruction);
  const Result<kernels::Program> program = kernels::parse_assembly(loop(4, "", body), "shared.nsass");
  EXPECT_TRUE(program) << to_string(program.errors());
  SmWork few, many;
  few.iterations = 8, many.iterations = 24;
  const DecodedProgram decoded = decode(*program, sm);
  return (run_sm(decoded, sm, {}, {}, many).cycles - run_sm(decoded, sm, {}, {}, few).cycles) / 16;
}

struct Pipe {
  const char* instruction;
  arch::PipeSpec arch::PipesSpec::*pipe;
};

class SharedPipe : public testing::TestWithParam<Pipe> {};

TEST_P(SharedPipe, ServesOneSubCoreAfterTheOther) {
  arch::SmSpec sm = sm_of("h200-sxm-141gb");
  const double alone = cycles_of_64(sm, GetParam().instruction);
  (sm.pipes.*GetParam().pipe).shared = true;
  EXPECT_NEAR(cycles_of_64(sm, GetParam().instruction) / alone, 4, 0.5);
}

INSTANTIATE_TEST_SUITE_P(H200, SharedPipe,
                         testing::Values(Pipe{"FFMA R0, R4, R5, R4", &arch::PipesSpec::fma},
                                         Pipe{"IMAD R0, R4, R5, R4", &arch::PipesSpec::fma_heavy},
                                         Pipe{"IADD3 R0, R4, R5, R4", &arch::PipesSpec::alu},
                                         Pipe{"HFMA2 R0, R4, R5, R4", &arch::PipesSpec::half},
                                         Pipe{"MUFU.EX2 R0, R4", &arch::PipesSpec::mufu},
                                         Pipe{"DFMA R0, R4, R6, R4", &arch::PipesSpec::fp64},
                                         Pipe{"UIADD3 UR4, UR5, UR6, URZ", &arch::PipesSpec::uniform}));

}  // namespace
}  // namespace noteg::sm
