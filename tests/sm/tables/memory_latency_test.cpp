// MICRO25, table 2 (GA102, L1 and shared-memory hits): cycles from the issue of a memory instruction until an
// instruction that overwrites its source (WAR) or needs its destination (RAW) may issue.
#include <fmt/format.h>

#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

struct Latency {
  const char* instruction;
  double war;
  double raw;  // 0: it has no destination
};

constexpr Latency table[] = {
    {"LDG.E R8, [UR4]", 9, 29},        {"LDG.E.64 R8, [UR4]", 9, 31},      {"LDG.E.128 R8, [UR4]", 9, 35},
    {"LDG.E R8, [R2]", 11, 32},        {"LDG.E.64 R8, [R2]", 11, 34},      {"LDG.E.128 R8, [R2]", 11, 38},
    {"STG.E [UR4], R8", 10, 0},        {"STG.E.64 [UR4], R8", 12, 0},      {"STG.E.128 [UR4], R8", 16, 0},
    {"STG.E [R2], R8", 14, 0},         {"STG.E.64 [R2], R8", 16, 0},       {"STG.E.128 [R2], R8", 20, 0},
    {"LDS R8, [UR4]", 9, 23},          {"LDS.64 R8, [UR4]", 9, 23},        {"LDS.128 R8, [UR4]", 9, 25},
    {"LDS R8, [R2]", 9, 24},           {"LDS.64 R8, [R2]", 9, 24},         {"LDS.128 R8, [R2]", 9, 26},
    {"STS [UR4], R8", 10, 0},          {"STS.64 [UR4], R8", 12, 0},        {"STS.128 [UR4], R8", 16, 0},
    {"STS [R2], R8", 12, 0},           {"STS.64 [R2], R8", 14, 0},         {"STS.128 [R2], R8", 18, 0},
    {"LDC R8, c[0x0][0x160]", 10, 26}, {"LDC R8, c[0x0][R2]", 29, 29},     {"LDC.64 R8, c[0x0][R2]", 29, 29},
    {"LDGSTS.E [R4], [R2]", 13, 39},   {"LDGSTS.E.64 [R4], [R2]", 13, 39}, {"LDGSTS.E.128 [R4], [R2]", 13, 39},
};

double wait_cycles(const std::string& instruction, const char* control) {
  return cycles_between(ins(control, instruction) + ins("B0-----:R-:W-:-:S01", "NOP"), 0, 1, ga102);
}

}  // namespace

std::vector<MeasuredRow> memory_latency_rows() {
  std::vector<MeasuredRow> rows;
  for (const Latency& entry : table) {
    const std::string instruction = entry.instruction;
    rows.push_back({"memory latency: " + instruction + ", WAR", entry.war, "MICRO25, table 2",
                    [=] { return wait_cycles(instruction, "B------:R0:W-:-:S02"); }});
    if (entry.raw == 0) continue;
    rows.push_back({"memory latency: " + instruction + ", RAW", entry.raw, "MICRO25, table 2",
                    [=] { return wait_cycles(instruction, "B------:R-:W0:-:S02"); }});
  }
  // MICRO25-art: duration of memory barriers by scope.
  for (const auto& [scope, cycles] : {std::pair{"CTA", 53.0}, {"GPU", 186.0}, {"SYS", 2900.0}}) {
    const std::string instruction = fmt::format("MEMBAR.SC.{}", scope);
    rows.push_back({"memory latency: " + instruction, cycles, "MICRO25-art",
                    [=] { return wait_cycles(instruction, "B------:R-:W0:-:S02"); }});
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(MemoryLatency, HardwareTable, testing::ValuesIn(memory_latency_rows()), test_name);

}  // namespace noteg::sm::tables
