// MICRO25, section 5: read-port conflicts of FFMA and FMUL and the four examples of the register file cache (GA102).
#include <fmt/format.h>

#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

// The micro-benchmark: clock, NOP, two FFMA back to back, NOP, clock.
double two_ffma(int x, int y) {
  return cycles_between(ins("CS2R.32 R30, SR_CLOCKLO") + ins("NOP") + ins("FFMA R11, R10, R12, R14") +
                            ins(fmt::format("FFMA R13, R16, R{}, R{}", x, y)) + ins("NOP") +
                            ins("CS2R.32 R31, SR_CLOCKLO"),
                        0, 5, ga102);
}

double steady(const std::string& instruction) { return cycles_per_copy("", ins(instruction), 64, ga102); }

struct CacheExample {
  const char* name;
  const char* first;
  const char* second;
  bool third_hits;
};

// The third instruction is always the first one without its reuse flag.
constexpr CacheExample examples[] = {
    {"KeptNoLongerThanTheNextReader", "IADD3 R1, R2.reuse, R3, R4", "FFMA R5, R2, R7, R8", false},
    {"KeptAsLongAsReadersAsk", "IADD3 R1, R2.reuse, R3, R4", "FFMA R5, R2.reuse, R7, R8", true},
    {"AnotherPositionDoesNotDisturb", "IADD3 R1, R2.reuse, R3, R4", "FFMA R5, R7, R2, R8", true},
    {"AnotherRegisterOfTheBankAtThePositionEvicts", "IADD3 R1, R2.reuse, R3, R4", "FFMA R5, R4, R7, R8", false},
};

class RegisterFileCacheExample : public testing::TestWithParam<CacheExample> {};

TEST_P(RegisterFileCacheExample, HitsAsOnHardware) {
  const CacheExample& e = GetParam();
  const auto hits = [&](const std::string& text) {
    return run_micro({.text = text, .gpu = ga102}, 1).counters.rf_hits;
  };
  const std::string two = ins(e.first) + ins("B------:R-:W-:-:S02", e.second);
  EXPECT_EQ(hits(two + ins("IADD3 R10, R2, R12, R13")) - hits(two), e.third_hits ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(Micro25, RegisterFileCacheExample, testing::ValuesIn(examples),
                         [](const auto& example) { return std::string(example.param.name); });

}  // namespace

std::vector<MeasuredRow> register_port_rows() {
  const std::string source = "MICRO25, section 5";
  const auto row = [&](const std::string& name, double measured, std::function<double()> modelled) {
    return MeasuredRow{"register ports: " + name, measured, source, std::move(modelled), Allowed::only_3_percent};
  };
  return {row("two FFMA, both sources odd", 5, [] { return two_ffma(17, 19); }),
          row("two FFMA, first source even", 6, [] { return two_ffma(18, 19); }),
          row("two FFMA, second source even", 6, [] { return two_ffma(19, 18); }),
          row("two FFMA, both sources even", 7, [] { return two_ffma(18, 20); }),
          row("FMUL, sources in two banks", 1, [] { return steady("FMUL R5, R2, R3"); }),
          row("FMUL, sources in one bank: one bubble", 2, [] { return steady("FMUL R5, R2, R4"); }),
          row("FFMA, sources in two banks", 2, [] { return steady("FFMA R5, R2, R3, R4"); }),
          row("FFMA, sources in one bank: two bubbles", 3, [] { return steady("FFMA R5, R2, R4, R6"); })};
}

INSTANTIATE_TEST_SUITE_P(RegisterPorts, HardwareTable, testing::ValuesIn(register_port_rows()), test_name);

}  // namespace noteg::sm::tables
