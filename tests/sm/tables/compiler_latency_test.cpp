// NAK80 (latencies.yaml, compiler_scheduling_latencies): distance that a compiler keeps between a fixed-latency
// producer and its consumer; here what our pass writes, read off the stall counts of two-instruction programs. The
// latencies of a generation shift the rows that involve them: HFMA2 on GH100 takes 8 (H200M), HADD2 on GA102 5
// (MICRO25).
#include <fmt/format.h>

#include "kernels/assembly/assembly.hpp"
#include "kernels/passes/passes.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

double stall_of_first(const std::string& text, const std::string& gpu) {
  const Result<kernels::Program> parsed = kernels::parse_assembly(text, "pair.nsass");
  EXPECT_TRUE(parsed) << to_string(parsed.errors());
  if (!parsed) return 0;
  kernels::Program program = *parsed;
  kernels::assign_control_bits(program, sm::latency_model(sm_of(gpu)));
  return program.code.front().control.stall;
}

struct Pair {
  const char* name;
  const char* producer;
  const char* consumer;
  double cycles;
};

// Rows of the matrix raw_gpr, then of raw_predicate and raw_uniform_register.
constexpr Pair everywhere[] = {
    {"ALU to ALU", "IADD3 R4, R5, R6, R7", "LOP3.LUT R8, R4, R5, R6, 0x96, !PT", 4},
    {"MOV to MOV", "MOV R4, R5", "MOV R8, R4", 4},
    {"ALU to FMA", "IADD3 R4, R5, R6, R7", "FFMA R8, R4, R5, R6", 5},
    {"ALU to FP16", "IADD3 R4, R5, R6, R7", "HADD2 R8, R4, R5", 5},
    {"ALU to FP64", "IADD3 R4, R5, R6, R7", "DFMA R8, R4, R10, R12", 6},
    {"ALU to MUFU", "IADD3 R4, R5, R6, R7", "MUFU.EX2 R8, R4", 4},
    {"MOV to LDG address", "MOV R4, R5", "LDG.E R8, [R4]", 5},
    {"ALU to STS data", "IADD3 R4, R5, R6, R7", "STS [R2], R4", 5},
    {"FMA to ALU", "FFMA R4, R5, R6, R7", "IADD3 R8, R4, R5, R6", 5},
    {"FMA to FMA", "FFMA R4, R5, R6, R7", "FFMA R8, R4, R5, R6", 4},
    {"FMA to IMAD", "FFMA R4, R5, R6, R7", "IMAD R8, R4, R5, R6", 4},
    {"FMA to FP16", "FFMA R4, R5, R6, R7", "HADD2 R8, R4, R5", 5},
    {"FMA to FP64", "FFMA R4, R5, R6, R7", "DFMA R8, R4, R10, R12", 6},
    {"FMA to MUFU", "FFMA R4, R5, R6, R7", "MUFU.RSQ R8, R4", 4},
    {"FMA to STG data", "FFMA R4, R5, R6, R7", "STG.E [R2], R4", 5},
    {"predicate to ALU", "ISETP.LT.AND P0, PT, R4, R5, PT", "SEL R8, R4, R5, P0", 4},
    {"predicate to guard", "ISETP.LT.AND P0, PT, R4, R5, PT", "@P0 FFMA R8, R4, R5, R6", 13},
    {"predicate to guarded load", "ISETP.LT.AND P0, PT, R4, R5, PT", "@P0 LDG.E R8, [R4]", 13},
    {"uniform to uniform", "UIADD3 UR4, UR5, UR6, UR7", "UIADD3 UR8, UR4, UR5, UR6", 4},
    {"uniform to vector", "UIADD3 UR4, UR5, UR6, UR7", "IADD3 R8, R4, UR4, R6", 6},
    {"uniform to memory", "UIADD3 UR4, UR5, UR6, UR7", "LDG.E R8, [UR4]", 9},
};

MeasuredRow row(const Pair& pair, const char* gpu, const char* generation, double cycles, const char* source) {
  const std::string text = ins(pair.producer) + ins(pair.consumer);
  const std::string on = gpu;
  return {fmt::format("compiler: {} on {}", pair.name, generation), cycles, source,
          [=] { return stall_of_first(text, on); }, Allowed::only_3_percent};
}

}  // namespace

std::vector<MeasuredRow> compiler_latency_rows() {
  constexpr std::pair<const char*, const char*> generations[] = {
      {ga100, "sm_80"}, {ga102, "sm_86"}, {ada, "sm_89"}, {gh100, "sm_90"}};
  std::vector<MeasuredRow> rows;
  for (const auto& [gpu, generation] : generations) {
    for (const Pair& pair : everywhere) rows.push_back(row(pair, gpu, generation, pair.cycles, "NAK80"));
  }
  constexpr Pair half{"FP16 to FP16", "HADD2 R4, R5, R6", "HADD2 R8, R4, R5", 4};
  rows.push_back(row(half, ga100, "sm_80", 4, "NAK80"));
  rows.push_back(row(half, ga102, "sm_86", 5, "MICRO25: HADD2 5"));
  rows.push_back(row(half, ada, "sm_89", 4, "NAK80, UB4090 4.20"));
  rows.push_back(row(half, gh100, "sm_90", 8, "H200M: 8.05"));
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Compiler, HardwareTable, testing::ValuesIn(compiler_latency_rows()), test_name);

// HADD2 (5 cycles) followed by FFMA (4) to the same bank: both results fall due together; the result queue and the
// bypass keep both consumers on time.
TEST(ResultQueue, ResultsThatFallDueTogetherDelayNobody) {
  const std::string text = ins("HADD2 R8, R2, R3") + ins("B------:R-:W-:-:S04", "FFMA R10, R4, R5, R6") +
                           ins("FFMA R12, R10, R5, R6") + ins("LOP3.LUT R14, R8, R3, RZ, 0x3c, !PT");
  EXPECT_EQ(cycles_between(text, 1, 2, ga102), 4);
  EXPECT_EQ(cycles_between(text, 0, 3, ga102), 6);
}

}  // namespace noteg::sm::tables
