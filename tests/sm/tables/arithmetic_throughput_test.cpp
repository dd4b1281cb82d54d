// Our H200 throughputs of arithmetic against warps and independent chains per warp (tests/data/h200_micro.csv, H200M):
// thread operations per clock of one SM, one CTA.
#include <fmt/format.h>

#include <map>

#include "kernels/assembly/assembly.hpp"
#include "kernels/passes/passes.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_csv.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

// Links of a chain on register {0}, which is even; operands are chosen so that read ports do not limit, as a compiler
// does. The second link, where there is one, alternates with the first.
const std::map<std::string, std::vector<std::string>>& links() {
  static const std::map<std::string, std::vector<std::string>> known{
      {"ffma", {"FFMA R{0}, R{0}, 1.0, R3"}},
      {"fadd", {"FADD R{0}, R{0}, R3"}},
      {"fmul", {"FMUL R{0}, R{0}, R3"}},
      {"imad", {"IMAD R{0}, R{0}, 0x3, R3"}},
      {"iadd_xor", {"IMAD.IADD R{0}, R{0}, 0x1, R3", "LOP3.LUT R{0}, R{0}, R3, RZ, 0x3c, !PT"}},
      {"lop3", {"LOP3.LUT R{0}, R{0}, 0x55, R3, 0x96, !PT"}},
      {"shf", {"SHF.L.W.U32.HI R{0}, R{0}, 0x1, R{0}"}},
      {"hfma2", {"HFMA2 R{0}, R{0}, 1.0, R3"}},
      {"ex2", {"MUFU.EX2 R{0}, R{0}"}},
      {"rsqrt", {"MUFU.RSQ R{0}, R{0}"}},
      {"dfma", {"DFMA R{0}, R{0}, 2.0, R4"}},
      {"dadd", {"DADD R{0}, R{0}, R2"}},
      {"shfl", {"SHFL.BFLY R{0}, R{0}, 0x1, 0x1f"}},
      {"f2i", {"F2I.TRUNC.NTZ R{0}, R{0}", "I2FP.F32.S32 R{0}, R{0}"}},
      {"ffma_iadd", {"FFMA R{0}, R{0}, 1.0, R3", "IADD3 R{0}, R{0}, R3, RZ"}},
      {"ffma_imad", {"FFMA R{0}, R{0}, 1.0, R3", "IMAD R{0}, R{0}, 0x3, R3"}},
      {"isetp_sel", {"ISETP.LT.AND P0, PT, R{0}, R3, PT", "SEL R{0}, R{0}, R3, P0"}},
      {"mov_popc", {"POPC R{0}, R{0}"}},
  };
  return known;
}

double rate(const std::string& op, int warps, int ilp) {
  const std::vector<std::string>& chain = links().at(op);
  constexpr int in_loop = 128;
  std::string text = fmt::format(".warps {}\nloop:\n", warps);
  for (int i = 0; i < in_loop; ++i) {
    const int reg = 8 + 2 * (i % ilp);
    text += ins(fmt::format(fmt::runtime(chain[static_cast<std::size_t>(i / ilp) % chain.size()]), reg));
  }
  text += ins("BRA loop");
  const Result<kernels::Program> parsed = kernels::parse_assembly(text, "rate.nsass");
  EXPECT_TRUE(parsed) << to_string(parsed.errors());
  if (!parsed) return 0;
  kernels::Program program = *parsed;
  const arch::SmSpec& sm = sm_of(gh100);
  kernels::assign_control_bits(program, sm::latency_model(sm));
  const auto cycles = [&](std::int64_t iterations) {
    SmWork work;
    work.iterations = iterations;
    return run_sm(decode(program, sm), sm, {}, {}, work).cycles;
  };
  constexpr std::int64_t few = 4, many = 12;
  const double per_iteration = (cycles(many) - cycles(few)) / static_cast<double>(many - few);
  return 32.0 * in_loop * warps / per_iteration;
}

}  // namespace

std::vector<MeasuredRow> arithmetic_throughput_rows() {
  std::vector<MeasuredRow> rows;
  for (const MicroBenchmark& b : micro_benchmarks()) {
    if (b.name != "throughput") continue;
    const std::string op = b.text("op");
    const int warps = b.number("warps_per_sm"), ilp = b.number("ilp");
    // As cycles between the instructions of one warp.
    rows.push_back({b.name + ": " + b.params, 32.0 * warps / b.value, "H200M",
                    [=] { return 32.0 * warps / rate(op, warps, ilp); }});
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Throughput, HardwareTable, testing::ValuesIn(arithmetic_throughput_rows()), test_name);

}  // namespace noteg::sm::tables
