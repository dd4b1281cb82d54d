// latencies.yaml: chains of dependent instructions per generation, run with the control bits of our compiler pass.
#include <fmt/format.h>

#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

struct Chain {
  const char* gpu;
  const char* name;
  const char* body;  // one link, lines separated by ';'
  double cycles;
  const char* source;
};

constexpr const char* ffma = "FFMA R4, R4, R5, R6";
constexpr const char* fadd = "FADD R4, R4, R5";
constexpr const char* fmul = "FMUL R4, R4, R5";
constexpr const char* iadd = "IADD3 R4, R4, R5, R6";
constexpr const char* imad = "IMAD R4, R4, R5, R6";
constexpr const char* hadd = "HADD2 R4, R4, R5";
constexpr const char* dfma = "DFMA R4, R4, R6, R8";
constexpr const char* rsqrt = "MUFU.RSQ R4, R4";
constexpr const char* lds = "LDS R4, [R4]";
constexpr const char* ldg = "LDG.E R4, [R4]";
constexpr const char* chase = "IMAD.WIDE R4, R6, 0x4, R8;LDG.E R6, [R4]";

constexpr Chain chains[] = {
    {ga100, "FFMA sm_80", ffma, 4, "NAK80; ABD22 mad.rn.f32"},
    {ga100, "FADD sm_80", fadd, 4, "NAK80"},
    {ga100, "IADD3 sm_80", iadd, 4, "ABD22 add.u32"},
    {ga100, "IMAD sm_80", imad, 4, "NAK80"},
    {ga100, "HADD2 sm_80", hadd, 4, "NAK80"},
    {ga100, "DFMA sm_80", dfma, 6, "NAK80: FP64 to FP64"},
    {ga100, "LDS sm_80", lds, 23, "ABD22"},
    {ga100, "LDG L1 sm_80", ldg, 32.7, "HPMLL; ABD22 33"},
    {ga102, "FFMA sm_86", ffma, 4, "MICRO25"},
    {ga102, "FADD sm_86", fadd, 4, "MICRO25"},
    {ga102, "FMUL sm_86", fmul, 4, "MICRO25"},
    {ga102, "IADD3 sm_86", iadd, 4, "MICRO25"},
    {ga102, "HADD2 sm_86", hadd, 5, "MICRO25"},
    {ga102, "MUFU.RSQ sm_86", rsqrt, 21, "ACCEL, tuned on hardware"},
    {ga102, "DFMA sm_86", dfma, 64, "ACCEL, tuned on hardware"},
    {ada, "FFMA sm_89", ffma, 4.08, "UB4090"},
    {ada, "IADD3 sm_89", iadd, 4.17, "UB4090: 4.17 to 4.22"},
    {ada, "IMAD sm_89", imad, 4.22, "UB4090: 4.17 to 4.22"},
    {ada, "HADD2 sm_89", hadd, 4.20, "UB4090"},
    {ada, "DFMA sm_89", dfma, 54.04, "UB4090"},
    {ada, "MUFU.RSQ sm_89", rsqrt, 23.15, "UB4090"},
    {ada, "random chase in L1 sm_89", chase, 36.2, "HPMLL: 36.0 to 36.4, 32-bit offsets; GPUB L40 36.0"},
    {gh100, "FFMA sm_90", ffma, 4.07, "H100R"},
    {gh100, "IADD3 sm_90", iadd, 4.12, "H100R"},
    {gh100, "DFMA sm_90", dfma, 8.04, "H100R"},
    {gh100, "HADD2 sm_90", hadd, 8.52, "H100R"},
    {gh100, "LDG L1 sm_90", ldg, 32.0, "LUO25 H800"},
};

std::string lines(std::string_view body) {
  std::string out;
  while (!body.empty()) {
    const auto end = body.find(';');
    out += ins(body.substr(0, end));
    body = end == std::string_view::npos ? std::string_view{} : body.substr(end + 1);
  }
  return out;
}

}  // namespace

std::vector<MeasuredRow> generation_latency_rows() {
  std::vector<MeasuredRow> rows;
  for (const Chain& chain : chains) {
    const std::string body = lines(chain.body), gpu = chain.gpu;
    rows.push_back({fmt::format("latency: {}", chain.name), chain.cycles, chain.source,
                    [=] { return cycles_per_compiled_copy(body, 32, gpu); }});
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Latency, HardwareTable, testing::ValuesIn(generation_latency_rows()), test_name);

}  // namespace noteg::sm::tables
