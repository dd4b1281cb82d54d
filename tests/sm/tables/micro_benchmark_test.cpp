// Our H200 micro-benchmarks of latencies, shared memory, L1 and barriers (tests/data/h200_micro.csv, H200M), one row
// each. The benchmarks hold 8 accesses in a loop of 100 iterations; so do the kernels here, started cold like them.
#include <fmt/format.h>

#include <map>

#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_csv.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

// Links of the dependent chains; two where the benchmark alternates two instructions. Loads and other instructions of
// variable latency carry their counters, the rest the stall counts of the compiler (5 between pipes, else 4).
const std::map<std::string, std::vector<std::string>>& chain_links() {
  const auto fixed = [](int stall, const char* text) {
    return ins(fmt::format("B------:R-:W-:-:S{:02}", stall), text);
  };
  const auto variable = [](const char* text) { return ins("B0-----:R-:W0:-:S02", text); };
  static const std::map<std::string, std::vector<std::string>> links{
      {"ffma", {fixed(4, "FFMA R4, R4, R5, R6")}},
      {"fadd", {fixed(4, "FADD R4, R4, R5")}},
      {"fmul", {fixed(4, "FMUL R4, R4, R5")}},
      {"imad", {fixed(4, "IMAD R4, R4, R5, R6")}},
      {"iadd_xor", {fixed(5, "IMAD.IADD R4, R4, 0x1, R5"), fixed(5, "LOP3.LUT R4, R4, R5, RZ, 0x3c, !PT")}},
      {"lop3", {fixed(4, "LOP3.LUT R4, R4, R5, R6, 0x96, !PT")}},
      {"shf", {fixed(4, "SHF.L.W.U32.HI R4, R4, 0x1, R4")}},
      {"hfma2", {fixed(8, "HFMA2 R4, R4, R5, R6")}},
      {"ex2", {variable("MUFU.EX2 R4, R4")}},
      {"rsqrt", {variable("MUFU.RSQ R4, R4")}},
      {"dfma", {variable("DFMA R4, R4, R6, R8")}},
      {"dadd", {variable("DADD R4, R4, R6")}},
      {"shfl", {variable("SHFL.BFLY R4, R4, 0x1, 0x1f")}},
      {"f2i", {variable("F2I.TRUNC.NTZ R4, R4"), ins("B0-----:R-:W-:-:S05", "I2FP.F32.S32 R4, R4")}},
      {"ffma_iadd", {fixed(5, "FFMA R4, R4, R5, R6"), fixed(5, "IADD3 R4, R4, R5, RZ")}},
      {"ffma_imad", {fixed(4, "FFMA R4, R4, R5, R6"), fixed(4, "IMAD R4, R4, R5, R6")}},
      {"isetp_sel", {fixed(4, "ISETP.LT.AND P0, PT, R4, R5, PT"), fixed(4, "SEL R4, R5, R6, P0")}},
      {"mov_popc", {variable("POPC R4, R4")}},
      {"lds32", {variable("LDS R4, [R4]")}},
      {"lds64", {variable("LDS.64 R4, [R4]")}},
      {"lds128", {variable("LDS.128 R4, [R4]")}},
      {"ldmatrix_x1", {variable("LDSM.16.M88 R4, [R4]")}},
      {"ldmatrix_x2", {variable("LDSM.16.M88.2 R4, [R4]")}},
      {"ldmatrix_x4", {variable("LDSM.16.M88.4 R4, [R4]")}},
  };
  return links;
}

double chain(const std::string& op) {
  const std::vector<std::string>& links = chain_links().at(op);
  std::string body;
  for (const std::string& link : links) body += link;
  return cycles_per_copy("", body, 32, gh100) / static_cast<double>(links.size());
}

// The i-th access of a loop of so many, four cycles apart in each warp as nvcc leaves them; a store of what `stored`
// holds.
std::string spaced(const std::string& mnemonic, int i, int of, const std::string& counters, const std::string& stored) {
  const std::string control = fmt::format("{}:-:S{:02}", counters, i + 1 < of ? 4 : 1);
  return ins(control, mnemonic.starts_with("ST") ? fmt::format("{} [R2], {}", mnemonic, stored)
                                                 : fmt::format("{} R{}, [R2]", mnemonic, 8 + 4 * i));
}

// 100 iterations more of 8 accesses, since EXIT leaves the last in the queue; cycles per warp instruction of the SM.
double access_rate(const std::string& mnemonic, const std::string& access, int warps) {
  std::string body = fmt::format(".warps {}\n{}loop:\n", warps, access);
  const char* counters = mnemonic.starts_with("ST") ? "B------:R-:W-" : "B------:R-:W0";
  for (int i = 0; i < 8; ++i) body += spaced(mnemonic, i, 8, counters, fmt::format("R{}", 8 + 4 * i));
  body += ins("BRA loop");
  const MicroKernel kernel{.text = body, .gpu = gh100, .memory_port = l1_hits(gh100)};
  return (run_micro(kernel, 200).cycles - run_micro(kernel, 100).cycles) / (800.0 * warps);
}

std::string width_suffix(int bits) { return bits == 32 ? "" : fmt::format(".{}", bits); }

double shared_rate(const MicroBenchmark& b, const char* mnemonic) {
  const int bits = b.number("width");
  const std::string lanes = b.has("broadcast") ? "0" : fmt::format("lane*{}", bits / 8);
  return access_rate(mnemonic + width_suffix(bits), fmt::format(".access R2 shared {} {}\n", bits / 8, lanes),
                     b.number("warps"));
}

double conflict_rate(const MicroBenchmark& b, const char* mnemonic) {
  return access_rate(mnemonic, fmt::format(".access R2 shared 4 lane*{}\n", 4 * b.number("ways")), b.number("warps"));
}

double conflict_latency(int ways) {
  return cycles_per_copy(fmt::format(".access R4 shared 4 lane*{}\n", 4 * ways),
                         ins("B0-----:R-:W0:-:S02", "LDS R4, [R4]"), 32, gh100);
}

double matrix_rate(const MicroBenchmark& b) {
  const int matrices = b.number("x");
  return access_rate(matrices == 1 ? "LDSM.16.M88" : fmt::format("LDSM.16.M88.{}", matrices), "", b.number("warps"));
}

double l1_rate(const MicroBenchmark& b) {
  return access_rate("LDG.E" + width_suffix(b.number("width")), "", b.number("warps"));
}

// As nvcc leaves them: the first access waits for the last one before, the branch for the first data.
double spaced_rate(const MicroBenchmark& b) {
  const std::string mnemonic = b.text("access");
  const int bytes = mnemonic.ends_with("128") ? 16 : mnemonic.ends_with("64") ? 8 : 4;
  std::string body =
      fmt::format(".warps {}\n.access R2 shared {} {}\nloop:\n", b.number("warps"), bytes, b.text("lanes"));
  const bool stores = mnemonic.starts_with("ST");
  for (int i = 0; i < 16; ++i) {
    const std::string writes = stores ? "-" : std::to_string(i < 5 ? i + 1 : 0);
    body += spaced(mnemonic, i, 16, fmt::format("B{}-----:R0:W{}", i == 0 ? "0" : "-", writes), "RZ");
  }
  body += ins(stores ? "B------:R-:W-:-:S05" : "B-12345:R-:W-:-:S05", "BRA loop");
  return cycles_per_iteration({.text = body, .gpu = gh100, .sub_cores = b.number("sub_cores")});
}

double barrier(int warps) {
  return cycles_per_copy(fmt::format(".warps {}\n", warps), ins("BAR.SYNC.DEFER_BLOCKING 0x0"), 32, gh100);
}

// End of a CTA to the first issue of its successor.
double turnaround(int warps, int resident) {
  std::string text = fmt::format(".warps {}\n", warps) + repeated(ins("B------:R-:W-:Y:S15", "NOP"), 40);
  std::vector<IssueRecord> log;
  MicroKernel kernel{.text = text, .resident = resident, .gpu = gh100};
  kernel.ctas = 2 * resident;
  kernel.cta_launch_latency = sm_of(gh100).cta_launch.value;
  kernel.issues = &log;
  run_micro(kernel, 1);
  // The first CTA slot holds the first warps; the longest pause between their issues is the turnaround.
  std::uint64_t last = 0, longest = 0;
  for (const IssueRecord& issue : log) {
    if (issue.warp >= warps) continue;
    longest = std::max(longest, issue.cycle - last);
    last = issue.cycle;
  }
  return static_cast<double>(longest);
}

using Modelled = double (*)(const MicroBenchmark&);

const std::map<std::string, Modelled>& benchmarks() {
  using M = const MicroBenchmark&;
  static const std::map<std::string, Modelled> known{
      {"latency", [](M b) { return chain(b.text("op")); }},
      {"lds32_conflict_latency", [](M b) { return conflict_latency(b.number("ways")); }},
      {"lds_throughput", [](M b) { return shared_rate(b, "LDS"); }},
      {"lds32_conflict_throughput", [](M b) { return conflict_rate(b, "LDS"); }},
      {"shared_rate", [](M b) { return spaced_rate(b); }},
      {"sts_throughput", [](M b) { return shared_rate(b, "STS"); }},
      {"sts32_conflict_throughput", [](M b) { return conflict_rate(b, "STS"); }},
      {"ldmatrix_throughput", [](M b) { return matrix_rate(b); }},
      {"ldg_l1_throughput", [](M b) { return l1_rate(b); }},
      {"syncthreads", [](M b) { return barrier(b.number("warps")); }},
      {"ldg_latency", [](M) { return cycles_per_copy("", ins("B0-----:R-:W0:-:S02", "LDG.E R4, [R4]"), 32, gh100); }},
      {"cta_turnaround", [](M b) { return turnaround(b.number("threads") / 32, b.number("ctas_per_sm")); }},
  };
  return known;
}

}  // namespace

std::vector<MeasuredRow> micro_benchmark_rows() {
  std::vector<MeasuredRow> rows;
  for (const MicroBenchmark& b : micro_benchmarks()) {
    const auto found = benchmarks().find(b.name);
    if (found == benchmarks().end()) continue;
    rows.push_back({b.name + ": " + b.params, b.value, "H200M", [b, run = found->second] { return run(b); },
                    b.name == "shared_rate" ? Allowed::five_percent : Allowed::one_cycle_or_3_percent});
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(H200, HardwareTable, testing::ValuesIn(micro_benchmark_rows()), test_name);

}  // namespace noteg::sm::tables
